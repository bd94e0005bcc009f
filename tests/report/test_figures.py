import importlib
import sys
import xml.etree.ElementTree as ET

import numpy as np
import pandas as pd
import pytest

import grada
from grada.datasets import Task, make_dg
from grada.graph import DomainGraph

pytest.importorskip("matplotlib", reason='needs "grada[figures]"')

import matplotlib
from matplotlib.colors import to_rgba

from grada.report import figures
from grada.report._graphs import blue_to_red
from grada.report._layout import layout

ODD = ["$x", "$\\frac$", "_hidden", "two words", "<&--'\">", "\\$", "Ünï", "%d {}"]


def legend(figure):
    return [text.get_text() for text in figure.legends[0].get_texts()]


def by_gid(axes, gid):
    return [artist for artist in axes.get_children() if artist.get_gid() == gid]


def lightness(colour):
    return np.dot(to_rgba(colour)[:3], [0.299, 0.587, 0.114])


# ------------------------------------------------------------------- graphs


def test_a_better_score_is_redder_and_darker_on_paper():
    colours = blue_to_red()(np.linspace(0, 1, 101))
    light = colours[:, :3] @ [0.299, 0.587, 0.114]
    assert (np.diff(light) < 0).all()
    assert light[0] - light[-1] > 0.35
    (worst, best) = colours[0], colours[-1]
    assert worst[2] > worst[0]
    assert best[0] > best[2]
    # black text on the darkest: at least 4.5 to 1 by the usual measure of contrast
    linear = ((best[:3] + 0.055) / 1.055) ** 2.4
    assert (linear @ [0.2126, 0.7152, 0.0722] + 0.05) / 0.06 > 4.5


@pytest.mark.parametrize("higher_is_better", [True, False])
def test_score_graphs(higher_is_better):
    graph = DomainGraph.chain(["a", "b", "c", "d", "e"])
    scores = {"GRDA": {"b": 90.0, "c": 50.0, "d": 10.0}, "DANN": {"a": 99.0, "b": 20.0, "e": 30.0}}
    figure = figures.score_graphs((graph, ["a"]), scores, higher_is_better=higher_is_better)
    names, grda, dann, bar = figure.axes
    assert [text.get_text() for text in names.texts] == list("abcde")
    assert grda.get_title() == "GRDA\nmean 50.0"
    assert dann.get_title() == "DANN\nmean 25.0"  # the source's own score does not count

    (targets,) = by_gid(grda, "targets")  # b, c, d, e
    fills = targets.get_facecolors()
    light = [lightness(fill) for fill in fills[:3]]
    assert light == sorted(light, reverse=not higher_is_better)
    assert lightness(fills[3]) == pytest.approx(1.0)  # e has no score
    assert [text.get_text() for text in grda.texts] == ["", "90", "50", "10", ""]
    (sources,) = by_gid(grda, "sources")
    assert len(sources.get_paths()[0].vertices) != len(targets.get_paths()[0].vertices)
    assert sources.get_linewidths()[0] > targets.get_linewidths()[0]

    assert legend(figure) == ["source", "target", "white: no score"]
    # the best end of the bar is on top
    low, high = bar.get_ylim()
    assert (low < high) == higher_is_better


def test_score_graphs_of_a_regression_task():
    graph = DomainGraph.chain(3)
    task = Task(
        np.zeros((3, 1)), [0.0, 1, 2], [0, 1, 2], graph=graph, sources=[0], kind="regression"
    )
    scores = {"ridge": {1: 0.25, 2: 4.5}, "exploded": {1: 1e6, 2: np.inf}}
    figure = figures.score_graphs(task, scores, scale=(0, 2), names=False)
    assert figure.axes[-1].get_ylabel() == "squared error, darker is better"
    ridge, exploded, _ = figure.axes
    assert [text.get_text() for text in ridge.texts] == ["", ".25", "4.5"]
    assert [text.get_text() for text in exploded.texts] == ["", "≫", ""]


