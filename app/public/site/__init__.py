"""The public view as files: the same pages, written by the same code, their addresses turned into names of files."""
