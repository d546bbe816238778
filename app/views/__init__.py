"""One callable a page."""
