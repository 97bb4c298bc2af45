"""Kernels: whole recurrences with hand-written gradients, equal to the plain steps to rounding.

Stepping through autograd makes a weight gradient at every step and keeps every intermediate; here
gradients of weights are one matrix product over all steps at the end.
"""
