"""Who is answered, how much is read, and what becomes of everything else."""

import shutil
import threading
import time

import pytest

from regard.errors import UserError
from regard.explorer import application
from regard.explorer.bodies import MOST_PHOTO, MOST_QUESTION
from regard.explorer.questions import MOST_CHARACTERS
from regard.explorer.shelf import shelve

from .conftest import client_of
from .small import RECURRENT, photo

pytestmark = pytest.mark.filterwarnings("ignore:Using `httpx`")
QUESTION = {"model": 0, "text": "abcd"}


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.1:1", "localhost:8427", "LOCALHOST"])
def test_this_machine_is_answered(client, host):
    assert client("recurrent").get("/", headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    "host",
    ["", "evil.example", "127.0.0.1.evil.example", "localhost.", "127.0.0.1:8427@evil", "0.0.0.0",
     "localhost:x", "[::1]"],
)  # fmt: skip
def test_other_names_are_not(client, host):
    """A name that was made to point here is not one of this machine's (DNS rebinding)."""
    for method, path in (("GET", "/"), ("POST", "/api/answer"), ("GET", "/explorer.js")):
        response = client("recurrent").request(method, path, headers={"host": host})
        assert response.status_code == 421
        assert "127.0.0.1 and localhost alone" in response.json()["error"]


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1:9"])
def test_pages_of_other_sites_are_not_answered(client, origin):
    asking = client("recurrent")
    response = asking.post("/api/answer", json=QUESTION, headers={"origin": origin})
    assert response.status_code == 403
    own = {"origin": "http://127.0.0.1:8427"}
    assert asking.post("/api/answer", json=QUESTION, headers=own).status_code == 200
    plain = {"content-type": "text/plain"}  # what a form of another site could send
    assert asking.post("/api/answer", content="{}", headers=plain).status_code == 415


def test_every_answer_has_its_policy(client):
    asking = client("recurrent")
    answers = [
        asking.get("/"),
        asking.get("/explorer.js"),
        asking.get("/nothing"),
        asking.post("/api/answer", json=QUESTION),
        asking.post("/api/answer", content=b"", headers={"content-type": "application/json"}),
        asking.get("/", headers={"host": "evil.example"}),
    ]
    assert [each.status_code for each in answers] == [200, 200, 404, 200, 400, 421]
    for response in answers:
        policy = response.headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'")
        assert "unsafe" not in policy and "http" not in policy and "*" not in policy
        assert "require-trusted-types-for 'script'" in policy
        assert response.headers["x-content-type-options"] == "nosniff"
        assert response.headers["cache-control"] == "no-store"


def test_the_page_names_no_other_place(client):
    asking = client("recurrent")
    for path in ("/", "/explorer.js", "/explorer.css"):
        text = asking.get(path).text.replace("http://www.w3.org/2000/svg", "")
        assert "http:" not in text and "https:" not in text and "//cdn" not in text
    assert "onclick" not in asking.get("/").text and " style=" not in asking.get("/").text


def test_markup_in_texts_stays_text(client):
    """The model reads it like any text; what comes back has it escaped."""
    hostile = "<img src=x onerror=alert(1)></script><script>alert(2)</script>"
    told = client("transformer").post("/api/answer", json={**QUESTION, "text": hostile}).json()
    assert told["answer"]["source"] == hostile
    assert "<img src=x" not in told["html"] and "<script>alert" not in told["html"]
    assert "&lt;img src=x onerror=alert(1)&gt;" in told["html"]


@pytest.mark.parametrize(
    ("question", "status", "said"),
    [
        ({"text": "a" * 100_000}, 413, f"text has 100,000 characters; at most {MOST_CHARACTERS:,}"),
        ({"text": "a", "write": "b" * 5000}, 413, "write has 5,000 characters"),
        ({"text": "ab" * 300}, 413, "text has 600 tokens for this model; at most 500"),
        ({"text": " "}, 400, "blank text"),
        ({}, 400, "give text or photo"),
        ({"text": "a", "photo": "b"}, 400, "give text or photo"),
        ({"text": "a", "model": 7}, 404, "there is no model 7; there are 1"),
        ({"text": "a", "beam": 21}, 400, "beam: Input should be less than or equal to 20"),
        ({"text": "a", "hidden": [9]}, 400, "there is no position 9 in a source of 2"),
        ({"text": "a", "photo": 3}, 400, "photo: Input should be a valid string"),
        ({"text": "a", "more": 3}, 400, "more: Extra inputs are not permitted"),
        ({"text": "a", "features": "N"}, 200, ""),
    ],
)
def test_questions_are_checked(client, question, status, said):
    response = client("recurrent").post("/api/answer", json={"model": 0, **question})
    assert response.status_code == status
    assert said in response.json().get("error", "")