def test_score_graphs_names_what_is_wrong():
    graph = DomainGraph.chain(["a", "b"])
    with pytest.raises(ValueError, match="'c'"):
        figures.score_graphs((graph, ["a"]), {"GRDA": {"c": 1.0}})
    with pytest.raises(ValueError, match="'GRDA' has no scores"):
        figures.score_graphs((graph, ["a"]), {"GRDA": {}})
    with pytest.raises(ValueError, match="no place for 1 of 2 domains, the first of them 'b'"):
        figures.role_graph(graph, ["a"], {"a": (0, 0)})
    with pytest.raises(ValueError, match=r"lowest, highest"):
        figures.score_graphs((graph, ["a"]), {"GRDA": {"b": 1.0}}, scale=(1, 1))


def test_role_graph_keeps_given_places_and_shades_levels():
    graph = DomainGraph.from_edges([("w", "c"), ("c", "e"), ("e", "f")], names=list("wcefi"))
    places = {"w": (-10, 0), "c": (0, 1), "e": (10, 0), "f": (20, 5), "i": (20, -5)}
    figure = figures.role_graph(graph, ["w"], places, levels=True)
    (axes,) = figure.axes
    (targets,) = by_gid(axes, "targets")
    (sources,) = by_gid(axes, "sources")
    shown = np.vstack([np.asarray(nodes.get_offsets()) for nodes in (sources, targets)])
    x, y = shown.T
    assert x == pytest.approx(np.interp([-10, 0, 10, 20, 20], [-10, 20], x[[0, 3]]), abs=0.1)
    assert np.ptp(x) / np.ptp(y) == pytest.approx(3, abs=0.01)  # one scale for both
    light = [lightness(fill) for fill in targets.get_facecolors()]
    assert light[0] < light[1] < light[2] == light[3]
    assert lightness(sources.get_facecolors()[0]) == 0
    assert legend(figure)[1:] == [
        "target, 1 hop",
        "target, 2 hops",
        "target, 3+ hops or unreachable",
    ]


@pytest.mark.parametrize(
    "graph",
    [
        DomainGraph.chain(1),
        DomainGraph.from_edges([(0, 1), (2, 3)], names=range(6)),  # two parts, two loners
        DomainGraph.clique(12),
        DomainGraph.star("hub", list(range(20))),
        DomainGraph.chain(1000),
    ],
    ids=["one", "parts", "clique", "star", "large"],
)
def test_any_graph_finds_its_place(graph):
    assert np.array_equal(layout(graph), layout(graph))
    (axes,) = figures.role_graph(graph, [graph.names[0]]).axes
    places = np.concatenate(
        [nodes.get_offsets() for kind in ("sources", "targets") for nodes in by_gid(axes, kind)]
    )
    assert len(places) == graph.n_domains
    assert np.isfinite(places).all()
    assert (places >= 0).all()
    assert (places <= [axes.get_xlim()[1], axes.get_ylim()[1]]).all()
    if graph.n_domains < 100:
        diameter = np.sqrt(by_gid(axes, "sources")[0].get_sizes()[0])
        gaps = np.linalg.norm(places[:, None] - places, axis=2) + 1e6 * np.eye(len(places))
        assert gaps.min() > diameter


def test_nodes_in_one_place_are_moved_apart():
    graph = DomainGraph.chain(6)
    (axes,) = figures.role_graph(
        graph, [0], [(0, 0), (0, 0), (0, 0), (0.1, 0), (5, 5), (9, 0)]
    ).axes
    (targets,) = by_gid(axes, "targets")
    places = np.asarray(targets.get_offsets())
    gaps = np.linalg.norm(places[:, None] - places, axis=2) + 1e6 * np.eye(len(places))
    assert gaps.min() > np.sqrt(targets.get_sizes()[0])


