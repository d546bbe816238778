"""`impactbench serve`: the workbench, until it is stopped."""

from typing import Annotated

import typer

from app.cli.terminal import err, open_database
from impactbench.settings import Settings


def serve(
    port: Annotated[int, typer.Option(help="The port to listen on.")] = 8501,
    address: Annotated[
        str, typer.Option(help="The address to listen on; 0.0.0.0 for other machines.")
    ] = "localhost",
) -> None:
    """Open the workbench on the database that IMPACTBENCH_DATABASE_URL names."""
    settings = Settings()
    open_database().dispose()
    err.print(f"Starting the workbench on port {port}; personal links begin with {settings.base_url} …")
    # Here, because the other commands need not wait for Streamlit.
    from app.server import serve as run

    run(port=port, address=address, settings=settings)
