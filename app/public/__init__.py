"""The public view: plain pages that a browser shows at once, for everybody, and for members also what is not released."""
