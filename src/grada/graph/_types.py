"""The types that the files of this package share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import sparse

Name: TypeAlias = str | int
Names: TypeAlias = "Sequence[Name] | npt.NDArray[Any] | pd.Series[Any] | pd.Index[Any]"
Array: TypeAlias = npt.NDArray[Any]
Codes: TypeAlias = npt.NDArray[np.int64]
Floats: TypeAlias = npt.NDArray[np.float64]
Weights: TypeAlias = "sparse.csr_array[np.float64, tuple[int, int]]"
# What a DomainGraph is made of: its names and its weights.
Parts: TypeAlias = "tuple[tuple[Name, ...], Weights]"
RandomState: TypeAlias = "int | np.random.RandomState | np.random.Generator | None"
