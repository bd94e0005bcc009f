"""The page in a real browser."""

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

from grada.report.page import PageData, collect_results, render

HOSTILE = [
    "<script>alert(1)</script>",
    '"; drop',
    "</script><img src=x onerror=alert(2)>",
    "&amp;",
    "🙂 שלום",
    "n" * 300,
    "two\nlines",
]
#: Contrast of every text with what is behind it; the worst ones, with their words.
CONTRAST = """
const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
const rgb = (text) => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = text;
  canvas.fillRect(0, 0, 1, 1); return Array.from(canvas.getImageData(0, 0, 1, 1).data); };
const light = ([r, g, b]) => [r, g, b].map((v) => v / 255)
  .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
  .reduce((sum, v, at) => sum + v * [0.2126, 0.7152, 0.0722][at], 0);
const behind = (node) => { for (let at = node; at; at = at.parentElement) {
  const colour = rgb(getComputedStyle(at).backgroundColor); if (colour[3] > 0) return colour; }
  return [255, 255, 255]; };
const found = [];
for (const node of document.querySelectorAll("body *")) {
  const texts = Array.from(node.childNodes).filter((n) => n.nodeType === 3);
  const words = texts.map((n) => n.data.trim()).join("");
  if (!words || !node.getClientRects().length || node.closest("script, noscript")) continue;
  const style = getComputedStyle(node), svg = node.namespaceURI.endsWith("svg");
  const one = light(rgb(svg ? style.fill : style.color)), other = light(behind(node));
  found.push([(Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05), words.slice(0, 40)]);
}
return found;
"""


def complain(why: str) -> None:
    (pytest.fail if os.environ.get("GRADA_TEST_STRICT") == "1" else pytest.skip)(why)


@pytest.fixture(scope="module")
def browser() -> Iterator[webdriver.Chrome]:
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if chromium is None or driver is None:
        complain("needs chromium and chromedriver (Debian: chromium, chromium-driver)")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for flag in (
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--no-first-run",
        "--host-resolver-rules=MAP * ~NOTFOUND",
    ):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    found = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    yield found
    found.quit()


@pytest.fixture
def opened(browser: webdriver.Chrome, tmp_path: Path):
    """Opens a page in a window of some width, and looks at the end that nothing went wrong."""

    def open_page(page: PageData, width: int = 1200, scheme: str = "light") -> webdriver.Chrome:
        path = tmp_path / "report.html"
        path.write_text(render(page), encoding="utf-8")
        browser.get("about:blank")
        browser.get_log("performance")
        feature = {"name": "prefers-color-scheme", "value": scheme}
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
        size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": False}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        browser.get(path.as_uri())
        return browser

    yield open_page
    assert browser.get_log("browser") == []
    events = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    asked = [
        event["params"]["request"]["url"]
        for event in events
        if event["method"] == "Network.requestWillBeSent"
    ]
    own = (tmp_path / "report.html").as_uri()
    assert own in asked
    assert {url for url in asked if not url.startswith("data:")} == {own}


def picked(browser: webdriver.Chrome) -> list[str]:
    return [row.text for row in browser.find_elements(By.CSS_SELECTOR, "tbody tr.picked th")]


def rows(browser: webdriver.Chrome) -> list[str]:
    found = browser.find_elements(By.CSS_SELECTOR, "#domain-table tbody tr")
    return [row.find_element(By.TAG_NAME, "th").text for row in found if row.is_displayed()]


def head(browser: webdriver.Chrome, key: str):
    return browser.find_element(By.CSS_SELECTOR, f'th[data-key="{key}"] button')


def node(browser: webdriver.Chrome, at: int):
    return browser.find_element(By.CSS_SELECTOR, f'.node[data-at="{at}"]')


def test_a_click_on_a_domain_selects_its_row_and_back(opened, make_page) -> None:
    browser = opened(make_page(["Ohio", "Utah", "Iowa", "Texas"]))
    node(browser, 2).click()
    assert picked(browser) == ["Iowa"]
    assert "Iowa" in browser.find_element(By.ID, "detail").text
    browser.find_elements(By.CSS_SELECTOR, "#domain-table .pick")[3].click()
    assert picked(browser) == ["Texas"]
    pressed = browser.find_elements(By.CSS_SELECTOR, '.node[aria-pressed="true"]')
    assert [each.get_attribute("data-at") for each in pressed] == ["3"]
    node(browser, 3).click()
    assert picked(browser) == [], "a second click takes the selection back"


