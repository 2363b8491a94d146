"""Modules of NumPy that are plain Python: the installed sources, run over weft."""
