"""The version of flashscape, which results carry."""

from flashscape._flashscape import __version__

__all__ = ["__version__"]