def test_hovering_tells_of_the_domain(opened, make_page) -> None:
    browser = opened(make_page(["Ohio", "Utah", "Iowa"]))
    ActionChains(browser).move_to_element(node(browser, 1)).perform()
    tip = browser.find_element(By.CSS_SELECTOR, "#graph-box .tip")
    assert tip.is_displayed()
    assert "Utah" in tip.text
    assert "estimated accuracy" in tip.text


def test_search_filters_and_heads_sort(opened, make_page) -> None:
    browser = opened(make_page([f"shop {at}" for at in range(12)]))
    head(browser, "n_rows").click()
    head(browser, "n_rows").click()
    assert rows(browser)[:3] == ["shop 11", "shop 10", "shop 9"], "1,200 is more than 900"
    head(browser, "name").click()
    assert rows(browser)[:3] == ["shop 0", "shop 1", "shop 2"]
    head(browser, "estimate").click()
    values = [
        cell.text
        for cell in browser.find_elements(By.CSS_SELECTOR, "#domain-table td:nth-child(6)")
    ]
    known = [float(value.split()[0]) for value in values if value != "–"]
    assert known == sorted(known)
    assert values[-4:] == ["–"] * 4, "what is not known comes last"
    search = browser.find_element(By.ID, "search")
    search.send_keys("SHOP 1")
    assert sorted(rows(browser)) == ["shop 1", "shop 10", "shop 11"]
    assert browser.find_element(By.ID, "found").text == "3 of 12 domains"
    node(browser, 5).click()
    assert picked(browser) == ["shop 5"], "a row that the search hid is shown again"
    assert len(rows(browser)) == 12


def test_zoom_and_drag_move_the_graph(opened, make_page) -> None:
    browser = opened(make_page(["a", "b", "c", "d"]))
    before = node(browser, 0).get_attribute("transform")
    browser.find_element(By.ID, "zoom-in").click()
    zoomed = node(browser, 0).get_attribute("transform")
    box = browser.find_element(By.CSS_SELECTOR, "#graph-box svg")
    ActionChains(browser).move_to_element_with_offset(box, 0, 60).click_and_hold().move_by_offset(
        40, 30
    ).release().perform()
    moved = node(browser, 0).get_attribute("transform")
    assert len({before, zoomed, moved}) == 3
    assert picked(browser) == []
    browser.find_element(By.ID, "zoom-reset").click()
    assert node(browser, 0).get_attribute("transform") == before


def test_the_keyboard_is_enough(opened, make_page) -> None:
    browser = opened(make_page(["a", "b", "c", "d"]))
    for _ in range(12):
        ActionChains(browser).send_keys(Keys.TAB).perform()
        if "node" in (browser.switch_to.active_element.get_attribute("class") or ""):
            break
    first = browser.switch_to.active_element.get_attribute("data-at")
    assert first == "0"
    ActionChains(browser).send_keys(Keys.ARROW_LEFT).perform()
    second = browser.switch_to.active_element.get_attribute("data-at")
    assert second != first
    ActionChains(browser).send_keys(Keys.ENTER).perform()
    assert picked(browser) == ["abcd"[int(second)]]
    ActionChains(browser).send_keys(Keys.ESCAPE).perform()
    assert picked(browser) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_can_be_read(opened, make_page, scheme: str) -> None:
    browser = opened(make_page(["a", "b", "c", "d"]), scheme=scheme)
    node(browser, 1).click()
    found = browser.execute_script(CONTRAST)
    assert len(found) > 60
    assert [each for each in found if each[0] < 4.5] == []


