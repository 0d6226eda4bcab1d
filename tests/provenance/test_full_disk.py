"""A full disk gives one sentence that names the folder, and the earlier result stays."""

import os
import subprocess
import sys

from carryover.provenance.job_record import SCRIPTS

LIMITED = """
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
from carryover.provenance import job_record
with job_record.Job(rule="figure", outputs=["x.nc", "y.nc"], modules=["carryover.errors"], command=["x.py"]) as job:
    job.path("x.nc").write_text("short")
    job.path("y.nc").write_text("long" * 2000)
"""


def test_a_full_disk_is_one_sentence(tmp_path):
    (tmp_path / "x.nc").write_text("old")
    environment = os.environ | {"PYTHONPATH": str(SCRIPTS), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-c", LIMITED]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert "DataError: cannot write " in done.stderr.splitlines()[-1]
    assert [file.name for file in tmp_path.iterdir()] == ["x.nc"]
    assert (tmp_path / "x.nc").read_text() == "old"
