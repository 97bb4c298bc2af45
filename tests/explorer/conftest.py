"""Models to explore, and clients that ask."""

import pytest

import regard
from regard.explorer.application import explorer_application
from regard.explorer.shelf import shelve

from .small import RECURRENT, SILENT, TRANSFORMER


@pytest.fixture(scope="session")
def runs(tmp_path_factory, untrained_run, untrained_captioner):
    """Run directories by name."""
    folder = tmp_path_factory.mktemp("explored")
    kinds = {"recurrent": RECURRENT, "transformer": TRANSFORMER, "silent": SILENT}
    found = {name: untrained_run(folder / name, model, spread=0.7) for name, model in kinds.items()}
    return found | {"captioner": untrained_captioner(folder / "captioner")}


@pytest.fixture(scope="session")
def client(runs):
    """`client("recurrent", ...)` asks an explorer of these models."""
    return lambda *names: client_of([runs[name] for name in names])


def client_of(directories):
    testing = pytest.importorskip("starlette.testclient")
    application = explorer_application(shelve([regard.load(each) for each in directories]))
    return testing.TestClient(
        application, base_url="http://127.0.0.1:8427", raise_server_exceptions=False
    )
