"""Tables: `rows` of a module makes a data frame of texts, of datasets by their roles.

- `bound_correlations`: R² of three bounds with the error of finetuning, and the published ones.
- `predictors`: rank correlations of what is known beforehand with the gain of finetuning.
- `parameters`: the data that each reads.
"""
