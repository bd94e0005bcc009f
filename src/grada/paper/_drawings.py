"""The paper's figures, drawn from runs of the benchmark and from a few fits."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from grada import theory
from grada.benchmark import Summary, load_task, method_names, published_tasks, summarize
from grada.datasets import Task, state_temperatures
from grada.datasets._files import DataNotFoundError
from grada.estimators import AdaptedClassifier
from grada.graph import DomainGraph, Name
from grada.methods import Method
from grada.methods.grda import GRDA
from grada.paper._figures_of_the_paper import BY_SOURCES
from grada.paper._page import Context, Part
from grada.paper._tables import jobs_for, place, scores_by_sources, sources_jobs, title_of
from grada.report import figures
from grada.training import AdaptationWarning

#: Domains of DG-15 whose encodings the paper shows: 9, 7 and 1 are neighbours, 0 is far from 9.
SHOWN_DOMAINS = (0, 1, 7, 9)
SHOWN_STATES = ("CA", "FL", "MN", "TX")


def scores_dg15(context: Context) -> Part:
    """Accuracy in each domain of DG-15."""
    return _scores(context, "dg15", "DG-15: accuracy in each domain, leak-free")


def scores_dg60(context: Context) -> Part:
    """Accuracy in each domain of DG-60."""
    return _scores(context, "dg60", "DG-60: accuracy in each domain, leak-free")


def scores_tpt48(context: Context) -> Part:
    """Error in each state, from east to west."""
    return _scores(context, "tpt48-ew", "TPT-48, E(24) → W(24): error in each state, leak-free")


def scores_compcars(context: Context) -> Part:
    """Accuracy in each domain of CompCars, where the images are."""
    title = "CompCars: accuracy in each domain, leak-free"
    try:
        load_task("compcars")
    except DataNotFoundError:
        return Part(title, "Drawn when the images are there; see Table 3.\n")
    return _scores(context, "compcars", title)


def _scores(context: Context, name: str, title: str) -> Part:
    task = load_task(name)
    methods = sorted(method_names(task.kind), key=place)
    records = context.run(jobs_for(name, methods, context.seeds))
    found = {title_of(one.method): one.domains for one in summarize(records)}
    accuracy = task.kind == "classification"
    if accuracy and name in published_tasks():
        leaking = context.run(jobs_for(name, ["grda"], context.seeds, "published"))
        found["GRDA, published protocol: LEAKS"] = Summary.of(leaking).domains
    figure = figures.score_graphs(
        task,
        found,
        positions=_positions(task),
        scale=(0, 100) if accuracy else (0, _upper(found)),
        higher_is_better=accuracy,
        columns=5 if accuracy else 4,
    )
    caption = (
        "The domain graph, once for each method: the mean over seeds in each target, printed and "
        "shown by colour (darker is better). Squares are sources."
    )
    return _drawn(context, name, figure, title, caption, code=[r.code for r in records])


def _upper(found: Mapping[str, Mapping[Any, float]]) -> float:
    """Most methods' errors fit below this; the few above it are drawn like it."""
    every = [score for scores in found.values() for score in scores.values()]
    return float(np.ceil(10 * np.quantile(every, 0.9)) / 10)


def by_sources(context: Context) -> Part:
    """Accuracy against the number of sources."""
    records = context.run(sources_jobs())
    found = scores_by_sources(records, "leak-free")
    scores = {title_of(name): counts for name, counts in found.items()}
    published = {title_of(name): figures for name, figures in BY_SOURCES.items()}
    figure = figures.score_by_sources(scores, published)
    caption = (
        "DG-15: mean and spread over random connected sets of sources, leak-free; the separate "
        "marks are the paper's figures."
    )
    title = "Number of source domains: a picture"
    code = [record.code for record in records]
    return _drawn(context, "sources", figure, title, caption, code=code)


def loss(context: Context) -> Part:
    """Discriminator loss against its theoretical optimum."""
    histories = {}
    for label, name in (("DG-15", "dg15"), ("DG-60", "dg60")):
        task = load_task(name)
        bound = theory.entropy_bound(task.graph.weights)
        fitted = _fit(task, GRDA(pair_loss="plain"))
        histories[f"{label}, H(E[A]) = {bound:.3f}"] = fitted.history_
    caption = (
        "GRDA with the paper's plain pair loss, leak-free. The dashed line is the bound of Theorem "
        "4.1, which a blind discriminator reaches. Diamonds are fresh discriminators retrained on "
        "the encodings as they are: only when they are at the bound too, the domains are aligned. "
        "Dips: a discriminator that had gone blind was replaced by such a fresh one."
    )
    title = "Discriminator loss and its theoretical optimum"
    return _drawn(context, "loss", figures.loss_curve(histories), title, caption)


