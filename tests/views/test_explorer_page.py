"""The explorer in a real browser: typing, beginning, replacing, hiding, comparing, photos."""

import threading

import pytest
from PIL import Image

import regard
from regard.data.pictures import see_images
from regard.explorer.application import explorer_application
from regard.explorer.server import address_of, listen, server_for
from regard.explorer.shelf import shelve

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]

ATTENTIVE = {"kind": "recurrent", "size": 8, "attend": "before", "readout_size": 5}
LAYERS = {"kind": "transformer", "layers": 2, "heads": 2, "feed_forward_size": 8}
MODELS = {
    "recurrent": {"encoder": {"kind": "recurrent", "size": 6}, "decoder": ATTENTIVE},
    "transformer": {"embedding": {"size": 8}, "encoder": LAYERS, "decoder": LAYERS},
}


@pytest.fixture(scope="module")
def runs(tmp_path_factory, untrained_run, untrained_captioner):
    """Run directories by name."""
    folder = tmp_path_factory.mktemp("explored")
    found = {name: untrained_run(folder / name, MODELS[name], spread=0.7) for name in MODELS}
    return found | {"captioner": untrained_captioner(folder / "captioner")}


@pytest.fixture
def explore(chromium, runs):
    """Opens an explorer of these models. Whatever a test does, the page complains of nothing and
    asks nobody else."""
    ends = []

    def opened(*names):
        listening = listen(0)
        models = [regard.load(runs[name]) for name in names]
        server = server_for(explorer_application(shelve(models)))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        ends.append((server, thread))
        chromium.complaints(), list(chromium.addresses())
        chromium.driver.get(address_of(listening))
        ends.append(address_of(listening))
        return chromium, models

    yield opened
    server, thread = ends[0]
    try:
        assert chromium.complaints() == []
        asked = [url for url in chromium.addresses() if url.startswith(("http", "ws", "ftp"))]
        assert asked and all(url.startswith(ends[1]) for url in asked)
    finally:
        chromium.driver.get("about:blank")
        server.should_exit = True
        thread.join(30)
    assert not thread.is_alive()


def settled(browser, count):
    """Every panel has its answer, drawn."""
    browser.wait(
        f"all('.panel').length === {count} && !one('[aria-busy]') &&"
        " all('.panel').every((each) => each.querySelector('.score').textContent ||"
        " !each.querySelector('p.trouble').hidden) &&"
        " all('.attention').every((view) => view.dataset.ready)"
    )
    browser.settle()


def type_text(browser, selector, text):
    field = browser.element(selector)
    field.clear()
    field.send_keys(text)


def outcomes(browser):
    return browser.run("return all('.outcome').map((each) => each.textContent)")


def chips(browser, row):
    """The labels of the first panel's chips."""
    return browser.run(
        "return [...one('.panel').querySelectorAll(arguments[0])].map((e) => e.textContent)", row
    )


def press(browser, row, place):
    """The chip with this number of the first panel's row."""
    browser.run("one('.panel').querySelectorAll(arguments[0])[arguments[1]].click()", row, place)


