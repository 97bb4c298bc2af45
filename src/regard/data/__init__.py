"""Data: pairs of texts, their tokens and their batches."""
