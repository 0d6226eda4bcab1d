"""Layers before and after finetuning of which it is known by construction what happened to their features.

The truth of a case is how it was made (`toy.truths.case.TRUTHS`), and never the value of a measure. Criteria may be
tuned on even seeds alone; odd seeds are kept out of all tuning, and say how good the verdicts are.

There are 50 samples for each feature of those that are hand-made, and some 2000 of networks.
"""

from toy.truths import limits, made, trained, untrained

CASES = [*made.CASES, *untrained.CASES, *trained.CASES, *limits.CASES]
