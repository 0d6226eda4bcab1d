"""`make bench`: every benchmark of this folder in one table of ratios; exit code 1 where one is below its bound.

`make bench-gpu`: those of `bench_gpu`, a card against the CPU beside it; exit code 2 where there is no card.
"""

import importlib
import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


def table(rows):
    """The rows as text: name, ratio, bound and detail under a line of headings."""
    cells = [("name", "ratio", "at least", "detail")]
    cells += [(row["name"], f"{row['ratio']:.1f}", f"{row['at_least']:g}", row["detail"]) for row in rows]
    widths = [max(len(line[column]) for line in cells) for column in range(3)]
    return "\n".join(
        f"{name:<{widths[0]}} | {ratio:>{widths[1]}} | {bound:>{widths[2]}} | {detail}"
        for name, ratio, bound, detail in cells
    )


def card(device):
    """The name of what is compared with the CPU; exit code 2 where there is nothing."""
    import torch

    if device == "cpu":
        return "the CPU in a card's place: ratios near 1 show that the benchmarks work, and nothing else"
    if not torch.cuda.is_available():
        print("bench-gpu: there is no CUDA GPU here that PyTorch can use, and nothing was measured.", file=sys.stderr)
        sys.exit(2)
    return torch.cuda.get_device_name()


def main(*device):
    """Without a device this folder's benchmarks, with "cuda" (or, to try them out, "cpu") those of `bench_gpu`."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # read once, when NumPy is imported
    folder = HERE.parent / "bench_gpu" if device else HERE
    sys.path[:0] = [str(HERE.parents[1] / "scripts"), str(HERE.parent), str(folder)]
    if device:
        print(card(*device))
    names = sorted(file.stem for file in folder.glob("[!_]*.py") if file.stem != Path(__file__).stem)
    rows = [row for name in names for row in importlib.import_module(name).measure(*device)]
    print(table(rows))
    slow = [row["name"] for row in rows if not row["ratio"] >= row["at_least"]]
    if slow:
        sys.exit(f"below their bounds: {', '.join(slow)}")


if __name__ == "__main__":
    main(*sys.argv[1:])