def test_neighbours_stand_together():
    places = layout(DomainGraph.chain(10))
    gaps = np.linalg.norm(places[:, None] - places, axis=2)
    assert gaps[0].argmax() == 9
    assert (np.diag(gaps, 1) < np.diag(gaps, 2).min()).all()


# --------------------------------------------------------------- boundaries


def test_boundaries_show_the_true_direction():
    # Class 1 lies east of class 0 in domain a, north in b; c has one class only.
    X = [[-1, 0], [1, 0], [0, -2], [0, 2], [5, 5]]
    graph = DomainGraph.chain(["a", "b", "c"])
    task = Task(
        X,
        ["n", "y", "n", "y", "y"],
        list("aabbc"),
        graph=graph,
        sources=["a"],
        kind="classification",
    )
    figure = figures.boundaries(task)
    (axes,) = figure.axes
    assert [(w.theta1, w.theta2) for w in by_gid(axes, "second class")] == [(-90, 90), (0, 180)]
    assert [(w.theta1, w.theta2) for w in by_gid(axes, "first class")] == [(90, 270), (180, 360)]
    second, first = by_gid(axes, "second class")[0], by_gid(axes, "first class")[0]
    assert lightness(first.get_facecolor()) - lightness(second.get_facecolor()) > 0.3
    assert first.get_hatch() != second.get_hatch()
    assert len(by_gid(axes, "source")) == 1
    assert legend(figure) == ["class y", "class n", "source"]


def test_boundaries_follow_the_angles_of_dg():
    task = make_dg(n_domains=8, n_sources=3, random_state=1)
    (axes,) = figures.boundaries(task).axes
    shown = [np.radians(wedge.theta1 + 90) for wedge in by_gid(axes, "second class")]
    # class 0 lies in the direction of the angle, class 1 opposite
    angle = [task.metadata["angle"][name] + np.pi for name in task.graph.names]
    assert np.cos(np.subtract(shown, angle)).min() > 0.95


def test_boundaries_refuse_other_tasks():
    graph = DomainGraph.chain(2)
    task = Task(
        np.zeros((4, 3)),
        [0, 1, 0, 1],
        [0, 0, 1, 1],
        graph=graph,
        sources=[0],
        kind="classification",
    )
    with pytest.raises(ValueError, match="3 features and 2 classes"):
        figures.boundaries(task)


# ------------------------------------------------------------------- curves


def test_loss_curve_draws_loss_bound_and_the_measured_probes():
    nan = float("nan")
    history = {
        "prediction_loss": [1.0, 0.5, 0.2, 0.1],
        "discriminator_loss": [0.5, 0.6, 0.68, 0.69],
        "discriminator_bound": [0.69] * 4,
        "probe_loss": [nan, 0.6, nan, 0.67],
    }
    figure = figures.loss_curve({"one": history, "two": {"discriminator_loss": [0.4]}})
    one, two = figure.axes
    loss, bound, probe = one.lines
    assert loss.get_ydata().tolist() == history["discriminator_loss"]
    assert loss.get_xdata().tolist() == [1, 2, 3, 4]
    assert bound.get_linestyle() != loss.get_linestyle()
    assert probe.get_xydata().tolist() == [[2, 0.6], [4, 0.67]]
    assert (one.get_title(), two.get_title()) == ("one", "two")
    assert legend(figure) == [
        "discriminator loss",
        "theoretical optimum",
        "fresh discriminator (probe)",
    ]
    assert len(figures.loss_curve(history).axes) == 1
    with pytest.raises(ValueError, match="no 'discriminator_loss', only 'prediction_loss'"):
        figures.loss_curve({"prediction_loss": [1.0]})


