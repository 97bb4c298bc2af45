"""A real browser that shows pages: headless Chromium, driven by Selenium.

Every page is a file. What the browser complains about, and every address it asks for, is kept.
"""

import json
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
DRIVER = shutil.which("chromedriver")
SWITCHES = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--window-size=1200,1000",
)


class Browser:
    """One Chromium; pages are opened one after the other."""

    def __init__(self, folder: Path) -> None:
        from selenium import webdriver
        from selenium.webdriver.chrome.service import Service

        self.folder = folder
        options = webdriver.ChromeOptions()
        options.binary_location = str(CHROMIUM)
        for switch in (*SWITCHES, f"--user-data-dir={folder / 'profile'}"):
            options.add_argument(switch)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        settings = {
            "download.default_directory": str(folder / "saved"),
            "download.prompt_for_download": False,
            "profile.default_content_setting_values.automatic_downloads": 1,  # as often as asked
        }
        options.add_experimental_option("prefs", settings)
        (folder / "saved").mkdir()
        self.driver = webdriver.Chrome(options=options, service=Service(str(DRIVER)))

    def close(self) -> None:
        self.driver.quit()

    def open(self, text: str, *, dark: bool = False) -> None:
        """Show a page, and wait until each of its views is drawn."""
        path = self.folder / "page.html"
        path.write_text(text, encoding="utf-8")
        feature = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
        self.driver.get_log("browser"), self.driver.get_log("performance")
        self.driver.get(path.as_uri())
        self.wait("all('.attention').every((view) => view.dataset.ready)")
        self.settle()

    def wait(self, condition: str, seconds: float = 30) -> None:
        end = time.monotonic() + seconds
        while not self.run(f"return {condition}"):
            assert time.monotonic() < end, condition
            time.sleep(0.02)

    def settle(self) -> None:
        """Wait until what was asked for is drawn."""
        self.driver.execute_async_script(
            "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(done))"
        )

    def run(self, script: str, *arguments: Any) -> Any:
        """`one(selector)`, `all(selector)`, `text(selector)` are at hand."""
        helpers = (
            "const all = (selector) => [...document.querySelectorAll(selector)];"
            "const one = (selector) => document.querySelector(selector);"
            "const text = (selector) => one(selector).textContent;"
        )
        return self.driver.execute_script(helpers + script, *arguments)

    def element(self, selector: str) -> Any:
        from selenium.webdriver.common.by import By

        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def point(self, selector: str, x: float | None = None, y: float | None = None) -> None:
        """Move the mouse over an element: its middle, or so far from its upper left corner."""
        self._mouse(selector, x, y).perform()
        self.settle()

    def click(self, selector: str, x: float | None = None, y: float | None = None) -> None:
        self._mouse(selector, x, y).click().perform()
        self.settle()

    def _mouse(self, selector: str, x: float | None, y: float | None) -> Any:
        from selenium.webdriver.common.action_chains import ActionChains

        element = self.element(selector)
        self.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", element)
        chain = ActionChains(self.driver, duration=0)
        if x is None or y is None:
            return chain.move_to_element(element)
        width, height = element.rect["width"], element.rect["height"]
        return chain.move_to_element_with_offset(
            element, round(x - width // 2), round(y - height // 2)
        )

    def press(self, *keys: str) -> None:
        """Keys for what has the focus: `ArrowDown`, `Tab`, `Enter`, ..."""
        from selenium.webdriver.common.action_chains import ActionChains
        from selenium.webdriver.common.keys import Keys

        named = {"ArrowUp": Keys.UP, "ArrowDown": Keys.DOWN, "ArrowLeft": Keys.LEFT}
        named |= {"ArrowRight": Keys.RIGHT, "Enter": Keys.ENTER, "Escape": Keys.ESCAPE}
        named |= {"Tab": Keys.TAB, "Home": Keys.HOME, "End": Keys.END, "Space": Keys.SPACE}
        for key in keys:
            ActionChains(self.driver).send_keys(named[key]).perform()
        self.settle()

    def choose(self, name: str, label: str) -> None:
        """Take an option of a control, by what it says."""
        from selenium.webdriver.support.ui import Select

        Select(self.element(f"select[name={name}]")).select_by_visible_text(label)
        self.settle()

    def options(self, name: str) -> list[str]:
        return self.run(f"return all('select[name={name}] option').map((each) => each.textContent)")

    def save(self, button: str) -> bytes:
        """Click a button that saves; what was saved."""
        saved = self.folder / "saved"
        for old in saved.iterdir():
            old.unlink()
        labels = self.run("return all('.saving button').map((each) => each.textContent)")
        self.click(f".saving button:nth-child({labels.index(button) + 1})")
        end = time.monotonic() + 30
        while True:
            found = [path for path in saved.iterdir() if path.suffix != ".crdownload"]
            if found and found[0].stat().st_size:
                return found[0].read_bytes()
            assert time.monotonic() < end, f"{button} saved nothing"
            time.sleep(0.02)

    def complaints(self) -> list[str]:
        """Errors and warnings since the page was opened."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def addresses(self) -> Iterator[str]:
        """What the page asked for since it was opened."""
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                yield message["params"]["request"]["url"]
