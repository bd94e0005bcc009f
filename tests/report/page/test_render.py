import base64
import hashlib
import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from grada.report.page import PageData, render

HOSTILE = [
    "<script>alert(1)</script>",
    '"; drop',
    "</script><script>alert(2)</script>",
    "&amp;",
    "<!--",
    "{{ 7 * 7 }}",
    "' onmouseover='alert(3)",
    "<img src=x onerror=alert(4)>",
    "🙂 café",
    "שלום עולם",
    "n" * 300,
    "two\nlines",
    "\u2028\u2029",
    "",
]


class Seen(HTMLParser):
    """Elements, the texts in them, and what they refer to."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.texts: dict[str, list[str]] = {}

    def handle_starttag(self, tag, attrs) -> None:
        self.tags.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]

    def handle_data(self, data: str) -> None:
        if self.tags:
            self.texts.setdefault(self.tags[-1], []).append(data)


def parsed(text: str) -> Seen:
    seen = Seen()
    seen.feed(text)
    return seen


@pytest.fixture(scope="module")
def hostile(make_page) -> PageData:
    """Every text of the page is one that would do harm if it were not escaped."""
    page = make_page(HOSTILE)
    bad = "</script><script>alert(9)</script>"
    pairs = {bad: bad}
    return replace(
        page,
        title=bad,
        verdict=bad,
        method=bad,
        training=bad,
        headlines=tuple(replace(each, label=bad, value=bad, note=bad) for each in page.headlines),
        outputs=(bad, bad),
        candidates=tuple(
            replace(each, name=bad, problem=bad, notes=(bad,)) for each in page.candidates
        ),
        summary=pairs,
        warnings=(bad,),
        notes=(bad,),
        settings=pairs,
        versions=pairs,
        checksums=pairs,
        command=bad,
    )


def test_what_a_user_wrote_stays_text(hostile: PageData) -> None:
    seen = parsed(render(hostile))
    assert seen.tags.count("script") == 2
    assert not {"img", "iframe", "object", "embed", "form"} & set(seen.tags)
    assert not [each for each in seen.attributes if each[1].startswith("on")]
    names = [text for text in seen.texts["button"] if text in HOSTILE]
    assert names == [name for name in HOSTILE if name]


def test_the_embedded_data_are_the_data(hostile: PageData) -> None:
    text = render(hostile)
    block = re.search(r'<script type="application/json" id="page-data">(.*?)</script>', text, re.S)
    assert block is not None
    assert not re.search("[<>&\u2028\u2029]", block[1])
    assert PageData.from_json(block[1]) == hostile
    assert json.loads(block[1])["domains"][0]["name"] == HOSTILE[0]


def test_nothing_is_loaded_and_only_the_own_script_may_run(make_page) -> None:
    text = render(make_page(["a", "b"]))
    seen = parsed(text)
    refers = {value for _, name, value in seen.attributes if name in ("href", "src", "action")}
    assert all(value.startswith("#") or value == "data:," for value in refers)
    assert not re.findall(r"url\(|@import|fetch\(|XMLHttp|innerHTML|insertAdjacent|eval\(", text)
    policy = next(value for tag, _, value in seen.attributes if "default-src" in value)
    script = re.findall(r"<script>(.*?)</script>", text, re.S)
    style = re.findall(r"<style>(.*?)</style>", text, re.S)
    for part in (*script, *style):
        digest = base64.b64encode(hashlib.sha256(part.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy
    assert "unsafe" not in policy


def test_a_thousand_domains_fit(make_page) -> None:
    text = render(make_page([f"shop {at}" for at in range(1000)]))
    assert len(text.encode()) < 2_000_000


def test_bare_pages_are_pages_too() -> None:
    for kind in ("classification", "regression", "results"):
        text = render(PageData(title="", kind=kind, metric="accuracy", verdict=""))
        assert "Domain by domain" not in text
        assert parsed(text).tags.count("h1") == 1


def test_every_table_has_heads(make_page) -> None:
    seen = parsed(render(make_page(["a", "b", "c"])))
    scopes = [value for tag, name, value in seen.attributes if (tag, name) == ("th", "scope")]
    assert len(scopes) == seen.tags.count("th")
    assert scopes.count("row") == 3 + 2 + 2
