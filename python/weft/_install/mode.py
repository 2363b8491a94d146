"""What the program asked of weft.install(): how fallbacks are met, whether a report is printed at the end."""

import os

MODES = ("silent", "warn", "error")
fallback = os.environ.get("WEFT_FALLBACK", "silent")
