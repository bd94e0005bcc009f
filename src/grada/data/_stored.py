"""Rows that are encoded already and lie in a file that is mapped into memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from grada.data._features import FeatureEncoder


@dataclass(frozen=True, eq=False)
class StoredRows:
    """A table that was encoded piece by piece; stands for ``X`` where an estimator is fitted.

    Estimators take the values as they are: nothing is copied, checked or scaled again.

    Parameters
    ----------
    values : float32 array of shape (n_rows, n_encoded)
        Encoded rows, such as a memory-mapped file.
    encoder : FeatureEncoder
        What encoded them, for further rows.

    Examples
    --------
    >>> frame = pd.DataFrame({"rain": [1.0, 2.0, 3.0]})
    >>> encoder = FeatureEncoder().fit(frame)
    >>> StoredRows(encoder.transform(frame), encoder)
    StoredRows(3, 1)
    """

    values: NDArray[np.float32]
    encoder: FeatureEncoder

    @property
    def header(self) -> pd.DataFrame:
        """The columns of the table, without rows."""
        return pd.DataFrame(columns=self.encoder.columns)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows, and of columns before they were encoded."""
        return len(self.values), len(self.encoder.columns or ())

    def encoded_by(self, encoder: FeatureEncoder) -> NDArray[np.float32]:
        """The values, if this is what encoded them; else they would mean something else."""
        if encoder is not self.encoder:
            raise ValueError(
                "These rows were stored for another model. Predict from the table itself."
            )
        return self.values

    def take(self, rows: NDArray[np.intp]) -> StoredRows:
        """Some of the rows, in a given order, in memory."""
        return StoredRows(self.values[rows], self.encoder)

    def codes_of(self, column: str | int) -> NDArray[np.int64]:
        """Codes of the values of one column, for ``pair_on``.

        Numbers that are the same in single precision get the same code.
        """
        encoder, columns = self.encoder, self.encoder.columns or []
        if column not in columns:
            raise ValueError(f"pair_on names column {column!r}, which X does not have.")
        at = columns.index(column)
        n_before = sum(other < at for other in encoder.categorical)
        if at not in encoder.categorical or encoder.one_hot is None:
            codes, _ = pd.factorize(self.values[:, at - n_before])
            return np.asarray(codes, dtype=np.int64)
        widths = [len(each) for each in encoder.one_hot.categories_]
        first = len(columns) - len(encoder.categorical) + sum(widths[:n_before])
        return np.asarray(self.values[:, first : first + widths[n_before]].argmax(axis=1))

    def __len__(self) -> int:
        return len(self.values)

    def __array__(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError(
            "These rows are stored for fit and for prediction with the same model; they are no "
            "array. The encoded ones are in .values."
        )

    def __repr__(self) -> str:
        return f"StoredRows{self.shape}"
