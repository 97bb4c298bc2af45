"""Readers of pairs: a file per format, each giving its texts in the order of the file."""
