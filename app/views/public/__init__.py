"""Pages for everybody: released studies alone, and for members of the project also what is not released yet."""
