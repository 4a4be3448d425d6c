"""The web page: what people see, made on the server."""
