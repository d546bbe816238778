"""What Streamlit asks of everything that is installed, whenever an app starts: here hundreds start, and nothing is installed."""

from functools import cache

from streamlit.components.v2 import manifest_scanner


def read_once() -> None:
    """Have the metadata of installed packages read once in this process and in those that it forks."""
    manifest_scanner.scan_component_manifests = cache(manifest_scanner.scan_component_manifests)
