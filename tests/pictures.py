"""Whether committed pictures show what is drawn today: `python tests/pictures.py [--write]`, after `make papers` and
`snakemake --configfile config/config.yaml config/replay.yaml`.

docs/pictures/papers has every figure of the papers' scale that an item of a paper names, 640 pixels wide; two that
pages show are 1200 wide. All have 256 colours. Pictures are compared in squares: another digit in a title differs by
more than `ALLOWED`, another processor's rounding does not. --write puts what is drawn in the place of what differs.
"""

import sys

from PIL import Image, ImageChops

import findings
from carryover.report.page import reproduction_items

SQUARE, ALLOWED = 8, 8  # pixels, and levels of 255, mean over a square
WIDE = {"papers_atlas.png": "paper/figures/atlas.png", "replay.png": "replay/figures/replay.png"}


def expected():
    """{file in docs/pictures: (file in results/, width)}."""
    config = findings.configured("config/config.yaml", "config/paper.yaml")
    items = (item for paper in config["papers"].values() for item in reproduction_items(paper, config, {}))
    narrow = {f"papers/{name}.png": (f"paper/figures/{name}.png", 640) for item in items for name in item["figures"]}
    return narrow | {name: (figure, 1200) for name, figure in WIDE.items()}


def scaled(figure, width):
    """A figure as it is committed."""
    with Image.open(figure) as image:
        size = width, round(image.height * width / image.width)
        return image.convert("RGB").resize(size, Image.Resampling.LANCZOS).quantize(256)


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
    for name, (figure, width) in shown.items():
        if not (results / figure).is_file():
            wrong.append(f"{name}: there is no results/{figure}")
            continue
        drawn = scaled(results / figure, width)
        if name not in there or not alike(Image.open(pictures / name), drawn):
            wrong.append(f"{name}: shows another state than results/{figure}")
            if "--write" in words:
                drawn.save(pictures / name, optimize=True)
    return "\n".join(wrong) or 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
