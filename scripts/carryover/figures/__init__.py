"""Figures and tables: a function of data by role and options for each, found by its name.

A figure takes {role: xarray dataset over `run`, or theory curve} and its options `p`; it returns a Matplotlib figure.

- `facets`: the plot of most figures, panels of risks by coordinates.
- "Feature reuse …": `relu_features`, `diagonal`, `convnets`. "Implicit penalty …": `relu_penalties`.
- "Features are fate": `linear_transfer`, `mean_field`. "Finetuning with linear teachers": `linear_teachers`.
- `across`: trained networks and exact limits, our risks and the published, maps of all families.
- `drawing`: what figures share; `tables`: rows of text.
"""