def chain(context: Context) -> Part:
    """Proposition 4.1: the middle of a chain of three becomes the average of its ends."""
    task = chain_task()
    fitted = _fit(task, GRDA(pair_loss="plain", strength=3.0))
    encoded = fitted.transform(task.X, sample_domain=task.domain)
    figure = figures.chain_of_three(encoded, task.domain, task.graph.names)
    caption = (
        "Three domains a - b - c, shifted against each other, after training: by Proposition 4.1 "
        "the loss is at its optimum exactly when the encodings of the middle domain are "
        "distributed like the average of those of the two ends. Generated task, "
        "first principal axis of the encodings."
    )
    return _drawn(context, "chain", figure, "A chain of three at equilibrium", caption)


def chain_task(rows: int = 400, random_state: int = 0) -> Task:
    """Three domains in a chain, each shifted against the one before; labels in the first.

    Parameters
    ----------
    rows : int
        Rows of each domain.
    random_state : int

    Returns
    -------
    Task
    """
    rng = np.random.default_rng(random_state)
    graph = DomainGraph.chain(["a", "b", "c"])
    domain = np.repeat(graph.names, rows)
    label = rng.integers(2, size=3 * rows)
    X = rng.normal(size=(3 * rows, 2))
    X[:, 0] += np.repeat([-2.0, 0.0, 2.0], rows)
    X[:, 1] += 4.0 * label
    return Task(
        X, label, domain, graph=graph, sources=["a"], kind="classification", name="chain-of-three"
    )


def encodings(context: Context) -> Part:
    """Encodings of chosen domains, GRDA beside DANN."""
    task = load_task("dg15")
    panels = {}
    for name in ("grda", "dann"):
        fitted = _fit(task, name)
        encoded = fitted.transform(task.X, sample_domain=task.domain)
        panels[title_of(name)] = (encoded, task.domain, task.reveal())
    figure = figures.encodings(panels, domains=SHOWN_DOMAINS)
    caption = (
        "t-SNE of the encodings of domains 0, 1, 7 and 9 of DG-15, leak-free, one fit each. "
        "Domains 9, 7 and 1 are neighbours, 0 is far from 9. Filled and hollow marks are the two "
        "true classes."
    )
    return _drawn(context, "encodings", figure, "Encodings: GRDA beside DANN", caption)


def boundaries(context: Context) -> Part:
    """Each domain's boundary, DG-15 and DG-60."""
    files: list[Path] = []
    text = ""
    for name in ("dg15", "dg60"):
        path = context.figure(f"boundaries-{name}")
        files += figures.save(figures.boundaries(load_task(name)), path)
        text += f"![Boundaries of {name}](figures/{path.name}.png)\n\n"
    caption = (
        "The two classes of each domain lie on the two sides of its disc. A frame marks a source. "
        "Far from the sources each class lies where the other one was.\n"
    )
    return Part("The DG tasks: the boundary of each domain", text + caption, files=files)


def temperatures(context: Context) -> Part:
    """Temperature series of four states."""
    frame = state_temperatures()
    frame = frame.loc["2008":"2019", list(SHOWN_STATES)]
    figure = figures.series(frame, ylabel="monthly mean temperature (°F)")
    title = "TPT-48: temperatures of four states"
    caption = "Monthly mean temperature, 2008 to 2019, from NOAA's nClimDiv state file."
    return _drawn(context, "temperatures", figure, title, caption)


def states(context: Context) -> Part:
    """The graph of the states, sources black and targets white."""
    files: list[Path] = []
    text = ""
    for name, label in (("tpt48-ew", "E(24) → W(24)"), ("tpt48-ns", "N(24) → S(24)")):
        task = load_task(name)
        path = context.figure(f"states-{name}")
        figure = figures.role_graph(task.graph, task.sources, positions=_positions(task))
        files += figures.save(figure, path)
        text += f"{label}:\n\n![Graph of {label}](figures/{path.name}.png)\n\n"
    caption = "States that share a border are joined. Sources are black, targets white.\n"
    return Part("TPT-48: the graph of the states", text + caption, files=files)


def _positions(task: Task) -> dict[Name, tuple[float, float]] | None:
    """Places on a map, with a degree of longitude as short as it is in the middle of the map."""
    places = task.metadata.get("position")
    if places is None:
        return None
    middle = np.radians(np.mean([latitude for _, latitude in places.values()]))
    return {name: (x * float(np.cos(middle)), y) for name, (x, y) in places.items()}


def _fit(task: Task, method: str | Method) -> AdaptedClassifier:
    X, y, domain = task.visible()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AdaptationWarning)
        model = AdaptedClassifier(method, task.graph, random_state=0)
        return model.fit(X, y, sample_domain=domain)


def _drawn(
    context: Context, name: str, figure: Any, title: str, caption: str, **others: Any
) -> Part:
    path = context.figure(name)
    files = figures.save(figure, path)
    text = f"![{title}](figures/{path.name}.png)\n\n{caption}\n"
    return Part(title, text, files=files, **others)
