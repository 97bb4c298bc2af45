"""The explore verb: it serves until a signal, and says in one line why it cannot."""

import importlib.util
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

import regard.cli
from regard.errors import UserError
from regard.explorer.server import listen

REGARD = Path(sys.executable).parent / "regard"


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_it_serves_until_a_signal(untrained_run, tmp_path, number, code):
    decoder = {"kind": "recurrent", "size": 4, "attend": "before"}
    model = {"encoder": {"kind": "recurrent", "size": 4}, "decoder": decoder}
    run = untrained_run(tmp_path / "run", model)
    command = [REGARD, "explore", "--model", run, "--port", "0", "--no-browser", "--threads", "1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            said = process.stderr.readline().decode()
            assert said.startswith("exploring run at http://127.0.0.1:"), (said, process.poll())
            with urllib.request.urlopen(said.split()[3], timeout=60) as response:
                assert b'"name": "run"' in response.read()
            process.send_signal(number)
            out, more = process.communicate(timeout=60)
        finally:
            process.kill()
    assert (process.returncode, out, more) == (code, b"", b"")


def test_what_is_missing_is_named(monkeypatch, capfd, tmp_path):
    real = importlib.util.find_spec
    monkeypatch.setattr(
        "regard.explorer.needed.find_spec", lambda name: None if name == "uvicorn" else real(name)
    )
    assert regard.cli.run(["explore", "--model", str(tmp_path)]) == 2
    (line,) = capfd.readouterr().err.splitlines()
    assert line.startswith("regard: error: `regard explore` needs uvicorn, which is not installed")
    assert 'pip install "regard[explore]"' in line


def test_a_port_that_is_taken_is_named():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(UserError, match=f"port {port} is taken; give another one with --port"):
            listen(port)


def test_it_listens_on_this_machine_alone():
    with listen(0) as listening:
        assert listening.getsockname()[0] == "127.0.0.1"
