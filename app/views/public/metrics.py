"""Every metric of a study, and each on a page of its own."""
