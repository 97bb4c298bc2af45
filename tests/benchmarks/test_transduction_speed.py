"""The parts of the transduction benchmark that can be wrong without any peer being installed."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from decoding import WARM_UP
from decoding import report as timed

import peers.yoyodyne
import transduction_report as report
import transduction_speed
from measurement import Figures, Moment, Watched, figures, moments
from regard.data.batches import bucket, encode_pairs
from regard.data.configuration import BatchingConfiguration
from regard.data.pairs import read_pairs
from regard.data.tokenizers import train_tokenizers
from regard.models import build_model
from regard.training.recipes import load_recipe
from transduction_size import RECIPE, Size, batch_tokens, overrides

_WORDS = [("afar", "aː v a r"), ("fara", "f a r a"), ("a", "a"), ("raf", "r a v"), ("far", "f a r")]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "words.tsv"
    path.write_text("".join(f"{word}\t{phones}\n" for word, phones in 12 * _WORDS), "utf-8")
    return path


def _speed(words: float) -> report.Speed:
    return report.Speed(words, words / 2)


def test_ratios_are_of_processor_time_and_of_the_same_round() -> None:
    measured = {
        "regard": [_speed(400.0), _speed(900.0), _speed(500.0)],
        "yoyodyne": [_speed(100.0), _speed(100.0), _speed(250.0)],
    }
    versions = {"regard": {"version": "1", "parameters": "7"}}
    versions["yoyodyne"] = {"version": "2", "parameters": "8"}
    made = report.rows(measured, versions)
    assert [(row.tool, row.parameters) for row in made] == [("regard", 7), ("yoyodyne", 8)]
    assert made[1].ratios == (4.0, 9.0, 2.0)
    assert made[1].ratio == 4.0  # the median of ratios; of the medians it would be 5
    assert made[1].speed == 100.0
    lines = report.training_table(made).split("\n")
    assert len({len(line) for line in lines}) == 1
    assert [cell.strip() for cell in lines[3].strip("|").split("|")] == [
        *("yoyodyne", "2", "8", "100", "100 100 250", "-", "-", "4.00x", "4.00 9.00 2.00")
    ]


def test_words_are_counted_by_processor_time() -> None:
    first, last = Moment(10.0, 4, 1000, rows=100), Moment(20.0, 9, 6000, rows=500)
    watched = Watched(clock=[10.0, 20.0], cpu=[3.0, 8.0])
    speed = report.of_training(figures(first, last, watched))
    assert (speed.words_per_second, speed.words_per_cpu_second) == (40.0, 80.0)
    untold = figures(Moment(0.0, 0, 0), Moment(2.0, 1, 10), watched)
    assert (untold.rows_per_second, untold.rows_per_cpu_second) == (None, None)
    assert Figures(1.0, 1, 1.0, None, None, None, 5.0).rows_per_cpu_second is None


def test_decoders_are_told_apart_by_words_and_symbols() -> None:
    speed = report.of_decoding({"words": 10, "symbols": 65, "seconds": 5.0, "cpu_seconds": 2.0})
    assert (speed.words_per_cpu_second, speed.words_per_second) == (5.0, 2.0)
    row = report.Row("g2p-en", "2.1.0", 834_890, (speed,), ())
    cells = report.decoding_table([row]).split("\n")[2].strip("|").split("|")
    assert [cell.strip() for cell in cells] == [
        *("g2p-en", "2.1.0", "834,890", "5", "5", "6.50", "-", "-")
    ]


def test_both_are_asked_for_the_same_model(data: Path, tmp_path: Path) -> None:
    """Three LSTMs, what stands between them, an embedding of every symbol of either side."""
    size = Size(embedding=30, hidden=10, readout=7)
    pairs = read_pairs(str(data), None, None)
    configuration = load_recipe(RECIPE, overrides(size))
    tokenizers = train_tokenizers(configuration.tokenization, pairs, 1)
    symbols = tokenizers.source.size + tokenizers.target.size
    model = build_model(configuration.model, tokenizers.source.size, tokenizers.target.size)
    each_way, start = 4 * 10 * (30 + 10 + 1), 2 * 10 * (20 + 1)
    score, readout, output = 10 * 20, 7 * (10 + 20), 8 * tokenizers.target.size
    expected = 30 * symbols + 3 * each_way + start + score + readout + output
    assert sum(each.numel() for each in model.parameters()) == expected
    theirs = peers.yoyodyne.configuration(data, size, tmp_path)["model"]["init_args"]
    assert (theirs["embedding_size"], theirs["decoder_hidden_size"]) == (30, 10)
    encoder = theirs["source_encoder"]["init_args"]
    assert (encoder["hidden_size"], encoder["bidirectional"], encoder["layers"]) == (10, True, 1)
    chosen = configuration.model
    assert chosen.encoder.cell == chosen.decoder.cell == "lstm"
    assert {chosen.embedding.dropout, chosen.decoder.dropout, theirs["decoder_dropout"]} == {0.3}
    assert configuration.training.gradient_clip == 3.0


def test_a_batch_holds_as_many_words_as_the_peers(data: Path) -> None:
    pairs = read_pairs(str(data), None, None)
    settings = overrides(Size(words=8))
    tokens = batch_tokens(pairs, Size(words=8), settings)
    tokenization = load_recipe(RECIPE, settings).tokenization
    examples = encode_pairs(pairs, train_tokenizers(tokenization, pairs, 1))
    held = [
        len(pairs) / len(bucket(examples, BatchingConfiguration(tokens=given), 1, 0))
        for given in (tokens - 1, tokens)
    ]
    assert held[0] < 8 <= held[1]


def test_words_are_spread_over_the_file(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_text("".join(f"w{number}\tx\n" for number in range(10)) + "\n", encoding="utf-8")
    assert transduction_speed.chosen_words(path, 4) == ["w0", "w2", "w5", "w7"]
    assert len(transduction_speed.chosen_words(path, 400)) == 10


def test_decoding_is_timed_after_a_warm_up(capsys: pytest.CaptureFixture[str]) -> None:
    given: list[int] = []

    def decode(words: list[str]) -> list[list[str]]:
        given.append(len(words))
        return [list(word) for word in words]

    timed(decode, ["abc"] * 70, {"version": "9"})
    told = json.loads(capsys.readouterr().out)
    assert given == [WARM_UP, 70]
    assert (told["version"], told["words"], told["symbols"]) == ("9", 70, 210)
    assert told["cpu_seconds"] >= 0


def test_an_empty_dictionary_stands_in_for_what_g2p_en_downloads() -> None:
    """Its own imports, in a process of its own."""
    program = "\n".join(
        [
            "import decode_g2p_en",
            "decode_g2p_en.stand_in()",
            "from nltk import pos_tag",
            "from nltk.corpus import cmudict",
            "import nltk, inflect",
            "from nltk.tokenize import TweetTokenizer",
            "nltk.data.find('corpora/cmudict.zip')",
            "assert cmudict.dict() == {} and TweetTokenizer().tokenize('a b') == ['a', 'b']",
            "inflect.engine()",
        ]
    )
    home = Path(transduction_speed.__file__).parent / "peers" / "counted"
    done = subprocess.run([sys.executable, "-c", program], cwd=home, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_regard_is_counted_in_words(data: Path, tmp_path: Path) -> None:
    settings = overrides(Size(embedding=8, hidden=4, words=8))
    settings += ["training.maximum_updates=9", "training.warmup=1", "batching.tokens=40"]
    given = ["training", "--data", str(data), "--valid", str(data)]
    options = transduction_speed._parser().parse_args(given)
    command, record = transduction_speed._regard(options, settings, 1, tmp_path)
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", timeout=300)
    assert done.returncode == 0, done.stderr
    found, facts = moments(record.read_text(encoding="utf-8").split("\n")[:-1])
    assert len(found) == 9
    assert 9 * 2 < (found[-1].rows or 0) <= 9 * 20
    assert int(facts["parameters"]) > 500 and facts["version"]


def test_bad_options_are_one_line(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ["training", "--data", str(data), "--valid", str(data), "--words", "100"]
    assert transduction_speed.main(given) == 2
    assert "60 pairs are less than a batch of 100" in capsys.readouterr().err
    empty = tmp_path / "empty.txt"
    empty.write_text("\n\n", encoding="utf-8")
    assert transduction_speed.main(["decoding", "--run", "nowhere", "--words", str(empty)]) == 2
    assert "holds no words" in capsys.readouterr().err
