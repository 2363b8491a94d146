"""Signatures as texts and as calls."""

from weft.numba._signatures import is_signature, normalize_signature

__all__ = ["is_signature", "normalize_signature"]
