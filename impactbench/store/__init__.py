"""Where facts are kept: the schema, the connection, and the read side."""
