"""An audit from plain files, without a database."""
