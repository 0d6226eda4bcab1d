"""Estimates with 95 % intervals and two-sided p-values, and fits.

- `intervals`: means by Student's t, medians and shares; equivalence margins, and Holm's adjustment of p-values.
- `jackknife`: any statistic, by leaving out each seed, draw or class of images in turn.
- `held_out`: errors of kernel regression on samples that are left out, and their comparison.
- `power_law`: risks as powers of the number of samples.
"""
