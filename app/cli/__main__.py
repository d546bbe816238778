"""`python -m app.cli`, where the console script is not on the path."""

from app.cli import main

main()
