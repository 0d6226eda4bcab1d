"""Numbers and marks of a page: times, sizes, counts, and elements with their text escaped."""

import html


def escaped(text):
    """Text as HTML shows it, in elements and in attributes."""
    return html.escape(str(text))


def duration(seconds):
    """A time in the two units that say it best."""
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    minutes, seconds = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {seconds} s"
    hours, minutes = divmod(round(minutes + seconds / 60), 60)
    return f"{hours} h {minutes} min"


def memory(size):
    """A size in bytes, in MB or GB (10⁶, 10⁹ bytes)."""
    return f"{size / 1e6:.0f} MB" if size < 1e9 else f"{size / 1e9:.1f} GB"


def count(number, noun):
    """`1 job`, `2 jobs`."""
    return f"{number} {noun}" + ("" if number == 1 else "s")


def seeds(found):
    """A sorted list of seeds: `seeds 0 to 5` where they are consecutive, else all of them."""
    if not found:
        return "none"
    if len(found) > 2 and found == list(range(found[0], found[-1] + 1)):
        return f"{found[0]} to {found[-1]}"
    return ", ".join(map(str, found))


def table(heads, rows, label):
    """A table in a container that scrolls by itself; cells are texts, the first of each row its header."""
    head = "".join(f'<th scope="col">{escaped(cell)}</th>' for cell in heads)
    lines = [
        f'<tr><th scope="row">{escaped(first)}</th>' + "".join(f"<td>{escaped(cell)}</td>" for cell in rest) + "</tr>"
        for first, *rest in rows
    ]
    body = f"<table><thead><tr>{head}</tr></thead>\n<tbody>" + "\n".join(lines) + "</tbody></table>"
    return scrolling(body, label)


def scrolling(body, label, kind="wide"):
    """HTML that may be wider than the page, in a container that the keyboard can scroll."""
    return f'<div class="{kind}" tabindex="0" role="region" aria-label="{escaped(label)}">{body}</div>'


def described(pairs):
    """A list of (term, text or texts) as HTML."""
    items = "".join(
        f"<dt>{escaped(term)}</dt>" + "".join(f"<dd>{escaped(text)}</dd>" for text in _several(texts))
        for term, texts in pairs
    )
    return f"<dl>{items}</dl>"


def _several(texts):
    return [texts] if isinstance(texts, str) else texts or ["none"]


def folded(summary, body):
    """HTML that is shown when its summary is opened."""
    return f"<details><summary>{escaped(summary)}</summary>\n{body}\n</details>"
