"""Tables: a function of `correlations` makes a data frame of texts, of datasets by their roles."""
