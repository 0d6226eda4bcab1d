"""The claims of the papers: functions of data by role that compute the values of the checks, a group each.

A check takes {role: xarray dataset} and, if it has options, the model `p`; it returns {name: `support.checks.Check`}.

- `claims.yaml`: each claim in a sentence, with the statements and bounds of its checks.
- `relu_penalty` ("The implicit penalty of finetuning"); `diagonal`, `relu_features`, `convnets` ("Feature reuse …").
- `linear_transfer`, `mean_field_transfer` ("Features are fate"); `linear_teachers`, `bound_correlations` ("Finetuning
  with linear teachers").
- `agreement`: trained networks and exact limits, our risks and published ones; `atlas`: all families.
- `support`: what they share, and the table of all claims; `comparisons`: datasets made of several experiments.
"""