@pytest.mark.parametrize("panels", [True, False])
def test_series(panels):
    months = pd.period_range("2008-01", periods=24, freq="M", name="month")
    frame = pd.DataFrame(np.arange(72.0).reshape(24, 3), index=months, columns=list("abc"))
    figure = figures.series(frame, ["c", "a"], ylabel="temperature (°F)", panels=panels)
    assert len(figure.axes) == (2 if panels else 1)
    lines = [line for axes in figure.axes for line in axes.lines]
    assert lines[0].get_ydata().tolist() == frame["c"].tolist()
    assert figure.get_supylabel() == "temperature (°F)"
    if not panels:
        assert legend(figure) == ["c", "a"]
        assert lines[0].get_linestyle() != lines[1].get_linestyle()
    with pytest.raises(ValueError, match="no column 'z'"):
        figures.series(frame, ["z"], ylabel="")


def test_score_by_sources_beside_the_published():
    figure = figures.score_by_sources(
        {"GRDA": {4: [70.0, 80.0], 1: [50.0]}}, published={"GRDA": {1: 64.7}, "DANN": {1: 42.1}}
    )
    (axes,) = figure.axes
    assert legend(figure) == ["GRDA (mean ± std)", "GRDA, published", "DANN, published"]
    line, _, (bars,) = axes.containers[0]
    assert line.get_ydata().tolist() == [50.0, 75.0]
    spans = [np.ptp(segment[:, 1]) for segment in bars.get_segments()]
    assert spans == pytest.approx([0.0, 2 * np.std([70, 80], ddof=1)])
    assert axes.get_xticks().tolist() == [1, 4]


def test_score_bars():
    figure = figures.score_bars(
        {"dg15": {"GRDA": (84.0, 2.0)}, "tpt48-ew": {"GRDA": (1.2, 0.1)}},
        published={"tpt48-ew": {"GRDA": 1.297, "DANN": 1.9}},
        label={"dg15": "accuracy (%)", "tpt48-ew": "squared error"},
    )
    assert [axes.get_xlabel() for axes in figure.axes] == ["accuracy (%)", "squared error"]
    assert [text.get_text() for text in figure.axes[1].get_yticklabels()] == ["GRDA", "DANN"]
    assert legend(figure) == ["mean ± std", "published"]


# ---------------------------------------------------------------- encodings


def test_encodings_of_the_chosen_domains():
    rng = np.random.default_rng(0)
    rows, domain = rng.normal(size=(30, 4)), np.repeat([0, 1, 7], 10)
    label = np.tile(["no", "yes"], 15)
    rows[domain == 1] = np.nan  # not chosen, so of no matter
    figure = figures.encodings(
        {"GRDA": (rows, domain, label), "DANN": (rows[:, :1], domain)}, domains=[7, 0]
    )
    grda, dann = figure.axes
    assert sum(len(points.get_offsets()) for points in grda.collections) == 20
    assert [len(points.get_facecolors()) > 0 for points in grda.collections] == [True, False] * 2
    shapes = {points.get_paths()[0].vertices.tobytes() for points in dann.collections}
    assert len(shapes) == 2
    assert legend(figure) == ["7", "0", "class no", "class yes"]
    with pytest.raises(ValueError, match="'GRDA' has no row of domain 9"):
        figures.encodings({"GRDA": (rows, domain)}, domains=[9])


def test_chain_of_three_tells_an_equilibrium_from_none():
    rng = np.random.default_rng(0)
    outer = rng.normal([[-2], [2]], 1, size=(2, 500))
    even = rng.permutation(outer.ravel())[:500]
    domain = np.repeat(["a", "b", "c"], 500)

    def variation(middle):
        rows = np.concatenate([outer[0], middle, outer[1]])
        turned = rows[:, None] * np.array([[0.6, 0.8]])  # two features on one line
        figure = figures.chain_of_three(turned, domain, ["a", "b", "c"])
        assert [text.get_text() for text in figure.axes[1].get_legend().get_texts()] == [
            "b, the middle",
            "mean of a and c",
        ]
        words = figure.axes[1].get_title().split()
        return float(words[2]), float(words[5].rstrip(")"))

    reached, chance = variation(even)
    assert reached < 1.5 * chance
    missed, chance = variation(rng.normal(0, 0.3, size=500))
    assert missed > 5 * chance


