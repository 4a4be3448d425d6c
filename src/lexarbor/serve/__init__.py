"""The web page and the HTTP API. Needs the extra `serve`."""
