"""What you see and type: the workbench and the command line."""
