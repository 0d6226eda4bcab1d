"""`make bench`: the benchmarks of this folder, each row printed as it is measured; exit status 1 where one fails or is
below its bound.

python tests/bench/run.py relu diagonal    # those alone
python tests/bench/run.py --smallest       # at sizes of seconds, at which ratios mean nothing and have no bounds
python tests/bench/run.py --device cuda    # `make bench-gpu`, those of `bench_gpu`; exit status 2 without a card
"""

import argparse
import importlib
import os
import sys
from functools import partial
from pathlib import Path

HERE = Path(__file__).resolve().parent


def card(device):
    """The name of what is compared with the CPU; exit status 2 where there is nothing."""
    import torch

    if device == "cpu":
        return "the CPU in a card's place: ratios near 1 show that the benchmarks work, and nothing else"
    if not torch.cuda.is_available():
        print("bench-gpu: there is no CUDA GPU here that PyTorch can use, and nothing was measured.", file=sys.stderr)
        sys.exit(2)
    return torch.cuda.get_device_name()


def rows(name, *device, smallest):
    """The rows of a benchmark: dictionaries of name, ratio, at_least and detail."""
    yield from importlib.import_module(name).measure(*device, smallest=smallest)


def report(benchmarks, bounded=True):
    """Print the rows of {name: what gives its rows}; what failed or lies below its bound, a sentence each."""
    failed = []
    for name, measured in benchmarks.items():
        try:
            for row in measured():
                print(f"{row['name']}: {row['ratio']:.3g} (at least {row['at_least']:g})")
                print(f"    {row['detail']}", flush=True)
                if bounded and not row["ratio"] >= row["at_least"]:
                    failed.append(f"{row['name']} is below its bound")
        except Exception as error:  # the others go on
            reason = next(iter(str(error).splitlines()), "")
            failed.append(f"{name} failed: {type(error).__name__}: {reason}")
            print(failed[-1], flush=True)
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="benchmarks; all, if left out")
    parser.add_argument("--device", choices=("cuda", "cpu"), help="what bench_gpu compares with the CPU")
    parser.add_argument("--smallest", action="store_true", help="take the smallest sizes")
    asked = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"  # read once, when NumPy and torch are imported
    folder = HERE.parent / "bench_gpu" if asked.device else HERE
    sys.path[:0] = [str(HERE.parents[1] / "scripts"), str(HERE.parent), str(folder)]
    device = [asked.device] if asked.device else []
    if device:
        print(card(*device), flush=True)
    there = sorted(file.stem for file in folder.glob("[!_]*.py") if file.stem != Path(__file__).stem)
    if unknown := set(asked.names) - set(there):
        parser.error(f"there is no benchmark {', '.join(sorted(unknown))}, only {', '.join(there)}")
    benchmarks = {name: partial(rows, name, *device, smallest=asked.smallest) for name in asked.names or there}
    if failed := report(benchmarks, bounded=not asked.smallest):
        sys.exit("; ".join(failed))


if __name__ == "__main__":
    main()
