"""Other places where calls can be made than this machine."""
