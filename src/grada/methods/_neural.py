"""What all methods with networks share: the encoder, the game and the settings of both."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions
from torch import Tensor, nn

from grada.data import DomainData
from grada.graph import DomainGraph
from grada.methods._base import FittedMethod, Method, Run
from grada.nn import DomainEncoder, Neighborhood, Network, mlp, prediction_loss
from grada.nn.adagraph import has_batch_norm, refresh_statistics
from grada.nn.encoders import ModulatedEncoder, Modulation, bounded_from_zero
from grada.nn.extension import extend_encoder, learn_new_statistics
from grada.training import AdaptationWarning, History, Player, SoloGame, Trainer
from grada.training.batches import Batch, Dealer
from grada.training.diagnostics import warn
from grada.training.resuming import (
    global_random_state,
    module_state,
    restore_global_random_state,
    restore_module,
)
from grada.training.schedules import LearningRateSchedule

if TYPE_CHECKING:
    from grada.methods._correction import PlainBase, Trust

POSITIVE = Interval(Integral, 1, None, closed="left")
POSITIVE_REAL = Interval(Real, 0, None, closed="neither")

#: Predictions this many standard deviations from the visible labels are called an explosion.
EXPLODED = 10.0
_PREDICT_ROWS = 16384
#: Rows whose encodings stay in the cache of a processor.
_CACHED_ROWS = 2048
_PREDICT_IMAGES = 256
_NOT_PROVEN = (
    "On source domains kept apart the network did not improve on ridge regression, so the "
    "predictions are those of ridge regression."
)
#: Purpose of the random numbers that choose the rows kept apart, see Run.rng.
_APART = 5


@dataclass
class Step:
    """One step of the game: a batch, its encodings, and the strength in force."""

    batch: Batch
    encoding: Tensor
    network: Network
    kind: str
    strength: float

    @cached_property
    def output(self) -> Tensor:
        """What the predictor says about the labelled rows."""
        output: Tensor = self.network.predictor(self.encoding[self.batch.labelled])
        return output

    @cached_property
    def aligned_output(self) -> Tensor:
        """What it says about the rows to align; no gradient flows back through this."""
        with torch.no_grad():
            output: Tensor = self.network.predictor(self.encoding[self.batch.aligned])
        return output

    @cached_property
    def prediction_loss(self) -> Tensor:
        """Loss of the predictor on the labelled rows."""
        return prediction_loss(self.output, self.batch.y, self.batch.weight, self.kind)


@dataclass(kw_only=True, eq=False, repr=False)
class NeuralMethod(Method):
    """Settings of the encoder E(x, u, A) and of the training, the same for every method.

    Parameters
    ----------
    encoder : nn.Module, optional
        Encoder of the raw rows instead of the fully connected default: any module that maps a
        batch of rows to a batch of vectors. A copy of it is trained.
    backbone : {"plain", "adagraph"}
        ``"adagraph"`` normalises the rows of every domain by its own statistics, with scale and
        bias mixed over the graph (:class:`grada.nn.DomainBatchNorm`): after every hidden layer
        of the default encoder, or in place of every batch normalisation of the encoder given.
        It undoes shifts and scales that differ between domains, also in domains that are not
        aligned, and predicts for a domain without rows from the statistics of its neighbours.
        It also hides what a domain's mean says about its labels.
    conditioning : {"concatenate", "modulate"}
        How the encoder is told the domain. ``"concatenate"``: its embedding stands beside the
        features of the row, as in the paper. ``"modulate"``: it scales and shifts these features,
        within bounds and starting from nothing (:class:`grada.nn.encoders.Modulation`), so that
        a domain unlike the sources cannot send the network to a place where it has never been.
    base : {"auto", "plain", "none"}
        Regression only. ``"plain"``: the network predicts what ridge regression (the method
        ``plain``) leaves over, at most three standard deviations of it, and this correction is
        used as far as it has proved itself: the network is first trained without the labels of
        the source domains nearest to the targets, and the share of its correction that surely
        helps there, 0 to 1, is applied to the network that is trained with all labels; less of it
        in domains further from the labels than those were (``fitted_.trust``). Where the network
        does not help the predictions are those of ridge regression, and ``history_.messages``
        says so. Takes twice the time. ``"none"``: the network alone, which can go far astray in
        domains unlike the sources. ``"auto"``: ``"none"`` with an ``encoder`` of your own, else
        ``"plain"``.
    embedding : {"reconstruction", "spectral", "node2vec", "line", "vgae", "one-hot"}
        Node embedding of the domains, see :meth:`grada.DomainGraph.embed`.
    embedding_dim : int, optional
        Its dimension; by default it grows slowly with the number of domains.
    width : int, optional
        Width of all hidden layers and of the encoding; by default sized for the features.
    raw_layers, joint_layers, predictor_layers : int
        Depth of the three parts.
    init_std : float, optional
        Draw initial weights from N(0, init_std²) instead of PyTorch's default.
    learning_rate : float
    learning_rate_schedule : {"cosine", "constant", "halving"}
    epochs : int
    steps_per_epoch : int, optional
        By default one pass over the labelled rows, but at least 10 and at most 100 steps.
    batch_size : int
        Labelled rows per step.
    clip : float, optional
        Largest norm of a player's gradient.
    early_stopping : bool
    patience : int
        See :class:`grada.training.Trainer`.
    """

    encoder: nn.Module | None = None
    backbone: Literal["plain", "adagraph"] = "plain"
    conditioning: Literal["concatenate", "modulate"] = "concatenate"
    base: Literal["auto", "plain", "none"] = "auto"
    embedding: str = "reconstruction"
    embedding_dim: int | None = None
    width: int | None = None
    raw_layers: int = 2
    joint_layers: int = 2
    predictor_layers: int = 2
    init_std: float | None = None
    learning_rate: float = 1e-3
    learning_rate_schedule: LearningRateSchedule = "cosine"
    epochs: int = 300
    steps_per_epoch: int | None = None
    batch_size: int = 128
    clip: float | None = 5.0
    early_stopping: bool = True
    patience: int = 10

    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "paper": {
            "conditioning": "concatenate",
            "base": "none",
            "embedding_dim": 2,
            "width": 512,
            "raw_layers": 3,
            "joint_layers": 2,
            "predictor_layers": 3,
            "init_std": 0.01,
            "learning_rate": 1e-4,
            "learning_rate_schedule": "halving",
            "epochs": 500,
            "steps_per_epoch": 10,
            "clip": None,
            "early_stopping": False,
        }
    }
    _parameter_constraints: ClassVar[Mapping[str, Any]] = {
        "encoder": [nn.Module, None],
        "backbone": [StrOptions({"plain", "adagraph"})],
        "conditioning": [StrOptions({"concatenate", "modulate"})],
        "base": [StrOptions({"auto", "plain", "none"})],
        "embedding": [str],
        "embedding_dim": [POSITIVE, None],
        "width": [POSITIVE, None],
        "raw_layers": [POSITIVE],
        "joint_layers": [POSITIVE],
        "predictor_layers": [POSITIVE],
        "init_std": [POSITIVE_REAL, None],
        "learning_rate": [POSITIVE_REAL],
        "learning_rate_schedule": [StrOptions({"cosine", "constant", "halving"})],
        "epochs": [POSITIVE],
        "steps_per_epoch": [POSITIVE, None],
        "batch_size": [POSITIVE],
        "clip": [POSITIVE_REAL, None],
        "early_stopping": ["boolean"],
        "patience": [POSITIVE],
    }

    @classmethod
    def preset(cls, name: str, **settings: Any) -> Self:
        """Make the method with the settings of a preset, some of them replaced.

        ``"paper"``: layers, widths, learning rates and schedule of the paper and of the code
        published with it.
        """
        if name not in cls.presets:
            raise ValueError(f"Unknown preset {name!r}; known: {', '.join(cls.presets)}.")
        return cls(**{**cls.presets[name], **settings})

    @property
    def takes_any_shape(self) -> bool:
        """An encoder of the user's own may take anything."""
        return self.encoder is not None

    def adapt(self, data: DomainData, run: Run) -> FittedMethod:
        """Train the networks."""
        self.check(data)
        notices = self.notices(data)
        for notice in notices:
            warnings.warn(notice, AdaptationWarning, stacklevel=4)
        if self._corrects_a_base(data):
            base, learned = _correction().PlainBase.fit(data, run)
            trust = self._trust(data, run)
            fitted = self._fit(learned, run).on_top_of(base, trust, data.graph)
            if trust.share == 0:
                fitted.history.messages.append(_NOT_PROVEN)
        else:
            fitted = self._fit(data, run)
        fitted.history.messages[:0] = notices
        _warn_of_explosion(fitted, data)
        return fitted

    def _corrects_a_base(self, data: DomainData) -> bool:
        plain = self.base == "plain" or (self.base == "auto" and self.encoder is None)
        return plain and data.kind == "regression"

    def _fit(self, data: DomainData, run: Run) -> FittedNetwork:
        own = self.encoder is not None
        with _own_seed(run.random_state, needed=own), _one_thread(needed=not own):
            network = self._network(data, run)
            history = self._train(network, data, run)
            if self.backbone == "adagraph":
                # Training saw some domains in small batches, and some not at all.
                for encoder in network.encoder.parts:
                    refresh_statistics(encoder, lambda: _all_rows(data, run.device, own))
        return FittedNetwork(
            network, data.kind, run.device, history, own_encoder=own, sources=data.sources
        )

    def _trust(self, data: DomainData, run: Run) -> Trust:
        """Train without the labels of some sources, and see how much of it is right there."""
        tools = _correction()
        apart = tools.keep_apart(data, run.rng(_APART))
        if not apart.any():
            nothing: Trust = tools.Trust(0.0, 1.0)
            return nothing
        seen = tools.without_labels(data, apart)
        base, learned = tools.PlainBase.fit(seen, run)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AdaptationWarning)
            fitted = self._fit(learned, run.part("apart"))
        X, codes = data.X[apart], data.codes[apart]
        left = data.y[apart] - base.predict(X)
        correction = base.scale * fitted.predict(X, codes)
        share = tools.proven_share(left, correction, data.weight[apart], codes)
        hops = tools.hops_away(data.graph, seen.sources)[codes].max()
        trust: Trust = tools.Trust(share, max(float(hops), 1.0))
        return trust

    def notices(self, data: DomainData) -> list[str]:
        """What the user should know about this data before training on it."""
        cut_off = np.intersect1d(data.unreachable, data.targets)
        if not len(cut_off):
            return []
        return [
            f"No path in the graph joins {name_some(data, cut_off)} to a domain with labels. "
            "Predictions there fall back on the average labelled domain. Add edges to the graph, "
            "or do not rely on these predictions."
        ]

    def _train(self, network: Network, data: DomainData, run: Run) -> History:
        game = self._game(network, data, run)
        return self._trainer(data, run).train(game, run.rng())

    def _game(self, network: Network, data: DomainData, run: Run) -> NeuralGame:
        dealer = Dealer(data, batch_size=self.batch_size, device=run.device)
        return NeuralGame(self, network, data.kind, dealer)

    def _trainer(self, data: DomainData, run: Run) -> Trainer:
        passes = int(np.ceil(len(data.labelled) / self.batch_size))
        return Trainer(
            epochs=self.epochs,
            steps_per_epoch=self.steps_per_epoch or int(np.clip(passes, 10, 100)),
            learning_rate_schedule=self.learning_rate_schedule,
            early_stopping=self.early_stopping,
            patience=self.patience,
            tolerance=self.learning_rate,
            callbacks=run.callbacks,
            checkpoint=run.checkpoint,
        )

    def _network(self, data: DomainData, run: Run) -> Network:
        generator = run.torch_generator()
        embedding = domain_embedding(data, self.embedding, self.embedding_dim, run)
        width = self._width(data)
        raw, raw_dim = self._raw_encoder(data)

        def layers(n_in: int, depth: int, n_out: int, **options: bool) -> nn.Sequential:
            sizes = [n_in, *[width] * (depth - 1), n_out]
            return mlp(sizes, generator=generator, init_std=self.init_std, **options)

        norm = self.backbone == "adagraph"
        if raw is None:  # not "if not raw": an empty nn.Sequential is false
            n_in = data.X.shape[1]
            raw = layers(n_in, self.raw_layers, width, final_activation=True, batch_norm=norm)
        modulate = self.conditioning == "modulate"
        graph: nn.Module
        if modulate:
            graph = Modulation(embedding, torch.from_numpy(data.sources), raw_dim)
        else:
            graph = layers(embedding.shape[1], 1, width, final_activation=True)
        joint_dim = raw_dim if modulate else raw_dim + width
        encoder = (ModulatedEncoder if modulate else DomainEncoder)(
            raw=raw,
            graph=graph,
            joint=layers(joint_dim, self.joint_layers, width, batch_norm=norm),
            embedding=embedding,
            dim=width,
            neighborhood=_neighborhood(data, embedding) if norm else None,
        )
        predictor = layers(width, self.predictor_layers, data.n_outputs)
        if self._corrects_a_base(data):
            predictor = bounded_from_zero(predictor, _correction().LIMIT)
        return Network(encoder, predictor).to(run.device)

    def _width(self, data: DomainData) -> int:
        n_features = int(np.prod(data.X.shape[1:]))
        return self.width or int(np.clip(2 ** np.ceil(np.log2(2 * n_features)), 64, 256))

    def _raw_encoder(self, data: DomainData) -> tuple[nn.Module | None, int]:
        """A copy of the user's encoder, if any, and how many features the joint encoder gets."""
        if self.encoder is None:
            return None, self._width(data)
        encoder = copy.deepcopy(self.encoder).cpu()
        encoder.eval()
        with torch.no_grad():
            try:
                n_out = encoder(torch.from_numpy(data.X[:2])).flatten(1).shape[1]
            except Exception as error:
                raise ValueError(
                    f"The encoder given cannot take a batch of rows of shape {data.X[:2].shape}: "
                    f"{error}"
                ) from error
        if self.backbone == "adagraph" and not has_batch_norm(encoder):
            raise ValueError(
                "backbone='adagraph' makes the batch normalisation of an encoder domain-specific, "
                "but the encoder given has none. Add nn.BatchNorm1d or nn.BatchNorm2d layers to "
                "it, or use backbone='plain'."
            )
        encoder.train()
        return encoder, n_out


