"""Run the tests marked `portable` as on other processors, and with two threads on this one, each in a new process.

    python tools/processors.py

Libraries choose their code by what the processor can do; variables of the environment have them take older code. What
can be asked whether it did so is asked. oneDNN and MKL do not tell; MKL's own switch works on Intel's processors alone,
so that on others its code of AVX2 cannot be chosen, and its compatible mode stands for the oldest.
"""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MARK = "portable"
PROCESSORS = {
    "this processor": {},
    "AVX2": {
        "ATEN_CPU_CAPABILITY": "avx2",
        "ONEDNN_MAX_CPU_ISA": "AVX2",
        "MKL_ENABLE_INSTRUCTIONS": "AVX2",
        "OPENBLAS_CORETYPE": "Haswell",
        "NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL AVX512_SPR",
    },
    "the oldest": {
        "ATEN_CPU_CAPABILITY": "default",
        "ONEDNN_MAX_CPU_ISA": "SSE41",
        "MKL_ENABLE_INSTRUCTIONS": "SSE4_2",
        "MKL_CBWR": "COMPATIBLE",
        "OPENBLAS_CORETYPE": "Nehalem",
        "NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4 AVX512_ICL AVX512_SPR",
    },
}
LIBRARIES = """
import numpy, threadpoolctl, torch
simd = numpy.show_config(mode="dicts")["SIMD Extensions"].get("found", [])
blas = [one["architecture"] for one in threadpoolctl.threadpool_info() if one["internal_api"] == "openblas"]
print(torch.backends.cpu.get_cpu_capability(), ",".join(blas), ",".join(simd) or "none", torch.get_num_threads())
"""
# `make test` runs them on this processor with one thread.
CASES = [("this processor", 2), ("AVX2", 1), ("the oldest", 1)]
# What PyTorch, OpenBLAS and NumPy then say; NumPy may have lacked the features before.
EXPECTED = {"AVX2": ("AVX2", "Haswell", {"X86_V3", "none"}), "the oldest": ("DEFAULT", "Nehalem", {"none"})}


def libraries(environment):
    done = subprocess.run(
        [sys.executable, "-c", LIBRARIES], env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout.split()


def run(name, threads, files):
    """(what the libraries say and the tests print, whether none failed) of one processor and number of threads."""
    numbers = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), str(threads))
    environment = {**os.environ, **PROCESSORS[name], **numbers}
    torch, blas, simd, torch_threads = libraries(environment)
    if name in EXPECTED:
        capability, core, features = EXPECTED[name]
        assert (torch, blas, torch_threads) == (capability, core, str(threads)), "a switch does not switch"
        assert simd in features, "a switch does not switch"
    command = [sys.executable, "-m", "pytest", "-q", "-m", MARK, *map(str, files)]
    done = subprocess.run(
        command, env=environment, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    said = f"--- {name}, {threads} threads: PyTorch {torch}, OpenBLAS {blas}, NumPy {simd}\n{done.stdout}"
    return said, done.returncode == 0


def main():
    marked = f"@pytest.mark.{MARK}"
    files = [path for path in sorted(ROOT.glob("tests/*/test_*.py")) if marked in path.read_text()]  # collected sooner
    failed = []
    with ThreadPoolExecutor(os.cpu_count()) as side_by_side:
        done = side_by_side.map(lambda case: run(*case, files), CASES)
        for (name, threads), (said, passed) in zip(CASES, done, strict=True):
            print(said, flush=True)
            if not passed:
                failed.append(f"{name}, {threads} threads")
    sys.exit(f"tests failed on: {'; '.join(failed)}" if failed else 0)


if __name__ == "__main__":
    main()
