"""The console command without an installation: `python scripts/carryover trace figure.png`."""

import sys
from pathlib import Path

sys.path[0] = str(Path(__file__).resolve().parents[1])

from carryover.commands.program import main  # noqa: E402

main()
