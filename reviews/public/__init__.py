"""What the public may see of a released study. Whatever is not in these values cannot be shown by a page or a file."""
