"""Benchmarks of weft beside NumPy.

`cases` is the list of what is timed, which bench/run.py of the source tree runs, too; `measure` takes the times, and
`machine` says on what. Nothing of this is imported by `import weft`.
"""
