"""One browser for all tests of pages, where there is one."""

import pytest

from .browser import CHROMIUM, DRIVER, Browser


@pytest.fixture(scope="session")
def chromium(tmp_path_factory):
    if not (CHROMIUM and DRIVER):
        pytest.skip("no Chromium with its driver (Debian: chromium, chromium-driver)")
    browser = Browser(tmp_path_factory.mktemp("browser"))
    yield browser
    browser.close()


@pytest.fixture
def browser(chromium):
    """Whatever a test does, the page complains of nothing and asks for no other address."""
    yield chromium
    assert chromium.complaints() == []
    assert not [url for url in chromium.addresses() if url.startswith(("http", "ws", "ftp"))]