def test_the_button_turns_light_to_dark(opened, make_page) -> None:
    browser = opened(make_page(["a", "b"]))
    script = "return getComputedStyle(document.body).backgroundColor"
    before = browser.execute_script(script)
    button = browser.find_element(By.ID, "theme")
    assert button.text == "Dark mode"
    button.click()
    assert browser.execute_script(script) != before
    browser.execute_script("localStorage.clear()")


@pytest.mark.parametrize("names", [HOSTILE, ["a", "b", "c"]])
def test_nothing_overflows_on_a_phone(opened, make_page, names) -> None:
    browser = opened(make_page(names), width=360)
    for at in range(len(names)):
        browser.execute_script(f"document.querySelectorAll('#domain-table .pick')[{at}].click()")
        assert browser.execute_script("return document.scrollingElement.scrollWidth") <= 360


def test_hostile_names_are_text(opened, make_page) -> None:
    browser = opened(make_page(HOSTILE))
    shown = browser.find_elements(By.CSS_SELECTOR, "#domain-table .pick")
    assert [each.get_attribute("textContent") for each in shown] == HOSTILE
    for at, name in enumerate(HOSTILE):
        browser.execute_script(f"document.querySelectorAll('#domain-table .pick')[{at}].click()")
        said = browser.execute_script("return document.querySelector('#detail b').textContent")
        assert said == name
    Select(browser.find_element(By.ID, "point-colour")).select_by_value("domain")
    legend = browser.find_element(By.ID, "point-legend").text
    assert HOSTILE[0] in legend
    # An open alert would make every command fail; images and foreign scripts would be elements.
    assert browser.find_elements(By.CSS_SELECTOR, "img") == []
    assert len(browser.find_elements(By.TAG_NAME, "script")) == 2


def test_colours_and_projections_can_be_chosen(opened, make_page) -> None:
    browser = opened(make_page(["a", "b", "c", "d"]))
    fills = (
        "return Array.from(document.querySelectorAll('.node path'), (p) => p.getAttribute('fill'))"
    )
    before = browser.execute_script(fills)
    assert before[0] is None, "a source has no estimate"
    assert browser.find_element(By.CSS_SELECTOR, '.node[data-at="0"] path').get_attribute("d") != (
        browser.find_element(By.CSS_SELECTOR, '.node[data-at="1"] path').get_attribute("d")
    ), "sources and targets differ in shape"
    choice = Select(browser.find_element(By.ID, "graph-colour"))
    for option in [each.get_attribute("value") for each in choice.options]:
        choice.select_by_value(option)
    assert browser.execute_script(fills) != before
    for name in ("projection", "point-colour"):
        choice = Select(browser.find_element(By.ID, name))
        for option in [each.get_attribute("value") for each in choice.options]:
            choice.select_by_value(option)
            assert len(browser.find_elements(By.CSS_SELECTOR, "#point-box path")) == 60


def test_a_thousand_domains(opened, make_page) -> None:
    browser = opened(make_page([f"shop {at:04d}" for at in range(1000)]))
    click = "arguments[0].dispatchEvent(new MouseEvent('click', {bubbles: true}))"
    browser.execute_script(click, node(browser, 777))
    assert picked(browser) == ["shop 0777"]
    row = browser.find_element(By.CSS_SELECTOR, "tbody tr.picked")
    box = browser.find_element(By.ID, "table-box")
    assert box.rect["y"] < row.rect["y"] < box.rect["y"] + box.rect["height"], "scrolled into view"


def test_a_page_of_results(opened) -> None:
    from types import SimpleNamespace

    runs = [
        SimpleNamespace(
            task="t",
            method=method,
            seed=seed,
            metric="accuracy",
            mean=80.0 + seed,
            worst=60.0,
            levels={"1": 80.0},
            seconds=1.0,
        )
        for method in ("grda", "plain", "<b>mine</b>")
        for seed in range(3)
    ]
    browser = opened(collect_results(runs), width=360)
    bars = browser.find_elements(By.CSS_SELECTOR, ".bars rect")
    assert len(bars) == 3
    assert all(bar.rect["width"] > 50 for bar in bars)
    assert browser.execute_script("return document.scrollingElement.scrollWidth") <= 360
    assert "<b>mine</b>" in browser.find_element(By.CSS_SELECTOR, ".bars").text
