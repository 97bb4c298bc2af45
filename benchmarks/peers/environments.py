"""Give each peer a virtual environment of its own, with one torch for all."""

import shutil
import subprocess
import sys
import venv
from dataclasses import dataclass
from pathlib import Path


class InstallationError(Exception):
    """A peer could not be installed; one line that says which and what pip said last."""


@dataclass(frozen=True)
class Peer:
    """`package` is installed without what it asks for (it may cap torch), then what it imports."""

    name: str
    package: str
    needs: tuple[str, ...]
    check: str


JOEYNMT = Peer(
    name="joeynmt",
    package="joeynmt==2.3.0",
    needs=(
        "sentencepiece==0.2.0",  # later ones lack SetVocabulary, which JoeyNMT calls
        "subword-nmt>=0.3.8",
        "importlib_metadata",
        "packaging",
        "numpy",
        "matplotlib",
        "plotly",
        "pyyaml",
        "sacrebleu",
        "six",
        "tensorboard",
        "tqdm",
    ),
    check="import joeynmt.training",
)
OPENNMT = Peer(
    name="opennmt",
    package="OpenNMT-py==3.5.1",
    needs=(
        "sentencepiece==0.2.0",
        "configargparse",
        "ctranslate2>=4,<5",
        "fasttext-wheel",
        "pyahocorasick",
        "pyonmttok>=1.37,<2",
        "pyyaml",
        "rapidfuzz",
        "regex",
        "sacrebleu",
        "six",
        "spacy",
        "tensorboard",
    ),
    check="import onmt.bin.train",
)
EOLE = Peer(
    name="eole",
    package="eole==0.6.4",  # it asks for torchcodec and torch-optimi too, and trains without them
    needs=(
        "sentencepiece==0.2.0",
        "aiohttp",
        "configargparse",
        "ctranslate2>=4,<5",
        "datasets",
        "fastapi",
        "fasttext-wheel",
        "huggingface_hub",
        "numpy>=2",
        "pandas",
        "protobuf==7.36.2",
        "pyahocorasick",
        "pydantic",
        "pyonmttok>=1.38.1,<2",
        "pyyaml",
        "rapidfuzz",
        "regex",
        "rich",
        "sacrebleu",
        "safetensors",
        "six",
        "spacy",
        "subword-nmt>=0.3.7",
        "tensorboard>=2.18",
        "tokenizers",
        "uvicorn",
        "waitress",
    ),
    check="import eole.bin.run.train",
)
KERAS = Peer(
    name="keras",
    package="keras==3.15.1",  # needs Python 3.11
    needs=("absl-py", "h5py", "ml-dtypes", "namex", "optree"),
    check="import keras",
)
YOYODYNE = Peer(
    name="yoyodyne",
    package="yoyodyne==0.5.27",  # it asks for torchvision and torchaudio too, and uses neither
    needs=(
        "jsonargparse[signatures]>=4.40,<5",
        "lightning>=2.6,<3",
        "maxwell>=0.2.6",
        "numpy>=2,<3",
        "omegaconf>=2.3",
        "pyyaml",
        "rich>=15",
        "torchmetrics>=1.8.2,<2",
        "wandb>=0.18.7,<1",
    ),
    check="import yoyodyne.cli",
)
G2P_EN = Peer(
    name="g2p-en",
    package="g2p-en==2.1.0",
    needs=(),  # numpy is regard's own; for the rest of it something stands in
    check="import g2p_en",
)
PEERS = {peer.name: peer for peer in (JOEYNMT, OPENNMT, EOLE, YOYODYNE)}


def ensure(peer: Peer, directory: Path, torch_version: str) -> Path:
    """The Python of `peer`'s environment under `directory`, made first where there is none.

    torch is installed first and pinned in every later call, so that no package replaces it.
    Raises InstallationError.
    """
    home = directory / peer.name
    python = home / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    finished = home / "installed.txt"
    wanted = "\n".join([f"torch=={torch_version}", peer.package, *peer.needs, ""])
    if finished.is_file() and finished.read_text(encoding="utf-8") == wanted:
        return python
    print(f"installing {peer.package} into {home}", file=sys.stderr, flush=True)
    venv.create(home, with_pip=True, clear=True)
    constraints = home / "constraints.txt"
    constraints.write_text(f"torch=={torch_version}\n", encoding="utf-8")
    _pip(python, peer, [f"torch=={torch_version}"])
    _pip(python, peer, ["--no-deps", peer.package])
    _pip(python, peer, ["--constraint", str(constraints), *peer.needs])
    _run([str(python), "-c", peer.check], peer)
    finished.write_text(wanted, encoding="utf-8")
    return python


def ensure_beside(peer: Peer, directory: Path) -> Path:
    """A folder with `peer` and what it needs for our own Python, made first where there is none.

    Nothing that they ask for comes with them: what `needs` does not name is regard's own.
    Raises InstallationError.
    """
    home = directory / peer.name
    finished = home / "installed.txt"
    wanted = "\n".join([sys.version, peer.package, *peer.needs, ""])
    if finished.is_file() and finished.read_text(encoding="utf-8") == wanted:
        return home
    print(f"installing {peer.package} into {home}", file=sys.stderr, flush=True)
    if home.exists():
        shutil.rmtree(home)
    packages = [peer.package, *peer.needs]
    _pip(Path(sys.executable), peer, ["--no-deps", "--target", str(home), *packages])
    finished.write_text(wanted, encoding="utf-8")
    return home


def _pip(python: Path, peer: Peer, arguments: list[str]) -> None:
    _run([str(python), "-m", "pip", "install", "--quiet", *arguments], peer)


def _run(command: list[str], peer: Peer) -> None:
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8")
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        errors = [line for line in lines if line.startswith("ERROR")] or lines
        said = errors[-1] if errors else f"exit {done.returncode}"
        raise InstallationError(f"{peer.package} could not be installed: {said}")
