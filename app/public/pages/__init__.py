"""One callable a page: it takes a visit and gives a sheet."""
