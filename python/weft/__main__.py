"""python -m weft: see weft/_install/runner.py."""

import sys

from weft._install.runner import main

status = main(sys.argv[1:])
if status:
    sys.exit(status)
