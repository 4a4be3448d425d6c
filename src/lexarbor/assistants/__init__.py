"""The law for assistants: what they may look up, and the server that tells it over the Model Context Protocol."""

from lexarbor.assistants.lookup import Lookup

__all__ = ["Lookup"]
