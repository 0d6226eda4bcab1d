"""The graph of rules as a drawing: which rule reads what another one made, with the number of jobs and their time."""

from carryover.report.words import count, duration

# Where each rule stands, in the order of the work: its column and its row.
PLACES = {
    "pretrain": (0, 1),
    "finetune": (1, 1),
    "measure": (2, 2),
    "collect": (3, 1),
    "unarchive": (3, 2),
    "curve": (3, 0),
    "compare": (4, 1),
    "figure": (5, 0),
    "check_claims": (5, 1),
    "table": (5, 2),
    "claims_table": (6, 1),
    "diagnose": (0, 0),
}
_COLUMN, _ROW, _WIDTH, _HEIGHT, _MARGIN = 152, 98, 108, 72, 6


def drawing(work, edges):
    """What graph.svg.j2 draws: sizes, {width, height, node}; paths of the arrows; corner and lines of each node.

    Args:
        work: {rule: jobs.Work}; rules of no known place are left out.
        edges: {(rule, rule that reads what it made)}.
    """
    known = {rule: place for rule, place in PLACES.items() if rule in work}
    columns, rows = (1 + max((place[i] for place in known.values()), default=0) for i in (0, 1))
    return {
        "width": columns * _COLUMN - (_COLUMN - _WIDTH) + 2 * _MARGIN,
        "height": rows * _ROW + 2 * _MARGIN,
        "node": (_WIDTH, _HEIGHT),
        "arrows": [_arrow(known[one], known[two]) for one, two in sorted(edges) if {one, two} <= known.keys()],
        "nodes": [
            (*_corner(place), (rule, count(work[rule].jobs, "job"), duration(work[rule].total)))
            for rule, place in known.items()
        ],
    }


def _corner(place):
    return _MARGIN + place[0] * _COLUMN, _MARGIN + place[1] * _ROW


def _arrow(one, other):
    """From the right side of a rule to the left side of another."""
    (x, y), (end, goal) = _corner(one), _corner(other)
    x, y, goal = x + _WIDTH, y + _HEIGHT // 2, goal + _HEIGHT // 2
    bend = (end - x) // 2
    return f"M{x} {y}C{x + bend} {y} {end - bend} {goal} {end} {goal}"
