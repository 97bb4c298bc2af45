"""regard: train, run, look into and ship sequence models with attention."""

__version__ = "0.1.0"
