"""Numbers of a page in words: times, sizes, counts and seeds."""


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


def seeds(numbers):
    """A sorted list of seeds: `seeds 0 to 5` where they are consecutive, else all of them."""
    if not numbers:
        return "none"
    if len(numbers) > 2 and numbers == list(range(numbers[0], numbers[-1] + 1)):
        return f"{numbers[0]} to {numbers[-1]}"
    return ", ".join(map(str, numbers))
