"""Functions of datasets that figures and claims share."""