def test_lone_surrogates_are_refused_or_answered_in_one_line(client):
    body = b'{"model": 0, "text": "a\\ud800b"}'
    json = {"content-type": "application/json"}
    response = client("recurrent").post("/api/answer", content=body, headers=json)
    assert response.status_code in (200, 400) and response.json()


def pieces(count, size=2**16):
    """A body whose length nobody knows beforehand."""
    for _ in range(count):
        yield b" " * size


def test_bodies_are_read_no_further_than_a_limit(client):
    texts, photos = client("recurrent"), client("captioner")
    json = {"content-type": "application/json"}
    long = pieces(MOST_QUESTION // 2**16 + 1)
    response = texts.post("/api/answer", content=long, headers=json)
    assert response.status_code == 413
    assert response.json()["error"].startswith("the question has more than 1 MiB")
    large = photo() + b"\0" * 20_000_000
    response = photos.post("/api/photo?name=large.png", content=large)
    assert response.status_code == 413
    assert response.json()["error"].startswith("large.png has more than 16 MiB")
    response = photos.post("/api/photo", content=pieces(MOST_PHOTO // 2**16 + 1))
    assert response.status_code == 413
    assert photos.post("/api/photo", content=b"").json() == {"error": "the photo is empty"}
    assert photos.post("/api/photo", content=photo()).status_code == 200


def test_a_model_that_is_deleted_meanwhile(tmp_path, untrained_run):
    kept = untrained_run(tmp_path / "kept", RECURRENT)
    gone = untrained_run(tmp_path / "gone", RECURRENT, seed=2)
    with client_of([kept, gone]) as asking:
        before = asking.post("/api/answer", json={**QUESTION, "model": 1}).json()
        assert before["notice"] is None
        shutil.rmtree(gone)
        after = asking.post("/api/answer", json={**QUESTION, "model": 1}).json()
        assert f"{gone} is no longer there" in after["notice"]
        assert after["answer"] == before["answer"]
        assert asking.post("/api/answer", json=QUESTION).json()["notice"] is None
        (kept / "model.safetensors").touch()
        assert "has changed since" in asking.post("/api/answer", json=QUESTION).json()["notice"]


def test_faults_are_told_and_the_server_goes_on(client, monkeypatch, capsys):
    asking = client("recurrent")
    with monkeypatch.context() as broken:
        broken.setattr(application, "answer_question", lambda *_: 1 / 0)
        response = asking.post("/api/answer", json=QUESTION)
    assert response.status_code == 500 and "a fault in regard" in response.json()["error"]
    assert "ZeroDivisionError" in capsys.readouterr().err
    assert asking.post("/api/answer", json=QUESTION).status_code == 200


def test_many_ask_at_once_and_the_page_is_served_meanwhile(client, monkeypatch):
    """Ten tabs and two models: at most two are computed at a time, and nothing blocks the page."""
    running, most = [], []
    real = application.answer_question

    def slow(*arguments):
        running.append(1)
        most.append(len(running))
        time.sleep(0.05)
        try:
            return real(*arguments)
        finally:
            running.pop()

    monkeypatch.setattr(application, "answer_question", slow)
    with client("recurrent", "transformer") as asking:
        expected = {
            model: asking.post("/api/answer", json={**QUESTION, "model": model}).json()["answer"]
            for model in (0, 1)
        }
        found = []

        def tab(number):
            model = number % 2
            response = asking.post("/api/answer", json={**QUESTION, "model": model})
            found.append((model, response.json()["answer"]))

        tabs = [threading.Thread(target=tab, args=(number,)) for number in range(10)]
        for each in tabs:
            each.start()
        began = time.monotonic()
        assert asking.get("/").status_code == 200
        assert time.monotonic() - began < 0.05 * 10 / 2 + 2  # not after all the others
        for each in tabs:
            each.join()
    assert len(found) == 10 and all(answer == expected[model] for model, answer in found)
    assert max(most) == 2


def test_too_many_are_turned_away(client, monkeypatch):
    monkeypatch.setattr(application, "MOST_WAITING", 0)
    response = client("recurrent").post("/api/answer", json=QUESTION)
    assert response.status_code == 503 and "too many" in response.json()["error"]


def test_models_must_be_asked_the_same(runs):
    import regard

    recurrent, captioner = (regard.load(runs[name]) for name in ("recurrent", "captioner"))
    with pytest.raises(UserError, match="they cannot be asked the same"):
        shelve([recurrent, captioner])
    with pytest.raises(UserError, match="7 models; at most 6"):
        shelve([recurrent] * 7)
    names = [each.name for each in shelve([recurrent, recurrent])]
    assert len(set(names)) == 2
