"""A fitted model as a folder: JSON and safetensors, read without running code.

``model.json`` says what the model is and how its parts are put together, ``tensors.safetensors``
holds all numbers, ``graph.json`` the domains and their edges, ``parts.skops`` models of
scikit-learn, and ``card.md`` tells a person what this is.
"""

from grada.artefact._folder import (
    EXTRAS,
    FORMAT_VERSION,
    check_place,
    describe,
    extras,
    load,
    save,
)
from grada.artefact._registry import ArtefactError, register

__all__ = [
    "EXTRAS",
    "FORMAT_VERSION",
    "ArtefactError",
    "check_place",
    "describe",
    "extras",
    "load",
    "register",
    "save",
]
