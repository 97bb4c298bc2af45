"""The tools that regard is measured against."""
