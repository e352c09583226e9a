"""The techniques of three papers in one drive, alone and together."""
