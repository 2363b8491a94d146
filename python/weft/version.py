"""weft's version under the names of numpy.version."""

from weft import __version__ as version

full_version = short_version = version
git_revision = ""
release = "dev" not in version

__all__ = ["full_version", "git_revision", "release", "short_version", "version"]
