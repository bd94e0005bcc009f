"""One self-contained HTML page: a fitted model on its domains, or the runs of a benchmark.

The page works offline: style, script and data are in the file, and a content security policy
lets nothing else run or load. The drawings are our own few hundred lines of SVG: plotly's bundle
alone has 4.5 MB, takes seconds to open, and knows neither selection by keyboard nor shapes that
tell sources from targets.

>>> from grada.report.page import PageData, render
>>> text = render(PageData(title="Shops", kind="results", metric="accuracy", verdict="Fine."))
>>> text.startswith("<!doctype html>")
True
"""

from grada.report.page.collect import collect
from grada.report.page.data import PageData
from grada.report.page.render import render
from grada.report.page.results import collect_results
from grada.report.page.strict import PageFormatError

__all__ = ["PageData", "PageFormatError", "collect", "collect_results", "render"]
