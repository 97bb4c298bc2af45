"""What the explorer needs beyond what regard itself does."""

from importlib.util import find_spec

from regard.errors import UserError

PACKAGES = ("starlette", "uvicorn")


def check_installed() -> None:
    """Raises UserError, with the command that installs them, where a package is missing."""
    missing = [name for name in PACKAGES if find_spec(name) is None]
    if missing:
        raise UserError(
            f"`regard explore` needs {' and '.join(missing)}, which is not installed; "
            'pip install "regard[explore]"'
        )