class NeuralGame(SoloGame):
    """Encoder and predictor, with nobody to play against."""

    strength = 0.0

    def __init__(self, method: NeuralMethod, network: Network, kind: str, dealer: Dealer):
        self.network = network
        self.kind = kind
        self.dealer = dealer
        self._own_encoder = method.encoder is not None
        learner = Player(
            "encoder",
            network.parameters(),
            self.encoder_loss,
            learning_rate=method.learning_rate,
            clip=method.clip,
        )
        self.players: Sequence[Player] = [learner]

    def encoder_loss(self, step: Step) -> Tensor:
        """What encoder and predictor minimise."""
        return step.prediction_loss

    def deal(self, rng: np.random.Generator, strength_factor: float) -> Step:
        """Draw a batch and encode it."""
        batch = self.dealer.deal(rng)
        encoding = self.network.encoder(batch.x, batch.codes)
        strength = self.strength * strength_factor
        return Step(batch, encoding, self.network, self.kind, strength)

    def measure(self, step: Step) -> dict[str, Tensor]:
        """The prediction loss alone, beside the encoder's whole loss."""
        return {"prediction_loss": step.prediction_loss.detach()}

    def state(self) -> dict[str, Any]:
        """The networks, what is left to draw and, where a user's module may draw, from what."""
        state = {"network": module_state(self.network), "dealer": self.dealer.state()}
        return state | ({"global": global_random_state()} if self._own_encoder else {})

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from such a state."""
        restore_module(self.network, state["network"])
        self.dealer.restore(state["dealer"])
        if self._own_encoder:
            restore_global_random_state(state["global"])


class FittedNetwork(FittedMethod):
    """A trained network.

    On the CPU it predicts in double precision: in single precision the prediction for a row
    would depend, in the last digits, on the rows that happen to be in the same batch.
    """

    def __init__(
        self,
        network: Network,
        kind: str,
        device: torch.device,
        history: History,
        *,
        sources: NDArray[np.int64],
        own_encoder: bool = False,
    ):
        self.network = network.eval()
        self.kind = kind
        self.device = device
        self.history = history
        # A user's own encoder is asked the way it was trained: in single precision, and in
        # batches that images fit into.
        double = device.type == "cpu" and not own_encoder
        self.dtype = torch.float64 if double else torch.float32
        self.batch_size = _PREDICT_IMAGES if own_encoder else _CACHED_ROWS
        self.network.to(self.dtype)
        self.sources = sources
        self.base: PlainBase | None = None

    def on_top_of(self, base: PlainBase, trust: Trust, graph: DomainGraph) -> FittedNetwork:
        """The network as a correction of the plain model, so much of it as has proved right."""
        self.base, self.trust = base, trust
        self.share = trust.in_each_domain(graph, self.sources)
        return self

    def predict(self, X: NDArray[np.float32], codes: NDArray[np.int64]) -> NDArray[np.float64]:
        """Class probabilities or values, batch by batch."""
        output = self._apply(self.network, X, codes)
        if self.kind == "classification":
            output = output.softmax(dim=1)
        said: NDArray[np.float64] = output.numpy()
        if self.base is None:
            return said
        return self.base.predict(X) + self.share[codes, None] * self.base.scale * said

    def encode(self, X: NDArray[np.float32], codes: NDArray[np.int64]) -> NDArray[np.float64]:
        """Encodings e = E(x, u, A)."""
        return self._apply(self.network.encoder, X, codes).numpy()

    def extend(
        self, graph: DomainGraph, X: NDArray[np.float32], codes: NDArray[np.int64]
    ) -> FittedNetwork:
        """The same network for a larger graph: a new domain lies amid its neighbours.

        Its embedding is the mean of its neighbours' by weight, outward from the domains of the
        fit; without a path to these, the mean of the sources. ``backbone="adagraph"``
        takes the statistics of new domains from their rows.
        """
        larger = copy.copy(self)
        larger.network = copy.deepcopy(self.network)
        n_old = len(larger.network.encoder.parts[0].embedding)
        rows = np.bincount(codes, minlength=graph.n_domains)
        encoder = larger.network.encoder
        encoder.make_room(graph.n_domains - n_old)

        def new_rows() -> Iterator[tuple[Tensor, Tensor]]:
            return self._batches(X[codes >= n_old], codes[codes >= n_old])

        for part in encoder.parts:
            extend_encoder(part, graph.weights, self.sources, rows)
            learn_new_statistics(part, n_old, new_rows)
        if self.base is not None:
            share = self.trust.in_each_domain(graph, self.sources)
            larger.share = np.concatenate([self.share, share[n_old:]])
        return larger

    @torch.no_grad()
    def _apply(
        self,
        module: nn.Module,
        X: NDArray[np.float32],
        codes: NDArray[np.int64],
    ) -> Tensor:
        with _one_thread(needed=self.dtype is torch.float64):
            outputs = [module(x, places).cpu() for x, places in self._batches(X, codes)]
        return torch.cat(outputs).double()

    def _batches(
        self, X: NDArray[np.float32], codes: NDArray[np.int64]
    ) -> Iterator[tuple[Tensor, Tensor]]:
        for start in range(0, max(len(X), 1), self.batch_size):
            rows = slice(start, start + self.batch_size)
            x = torch.from_numpy(X[rows]).to(self.device, self.dtype)
            yield x, torch.from_numpy(codes[rows]).to(self.device)


def _correction() -> Any:
    """What corrects the plain model; imported late, as the plain model shares things from here."""
    from grada.methods import _correction

    return _correction


def domain_embedding(data: DomainData, kind: str, dim: int | None, run: Run) -> Tensor:
    """Node embeddings; a domain that no path joins to a source gets the mean of the sources.

    Nothing is known about where such a domain lies, and an embedding of its own would send the
    networks to a place where they have never been.
    """
    embedding = data.graph.embed(kind, dim, random_state=run.random_state)
    embedding[data.unreachable] = embedding[data.sources].mean(axis=0)
    return torch.from_numpy(embedding.astype(np.float32))


def _neighborhood(data: DomainData, embedding: Tensor) -> Neighborhood:
    rows = np.bincount(data.codes, minlength=data.graph.n_domains)
    return Neighborhood(data.graph.weights, rows, embedding)


def _all_rows(
    data: DomainData, device: torch.device, images: bool
) -> Iterator[tuple[Tensor, Tensor]]:
    """All rows and their domains, in batches that fit into memory."""
    size = _PREDICT_IMAGES if images else _PREDICT_ROWS
    for start in range(0, len(data.X), size):
        rows = slice(start, start + size)
        x, codes = torch.from_numpy(data.X[rows]), torch.from_numpy(data.codes[rows])
        yield x.to(device), codes.to(device)


def name_some(data: DomainData, codes: NDArray[np.int64], most: int = 5) -> str:
    """Names of domains for a message, the first few if there are many."""
    names = [repr(data.graph.names[code]) for code in codes[:most]]
    more = f" and {len(codes) - most} more" if len(codes) > most else ""
    return ", ".join(names) + more


def _warn_of_explosion(fitted: FittedMethod, data: DomainData) -> None:
    if data.kind != "regression":
        return
    rows = np.linspace(0, len(data.X) - 1, min(len(data.X), _PREDICT_ROWS)).astype(np.int64)
    predicted = fitted.predict(data.X[rows], data.codes[rows])
    visible = np.nanmax(np.abs(data.y))
    wild = np.abs(predicted).max(axis=1) > max(EXPLODED, 2.0 * visible)
    if wild.any():
        message = (
            f"Predictions exploded in {name_some(data, np.unique(data.codes[rows][wild]))}: more "
            f"than {EXPLODED:.0f} standard deviations from the visible labels. Lower strength or "
            "learning_rate, or use method='source-only'."
        )
        warn(fitted.history, message)


@contextmanager
def _own_seed(seed: int, *, needed: bool) -> Iterator[None]:
    """Seed what a user's own module draws (dropout, say), and leave the global state as it was."""
    if not needed:
        yield
        return
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        yield


@contextmanager
def _one_thread(*, needed: bool) -> Iterator[None]:
    """Train and ask small networks on one thread.

    A second thread gains nothing on layers this small, and on a busy machine, or with several
    fits side by side, waiting for it costs many times the work.
    """
    before = torch.get_num_threads()
    try:
        if needed:
            torch.set_num_threads(1)
        yield
    finally:
        torch.set_num_threads(before)