# ------------------------------------------------------------ all the figures


def test_odd_names_are_drawn_as_they_are(tmp_path):
    graph = DomainGraph.chain(ODD)
    scores = {name: dict.fromkeys(ODD, 50.0) for name in ODD[:3]}
    months = pd.period_range("2008-01", periods=3, freq="M")
    X = np.random.default_rng(0).normal(size=(4 * len(ODD), 2))
    domain = np.repeat(ODD, 4)
    task = Task(
        X,
        np.tile([0, 1], 2 * len(ODD)),
        domain,
        graph=graph,
        sources=ODD[:1],
        kind="classification",
    )
    made = {
        "scores": figures.score_graphs(task, scores),
        "roles": figures.role_graph(graph, ODD[:2], title="$"),
        "boundaries": figures.boundaries(task),
        "loss": figures.loss_curve({name: {"discriminator_loss": [0.1, 0.2]} for name in ODD[:3]}),
        "series": figures.series(
            pd.DataFrame(1.0, index=months, columns=ODD), ylabel="$", panels=False
        ),
        "encodings": figures.encodings({"$a$ ^": (X, domain)}, method="pca"),
        "chain": figures.chain_of_three(X, domain, ODD[:3]),
        "sources": figures.score_by_sources({name: {1: [50.0, 60.0]} for name in ODD}),
        "bars": figures.score_bars({ODD[1]: dict.fromkeys(ODD, (1.0, 0.1))}),
    }
    assert legend(made["encodings"]) == [name.replace("_h", " _h") for name in ODD]
    assert legend(made["series"]) == legend(made["encodings"])
    for figure in made.values():
        figure.draw_without_rendering()
    png, svg = figures.save(made["roles"], tmp_path / "new folder" / "roles")
    assert png.read_bytes()[:4] == b"\x89PNG"
    ET.fromstring(svg.read_bytes())


def test_two_saves_have_the_same_bytes(tmp_path):
    task = make_dg(n_domains=6, n_sources=2, rows_per_domain=10, random_state=0)

    def draw():
        return [
            figures.loss_curve({"discriminator_loss": [0.5, 0.6, 0.7]}),
            figures.boundaries(task),  # hatches have ids of their own
        ]

    for first, second in zip(draw(), draw(), strict=True):
        once = [path.read_bytes() for path in figures.save(first, tmp_path / "v1.0")]
        assert [path.read_bytes() for path in figures.save(first, tmp_path / "v1.0")] == once
        assert [path.read_bytes() for path in figures.save(second, tmp_path / "v2.0.svg")] == once
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "v1.0.png",
        "v1.0.svg",
        "v2.0.png",
        "v2.0.svg",
    ]


def test_the_callers_style_is_neither_used_nor_changed():
    with matplotlib.rc_context({"text.color": "white", "axes.facecolor": "black"}):
        before = dict(matplotlib.rcParams)
        figure = figures.loss_curve({"discriminator_loss": [0.5]}, title="$dark")
        assert dict(matplotlib.rcParams) == before
    (axes,) = figure.axes
    assert axes.title.get_text() == "$dark"
    assert lightness(axes.title.get_color()) < 0.2
    assert lightness(axes.get_facecolor()) == pytest.approx(1.0)


def test_without_matplotlib_the_error_names_the_extra(monkeypatch):
    for name in [name for name in sys.modules if name.startswith("grada.report")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(grada, "report", grada.report)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    fresh = importlib.import_module("grada.report.figures")  # the import alone does no harm
    assert fresh is not figures
    with pytest.raises(ImportError, match=r"grada\[figures\]"):
        fresh.loss_curve({"discriminator_loss": [0.5]})