def test_two_models_answer_what_is_typed_and_change_as_asked(explore):
    browser, models = explore("recurrent", "transformer")
    type_text(browser, "textarea", "abcd")  # no button: it answers as it is typed
    browser.wait("all('.attention').length === 2")
    settled(browser, 2)
    free = [model.translate(["abcd"])[0] for model in models]
    assert outcomes(browser) == [answer.text for answer in free]
    assert browser.run("return all('.outcome mark').length > 0")  # the two differ
    weights = browser.run("return all('.attention .map').length")
    assert weights == 2 and chips(browser, ".chips.hide .chip") == ["a", "b", "c", "d", "</s>"]

    type_text(browser, "input[name=write]", "hg")
    browser.press("Enter")
    settled(browser, 2)
    begun = [model.translate(["abcd"], prefixes=["hg"])[0] for model in models]
    browser.wait(f"one('.outcome').textContent === {begun[0].text!r}")
    settled(browser, 2)
    assert outcomes(browser) == [answer.text for answer in begun]
    assert browser.run("return all('.panel')[0].querySelectorAll('.chip.begun').length") == 2
    type_text(browser, "input[name=write]", "")
    browser.press("Enter")
    browser.wait("!one('.chip.begun')")
    settled(browser, 2)

    press(browser, ".chips.hide .chip", 1)
    hidden = models[0].explore("abcd", hidden=[1]).answer
    browser.wait("!one('.panel .row .note').hidden")
    settled(browser, 2)
    assert outcomes(browser) == [hidden.text, free[1].text]  # the other one is left alone
    said = browser.run("return text('.row .note')")
    assert "leave-one-out in the memory" in said and "as if they had never been there" in said
    assert browser.run("return text('.before')") == f"before: {free[0].text}"
    assert "before \u2212" in browser.run("return text('.score')")
    browser.click(".undo")
    browser.wait("one('.panel .row .note').hidden")
    settled(browser, 2)
    assert outcomes(browser) == [answer.text for answer in free]

    press(browser, ".chips.output .chip", 1)
    other = browser.run("return one('.instead .other bdi').textContent")
    tokens = [free[0].tokens[0], other]
    press(browser, ".instead .other", 0)
    browser.wait("all('.panel')[0].querySelectorAll('.chip.begun').length === 2")
    settled(browser, 2)
    expected = models[0].translate(["abcd"], prefixes=[tokens])[0]
    assert outcomes(browser)[0] == expected.text and expected.tokens[:2] == tuple(tokens)
    press(browser, ".chips.output .chip", 1)
    type_text(browser, ".own input", "ff")
    browser.press("Enter")
    browser.wait("all('.panel')[0].querySelectorAll('.chip.begun').length === 3")
    settled(browser, 2)
    assert outcomes(browser)[0].startswith(f"{free[0].tokens[0]}ff")


def test_the_search_opens_as_a_tree(explore):
    browser, models = explore("recurrent")
    type_text(browser, "textarea", "abcd")
    settled(browser, 1)
    browser.click(".search > summary")
    explored = models[0].explore("abcd")
    fates = [node.fate for node in explored.tree.nodes]
    for _ in range(20):
        closed = browser.run(
            "const closed = all('.tree details:not([open])'); closed.forEach((each) =>"
            " { each.open = true; }); return closed.length"
        )
        browser.settle()
        if not closed:
            break
    for fate in ("pruned", "finished", "open"):
        shown = browser.run(f"return all('.tree li.{fate}').length")
        assert shown == fates.count(fate), fate
    assert "pruned" in fates
    best = browser.run(
        "return all('li.best > .leaf > .run, li.best > details > summary > .run')"
        ".map((each) => each.textContent).join('')"
    )
    assert "".join(best.split()) == "".join(explored.answer.tokens)


def test_nothing_that_is_typed_runs_and_what_is_refused_is_said(explore):
    browser, _ = explore("transformer")
    hostile = "<img src=x onerror='window.ran = 1'><script>window.ran = 2</script>"
    type_text(browser, "textarea", hostile)
    browser.press("Enter")
    settled(browser, 1)
    assert browser.run("return window.ran === undefined && !all('.panel img').length")
    browser.run(
        "const field = one('textarea'); field.value = 'a'.repeat(100000);"
        "field.dispatchEvent(new Event('input', { bubbles: true }))"
    )
    browser.wait("!one('p.trouble').hidden")
    assert "100,000 characters; at most 4,000" in browser.run("return text('p.trouble')")


def test_a_photo_is_described_and_its_places_hidden(explore, tmp_path):
    browser, (model,) = explore("captioner")
    path = tmp_path / "a.png"
    image = Image.new("RGB", (60, 40), (250, 250, 250))
    image.paste((200, 20, 20), (0, 0, 30, 20))
    image.save(path)
    browser.element("input[type=file]").send_keys(str(path))
    settled(browser, 1)
    (free,) = model.caption([path])
    assert outcomes(browser) == [free.text]
    assert browser.run("return one('.scene img').naturalWidth") == 60
    assert browser.run("return all('.cells .cell').length") == 4
    press(browser, ".cells .cell", 3)
    browser.wait("!one('.row .note').hidden")
    settled(browser, 1)
    (picture,) = see_images([path], model.needed_backbone())
    assert outcomes(browser) == [model.explore(picture, hidden=[3]).answer.text]
    large = tmp_path / "large.png"
    large.write_bytes(path.read_bytes() + b"\0" * 20_000_000)
    browser.element("input[type=file]").send_keys(str(large))
    browser.wait("!one('p.trouble').hidden")
    assert "large.png has 19.1 MiB; at most 16.0 MiB" in browser.run("return text('p.trouble')")
