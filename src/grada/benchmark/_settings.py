"""The settings of every method in the benchmark's tables, in one place.

**Leak-free** runs use the defaults of each method, on every task. The defaults were chosen on
generated tasks with seeds of their own (two Gaussians apart, translated, scaled and rotated;
chains drifting along an arc; shifts in ten features; generated DG tasks; the generated regression
tasks of the tests), never by a label of a target of these tasks. `LEAK_FREE` holds the exceptions.

**Published** runs use what the paper's text and its code say: networks of 3 + 2 layers, predictor
of 3, discriminator of 6, weights from N(0, 0.01²), Adam with a rate that is halved every 100
epochs, 500 epochs of 10 steps, 10 rows of every domain a step, no bound on anything. GRDA has
its full width of 512; the methods it is compared with are 64 wide, which is as accurate on these
tasks and 20 times quicker (the initial weights keep the size of their sums).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from grada.benchmark._peers import peers
from grada.benchmark._published import PublishedGRDA
from grada.datasets import Task
from grada.methods import Method, available, resolve
from grada.methods._neural import NeuralMethod

Protocol = Literal["leak-free", "published"]

#: Settings that differ from a method's defaults, by method and task.
LEAK_FREE: Mapping[str, Mapping[str, Mapping[str, Any]]] = {}

_PAPER_WIDTH = 512
_NARROW = 64
_NARROW_INIT = 0.01 * (_PAPER_WIDTH / _NARROW) ** 0.5

#: What the published code sets for a task: learning rate, weight of the discriminator's loss, and
#: domains that the discriminator sees in a step. DG-15 ships with a weight of 1, at
#: which its discriminator learns nothing; its author advises 0.1 to 0.6.
_PUBLISHED_TASKS: Mapping[str, Mapping[str, float]] = {
    "dg15": {"learning_rate": 1e-4, "strength": 0.5, "domains_per_step": 10},
    "dg60": {"learning_rate": 1e-5, "strength": 0.5, "domains_per_step": 30},
    "tpt48-ew": {"learning_rate": 1e-4, "strength": 0.5, "domains_per_step": 24},
    "tpt48-ns": {"learning_rate": 1e-4, "strength": 0.5, "domains_per_step": 24},
    "tpt48-we": {"learning_rate": 1e-4, "strength": 0.5, "domains_per_step": 24},
    "compcars": {"learning_rate": 1e-4, "strength": 0.5, "domains_per_step": 15},
}

#: Methods of the paper's tables, in their order there.
PAPER_METHODS = (
    "source-only",
    "dann",
    "adda",
    "cdann",
    "mdd",
    "sentry",
    "gnn-ssl-v1",
    "gnn-ssl-v2",
    "grda",
)


def published_tasks() -> list[str]:
    """Tasks that the paper, or its code, has a protocol for."""
    return list(_PUBLISHED_TASKS)


def method_names(kind: str, protocol: Protocol = "leak-free", backbone: str = "plain") -> list[str]:
    """Names of the methods that can be run.

    Parameters
    ----------
    kind : {"classification", "regression"}
    protocol : {"leak-free", "published"}
        In the published one: the methods of the paper, and the plain yardstick.
    backbone : {"plain", "adagraph"}

    Returns
    -------
    list of str
    """
    names = [info.name for info in available().values() if kind in info.kinds]
    if protocol == "published":
        names = [name for name in ("plain", *PAPER_METHODS) if name in names]
    if backbone != "plain":
        names = [name for name in names if "backbone" in resolve(name).get_params()]
    return names


def method_for(name: str, task: Task, protocol: Protocol, backbone: str = "plain") -> Method:
    """The method with the settings of this benchmark.

    Parameters
    ----------
    name : str
        Name of a method, or of a peer.
    task : Task
    protocol : {"leak-free", "published"}
    backbone : {"plain", "adagraph"}

    Returns
    -------
    Method
    """
    if name.startswith("skada-"):
        return peers(task.kind)[name]
    method = _published(name, task) if protocol == "published" else resolve(name)
    if protocol == "leak-free":
        method.set_params(**LEAK_FREE.get(name, {}).get(task.name, {}))
    if backbone != "plain":
        method.set_params(backbone=backbone)
    return method


def _published(name: str, task: Task) -> Method:
    method_type = type(resolve(name))
    if not issubclass(method_type, NeuralMethod):  # scikit-learn, and the graph networks
        return method_type()
    if name == "grda":
        said = _PUBLISHED_TASKS[task.name]
        rate = said["learning_rate"]
        return PublishedGRDA.preset(
            "paper",
            pair_loss="balanced",
            learning_rate=rate,
            discriminator_learning_rate=rate,
            domains_per_step=int(said["domains_per_step"]),
            strength=said["strength"],
        )
    known = method_type().get_params()
    settings = {  # the rate of the paper's range that learns something within 5,000 steps
        "learning_rate": 1e-4,
        "discriminator_learning_rate": 1e-4,
        "width": _NARROW,
        "init_std": _NARROW_INIT,
        "batch_size": 10 * len(task.sources),
    }
    return method_type.preset("paper", **{k: v for k, v in settings.items() if k in known})
