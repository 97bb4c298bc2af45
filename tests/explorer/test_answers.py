"""What the explorer answers, beside what regard gives in Python."""

import json

import pytest

import regard
from regard.data.pictures import see_images
from regard.views.json_view import attention_json
from regard.views.page_html import attention_element
from regard.views.translation_view import translation_view

from .small import photo

pytestmark = pytest.mark.filterwarnings("ignore:Using `httpx`")


def ask(client, **question):
    response = client.post("/api/answer", json={"model": 0, **question})
    assert response.status_code == 200, response.text
    return response.json()


def looked(model, answer, text, hidden=()):
    from dataclasses import fields, replace

    look = model.explore(text, hidden=hidden).look
    view = translation_view(text, answer.text, answer)
    return replace(view, **{each.name: getattr(look, each.name) for each in fields(look)})


@pytest.mark.parametrize("name", ["recurrent", "transformer"])
def test_it_answers_as_show_does(client, runs, name):
    model = regard.load(runs[name])
    told = ask(client(name), text="abcd")
    (answer,) = model.translate(["abcd"], nbest=3)
    view = looked(model, answer, "abcd")
    expected = json.loads(attention_json(view))
    assert {**told["answer"], "nbest": None} == {**expected, "nbest": None}
    assert [each["text"] for each in told["answer"]["nbest"]] == [e.text for e in answer.nbest]
    assert told["html"] == attention_element(view, heading=False)
    assert told["ended"] is answer.ended and told["notice"] is None and told["begun"] == 0


def test_the_tree_leads_to_the_answer(client):
    told = ask(client("recurrent"), text="abcd", beam=4)
    nodes, answers = told["tree"]["nodes"], told["tree"]["answers"]
    path, at = [], answers[0]
    while at > 0:
        path.append(nodes[at][0])
        at = nodes[at][1]
    assert path[::-1] == told["labels"]
    assert nodes[answers[0]][3] == pytest.approx(told["answer"]["score"], abs=1e-6)
    fates = {node[6] for node in nodes}
    assert (
        {"continued", "pruned"}
        <= fates
        <= {
            "continued",
            "finished",
            "pruned",
            "abandoned",
            "open",
        }
    )


def test_outputs_begin_as_asked(client, runs):
    both = client("recurrent", "transformer")
    model = regard.load(runs["recurrent"])
    told = ask(both, text="abcd", tokens=["h", "g"])
    (expected,) = model.translate(["abcd"], prefixes=[["h", "g"]])
    assert told["answer"]["tokens"] == list(expected.tokens) and told["begun"] == 2
    told = ask(both, text="abcd", tokens=["h"], write="ga", model=1)
    assert told["answer"]["tokens"][:3] == ["h", "g", "a"] and told["begun"] == 3
    response = both.post("/api/answer", json={"model": 0, "text": "ab", "write": "xyz"})
    assert response.status_code == 400 and "never writes: x, y, z" in response.json()["error"]


def test_positions_are_hidden(client, runs):
    told = ask(client("transformer"), text="abcd", hidden=[1, 2])
    assert all(row[1] == row[2] == 0 for row in told["answer"]["attention"])
    expected = regard.load(runs["transformer"]).explore("abcd", hidden=[1, 2])
    assert told["answer"]["text"] == expected.answer.text
    assert told["answer"]["score"] == pytest.approx(expected.answer.score)


def test_a_model_without_attention_is_explored_too(client):
    silent = client("silent")
    told = ask(silent, text="abcd")
    assert told["html"] is None and told["answer"]["attention"] == []
    assert told["answer"]["tokens"] and len(told["tree"]["nodes"]) > 3
    response = silent.post("/api/answer", json={"model": 0, "text": "abcd", "hidden": [0]})
    assert response.status_code == 400 and "no attention" in response.json()["error"]


def test_photos(client, runs, tmp_path):
    asking = client("captioner", "captioner")
    held = asking.post("/api/photo?name=a%20%3Cb%3E.png", content=photo()).json()
    assert held["uri"].startswith("data:image/png;base64,")
    assert [(each["rows"], each["columns"]) for each in held["seen"]] == [(2, 2), (2, 2)]
    (tmp_path / "a.png").write_bytes(photo())
    model = regard.load(runs["captioner"])
    (expected,) = model.caption([tmp_path / "a.png"])
    told = ask(asking, photo=held["photo"], model=1)
    assert told["answer"]["text"] == expected.text and told["answer"]["image"] == "a <b>.png"
    assert told["answer"]["attention"] == [
        [pytest.approx(row, abs=1e-6) for row in each] for each in expected.attention
    ]
    assert "a &lt;b&gt;.png" in told["html"] and held["uri"] in told["html"]
    told = ask(asking, photo=held["photo"], hidden=[3], write="the blue")
    assert all(each[1][1] == 0 for each in told["answer"]["attention"])
    assert told["answer"]["tokens"][:2] == ["the", "blue"]
    (picture,) = see_images([tmp_path / "a.png"], model.needed_backbone())
    assert (
        model.explore(picture, prefix="the blue", hidden=[3]).answer.text == told["answer"]["text"]
    )


def test_photos_that_cannot_be_used(client):
    asking = client("captioner")
    response = asking.post("/api/photo?name=x.txt", content=b"no photo at all")
    assert response.status_code == 400
    assert response.json()["error"].startswith("x.txt is not a picture that can be read")
    response = asking.post("/api/answer", json={"model": 0, "photo": "ab" * 32})
    assert response.status_code == 410 and "drop it again" in response.json()["error"]
    response = asking.post("/api/answer", json={"model": 0, "text": "a"})
    assert response.json() == {"error": "captioner reads photos"}
    response = client("recurrent").post("/api/photo", content=photo())
    assert response.json() == {"error": "the models here read texts, not photos"}


def test_only_so_many_photos_are_held(runs):
    from regard.explorer.bodies import Refused
    from regard.explorer.photos import MOST_PHOTOS, Photos

    photos = Photos([regard.load(runs["captioner"]).needed_backbone()])
    first, _ = photos.keep(photo(), "first")
    second, _ = photos.keep(photo(), "second")
    for number in range(MOST_PHOTOS - 1):
        photos.get(first)
        photos.keep(photo(), str(number))
    assert photos.get(first).name == "first"
    with pytest.raises(Refused, match="no longer held"):
        photos.get(second)
