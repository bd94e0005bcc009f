import json

import pytest

from grada.report.page import PageData, PageFormatError
from grada.report.page.data import class_name, clean


def test_json_and_back(make_page) -> None:
    page = make_page(["a", "</script>", "שלום", "\u2028"])
    assert PageData.from_json(page.to_json()) == page


def spoiled(page: PageData, change) -> str:
    found = json.loads(page.to_json())
    change(found)
    return json.dumps(found)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda page: page.update(format=2), "format 2"),
        (lambda page: page.update(extra=1), "page.extra is not known"),
        (lambda page: page.pop("title"), "page.title is missing"),
        (lambda page: page.update(title=None), "page.title: cannot be null"),
        (lambda page: page.update(kind="clustering"), "page.kind"),
        (lambda page: page["domains"][1].update(n_rows=1.5), r"page.domains\[1\].n_rows"),
        (lambda page: page["domains"][1].update(n_rows=True), r"page.domains\[1\].n_rows"),
        (lambda page: page["domains"][0].update(x="0"), r"page.domains\[0\].x"),
        (lambda page: page["domains"].append(3), r"page.domains\[3\]"),
        (lambda page: page["edges"].append([0, 99, 1.0]), "beyond the 3"),
        (lambda page: page["edges"].append([0, 1]), "page.edges"),
        (lambda page: page["encodings"]["group"].pop(), "differ in length"),
        (lambda page: page["encodings"].update(domain=[]), "differ in length"),
        (lambda page: page["settings"].update(method=3), "page.settings.method"),
        (lambda page: page["levels"][0].update(estimate=float("nan")), "NaN"),
    ],
)
def test_what_is_not_a_page_is_refused_by_the_field(make_page, change, said: str) -> None:
    with pytest.raises(PageFormatError, match=said):
        PageData.from_json(spoiled(make_page(["a", "b", "c"]), change))


@pytest.mark.parametrize("text", ["", "[]", "3", "{", "null", '"page"', b"\xff\xfe", "[" * 99_999])
def test_other_files_are_refused_in_words(text) -> None:
    with pytest.raises(PageFormatError, match="report page"):
        PageData.from_json(text)


def test_texts_that_no_page_can_hold() -> None:
    assert clean("a\x00b\ud800c\x85d\ne") == "a\ufffdb?c\ufffdd\ne"
    assert clean(7) == "7"
    assert [class_name(x) for x in (1.0, 1.5, 1, True, "x")] == ["1", "1.5", "1", "True", "x"]
