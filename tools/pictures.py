"""Whether committed pictures show what the archive gives: `python tools/pictures.py [--drawn | --write]`.

docs/pictures/papers has every figure of the papers' scale that an item of a paper names; three more are on pages. Each
picture keeps a digest of its archived data, options and published tables; another one means that it is stale.

--drawn also compares pictures with the figures that `make papers` and, with config/replay.yaml and config/forecast.yaml
after config/config.yaml, `snakemake --configfile` draw, in squares: another digit in a title differs by more than
`ALLOWED`, another processor's rounding does not. --write draws what differs anew, 1,600 pixels wide, in 256 colours.
"""

import sys
from hashlib import sha256

from PIL import Image, ImageChops, PngImagePlugin

import findings
from carryover.provenance.job_record import json_digest
from carryover.report.page import reproduction_items

SQUARE, ALLOWED = 8, 8  # pixels, and levels of 255, mean over a square
WIDTH = 1600  # pixels across
ON_PAGES = {
    "papers_atlas.png": ("paper", "atlas"),
    "replay.png": ("replay", "replay"),
    "forecast_gain.png": ("forecast", "forecast_gain"),
    "forecast_gain_networks.png": ("forecast", "forecast_gain_networks"),
}
SECTIONS = {"comparisons": "comparisons", "theory": "curves"}
"""{folder of results: section of the configuration} of what is not archived but computed."""


def expected():
    """{file in docs/pictures: (configuration that overlays the default one, figure)}."""
    config = findings.configured("config/config.yaml", "config/paper.yaml")
    items = (item for paper in config["papers"].values() for item in reproduction_items(paper, config, {}))
    return {f"papers/{name}.png": ("paper", name) for item in items for name in item["figures"]} | ON_PAGES


def digest(overlay, figure):
    """Of the options of a figure and of all that it shows, and of the archived files and tables behind that."""
    config = findings.configured("config/config.yaml", f"config/{overlay}.yaml")
    entry = config["figures"][figure]
    parts, data = {"figure": entry["options"]}, [*entry["data"].values()]
    for name in data:  # which grows
        folder, _, rest = name.partition("/")
        found = [findings.ROOT / file for file in (f"{config['archive']}/{name}.nc.xz", name)]
        if file := next((file for file in found if file.is_file()), None):
            parts[name] = sha256(file.read_bytes()).hexdigest()
        else:
            parts[name] = config[SECTIONS[folder]][rest]
            data += parts[name].get("data", {}).values()
    return json_digest(parts)


def opened(file):
    with Image.open(file) as image:
        image.load()
    return image


def scaled(figure, width=WIDTH):
    """A figure as it is committed."""
    image = opened(figure)
    size = width, round(image.height * width / image.width)
    resized = image.convert("RGB").resize(size, Image.Resampling.LANCZOS)
    # The most frequent colours would turn thin lines into those of a map; these cover all, each moved to its mean.
    return resized.quantize(256, method=Image.Quantize.MAXCOVERAGE, kmeans=4, dither=Image.Dither.NONE)


def alike(one, other):
    """Whether two pictures have one size, and differ nowhere by more than rounding."""
    if one.size != other.size:
        return False
    difference = ImageChops.difference(one.convert("RGB"), other.convert("RGB")).reduce(SQUARE)
    return max(high for _, high in difference.getextrema()) <= ALLOWED


def main(*words, pictures=findings.ROOT / "docs/pictures", results=findings.ROOT / "results"):
    """What is wrong, or was and is written anew, in words; 0 for nothing."""
    shown, wrong = expected(), []
    there = {file.relative_to(pictures).as_posix() for file in pictures.rglob("*.png")}
    wrong += [f"{name}: no item or page shows it" for name in sorted(there - shown.keys())]
    for name, (overlay, figure) in shown.items():
        committed = opened(pictures / name) if name in there else None
        now, drawn = digest(overlay, figure), results / overlay / f"figures/{figure}.png"
        stale = not committed or committed.info.get("archive") != now
        if words and not drawn.is_file():
            wrong.append(f"{name}: {drawn} is not drawn")
            continue
        picture = scaled(drawn) if words else committed
        if stale or not alike(committed, picture):
            wrong.append(f"{name}: is stale")
            if "--write" in words:
                kept = PngImagePlugin.PngInfo()
                kept.add_text("archive", now)
                picture.save(pictures / name, optimize=True, pnginfo=kept)
    return "\n".join(wrong) or 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
