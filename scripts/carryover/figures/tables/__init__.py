"""Tables: a function makes a data frame of texts, of datasets by their roles."""
