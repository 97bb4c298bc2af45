"""Kernels: what a plain expression would compute, in less time and memory."""
