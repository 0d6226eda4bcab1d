"""The graph of rules as a drawing: which rule reads what another one made, with the number of jobs and their time."""

from carryover.report.words import count, duration

# Where each rule stands, in the order of the work: its column and its row.
PLACES = {
    "pretrain": (0, 1),
    "finetune": (1, 1),
    "measure": (2, 2),
    "collect": (3, 1),
    "curve": (3, 0),
    "figure": (4, 0),
    "check_claims": (4, 1),
    "table": (4, 2),
    "claims_table": (5, 1),
    "diagnose": (0, 0),
}
_COLUMN, _ROW, _WIDTH, _HEIGHT, _MARGIN = 152, 98, 108, 72, 6


def svg(work, edges):
    """The drawing as an `<svg>` of selectable text in the page's own colour.

    Args: work, {rule: jobs.Work}; edges, {(rule, rule that reads what it made)}. Rules of no known place are left out.
    """
    known = {rule: place for rule, place in PLACES.items() if rule in work}
    columns, rows = (1 + max((place[i] for place in known.values()), default=0) for i in (0, 1))
    width, height = columns * _COLUMN - (_COLUMN - _WIDTH) + 2 * _MARGIN, rows * _ROW + 2 * _MARGIN
    arrows = "\n".join(_arrow(known[one], known[other]) for one, other in sorted(edges) if {one, other} <= known.keys())
    nodes = "\n".join(_node(rule, place, work[rule]) for rule, place in known.items())
    return (
        f'<svg viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" aria-label="Graph of rules; '
        'the table below has its numbers">\n<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
        'markerHeight="7" orient="auto"><path d="M0 0 8 4 0 8z" fill="currentColor"/></marker></defs>\n'
        f'<g fill="none" stroke="currentColor" stroke-width="1.4" marker-end="url(#tip)">\n{arrows}\n</g>\n'
        f"{nodes}\n</svg>"
    )


def _corner(place):
    return _MARGIN + place[0] * _COLUMN, _MARGIN + place[1] * _ROW


def _node(rule, place, done):
    x, y = _corner(place)
    middle = x + _WIDTH / 2
    lines = (rule, "bold", 15), (count(done.jobs, "job"), "normal", 13), (duration(done.total), "normal", 13)
    text = "".join(
        f'<tspan x="{middle:g}" y="{y + 22 + 20 * number}" font-weight="{weight}" font-size="{size}">{line}</tspan>'
        for number, (line, weight, size) in enumerate(lines)
    )
    return (
        f'<g class="rule"><rect x="{x}" y="{y}" width="{_WIDTH}" height="{_HEIGHT}" rx="8" fill="none" '
        f'stroke="currentColor"/><text text-anchor="middle" fill="currentColor">{text}</text></g>'
    )


def _arrow(one, other):
    """From the right side of a rule to the left side of another."""
    (x, y), (end, goal) = _corner(one), _corner(other)
    x, y, goal = x + _WIDTH, y + _HEIGHT // 2, goal + _HEIGHT // 2
    bend = (end - x) // 2
    return f'<path d="M{x} {y}C{x + bend} {y} {end - bend} {goal} {end} {goal}"/>'
