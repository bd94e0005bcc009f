"""Texts of a table as numbers, dates and truths: whole columns at a time."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

_NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$|^[+-]?(?i:inf|infinity)$"
_ALMOST = r"^[+-]?\d{1,3}([, '’]\d{3})+([.,]\d+)?$|^[+-]?\d{1,3}(\.\d{3})+,\d+$|^[+-]?\d+,\d+$"
_DATE = r"^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?$"
#: How people and programs write that a number is missing, in small letters.
NA_SPELLINGS = ("na", "n/a", "nan", "null", "none", "<na>", "#n/a", "nat", "-nan")
_DAY = 86_400.0


def is_text(kind: pa.DataType) -> bool:
    """Whether an Arrow type holds texts."""
    return bool(
        pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
        or (hasattr(pa.types, "is_string_view") and pa.types.is_string_view(kind))
    )


def filled(texts: pa.Array) -> pa.Array:
    """The texts with nothing in place of empty ones."""
    return pc.if_else(pc.equal(texts, ""), pa.scalar(None, texts.type), texts)


def numbers_in(texts: pa.Array) -> tuple[pa.Array, pa.Array | None]:
    """The numbers in texts, and which texts are numbers; None if all of them are."""
    trimmed = pc.utf8_trim_whitespace(texts)
    try:
        return pc.cast(trimmed, pa.float64()), None
    except pa.ArrowInvalid:
        good = pc.match_substring_regex(trimmed, _NUMBER)
        kept = pc.if_else(good, trimmed, pa.scalar(None, trimmed.type))
        return pc.cast(kept, pa.float64()), good


def almost_numbers(texts: pa.Array) -> pa.Array:
    """Which texts are numbers with decimal commas or separated thousands."""
    return pc.match_substring_regex(pc.utf8_trim_whitespace(texts), _ALMOST)


def are_na(texts: pa.Array) -> pa.Array:
    """Which texts are a spelling of "missing", or blank."""
    small = pc.utf8_lower(pc.utf8_trim_whitespace(texts))
    return pc.is_in(small, pa.array([*NA_SPELLINGS, ""], small.type))


def are_booleans(texts: pa.Array) -> pa.Array:
    """Which texts say true or false."""
    return truths_of(texts)[1]


def truths_of(texts: pa.Array) -> tuple[pa.Array, pa.Array]:
    """1 for true and 0 for other texts; and which texts are true or false."""
    small = pc.utf8_lower(pc.utf8_trim_whitespace(texts))
    good = pc.is_in(small, pa.array(["true", "false"], small.type))
    return pc.cast(pc.equal(small, "true"), pa.float64()), good


def are_dates(texts: pa.Array) -> pa.Array:
    """Which texts look like 2024-01-31 or 2024-01-31 12:30."""
    return pc.match_substring_regex(pc.utf8_trim_whitespace(texts), _DATE)


def days_of(array: pa.Array) -> pa.Array:
    """Days since 1970 of dates, or of texts; nothing where a text is no date."""
    if is_text(array.type):
        times = pd.to_datetime(
            pd.Series(array.to_pandas()).astype("str").str.strip(),
            format="ISO8601",
            utc=True,
            errors="coerce",
        )
        seconds = times.astype("datetime64[us, UTC]").astype("int64").to_numpy() / 1e6
        days = np.where(times.isna().to_numpy(), np.nan, seconds / _DAY)
        return pa.array(days, from_pandas=True)
    stamps = pc.cast(array, pa.timestamp("us"), safe=False)
    micro = pc.cast(pc.cast(stamps, pa.int64()), pa.float64(), safe=False)
    return pc.divide(micro, pa.scalar(1e6 * _DAY))
