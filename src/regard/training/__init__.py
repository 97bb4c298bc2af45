"""Training: a configuration and pairs become a run directory."""
