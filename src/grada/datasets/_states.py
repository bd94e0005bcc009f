"""The 48 contiguous states of the USA: their numbers in NOAA's files, places and neighbours."""

from __future__ import annotations

from typing import NamedTuple

from grada.graph import DomainGraph


class State(NamedTuple):
    """A state, its approximate centre in degrees, and the states that it shares a border with."""

    number: int
    code: str
    name: str
    latitude: float
    longitude: float
    neighbours: str


# NOAA numbers the states by the alphabetical order of their names. A border is a line on land or
# in a river or bay: neither a single point (AZ-CO and NM-UT at Four Corners), nor a line through
# a Great Lake or the sea (MI-IL, MI-MN, NY-RI).
STATES = (
    State(1, "AL", "Alabama", 32.8, -86.8, "FL GA MS TN"),
    State(2, "AZ", "Arizona", 34.3, -111.7, "CA NM NV UT"),
    State(3, "AR", "Arkansas", 34.8, -92.4, "LA MO MS OK TN TX"),
    State(4, "CA", "California", 37.2, -119.5, "AZ NV OR"),
    State(5, "CO", "Colorado", 39.0, -105.5, "KS NE NM OK UT WY"),
    State(6, "CT", "Connecticut", 41.6, -72.7, "MA NY RI"),
    State(7, "DE", "Delaware", 39.0, -75.5, "MD NJ PA"),
    State(8, "FL", "Florida", 28.6, -82.4, "AL GA"),
    State(9, "GA", "Georgia", 32.6, -83.4, "AL FL NC SC TN"),
    State(10, "ID", "Idaho", 44.4, -114.6, "MT NV OR UT WA WY"),
    State(11, "IL", "Illinois", 40.0, -89.2, "IA IN KY MO WI"),
    State(12, "IN", "Indiana", 39.9, -86.3, "IL KY MI OH"),
    State(13, "IA", "Iowa", 42.1, -93.5, "IL MN MO NE SD WI"),
    State(14, "KS", "Kansas", 38.5, -98.4, "CO MO NE OK"),
    State(15, "KY", "Kentucky", 37.5, -85.3, "IL IN MO OH TN VA WV"),
    State(16, "LA", "Louisiana", 31.0, -92.0, "AR MS TX"),
    State(17, "ME", "Maine", 45.4, -69.2, "NH"),
    State(18, "MD", "Maryland", 39.0, -76.8, "DE PA VA WV"),
    State(19, "MA", "Massachusetts", 42.3, -71.8, "CT NH NY RI VT"),
    State(20, "MI", "Michigan", 44.3, -85.4, "IN OH WI"),
    State(21, "MN", "Minnesota", 46.3, -94.3, "IA ND SD WI"),
    State(22, "MS", "Mississippi", 32.7, -89.7, "AL AR LA TN"),
    State(23, "MO", "Missouri", 38.4, -92.5, "AR IA IL KS KY NE OK TN"),
    State(24, "MT", "Montana", 47.0, -109.6, "ID ND SD WY"),
    State(25, "NE", "Nebraska", 41.5, -99.8, "CO IA KS MO SD WY"),
    State(26, "NV", "Nevada", 39.3, -116.6, "AZ CA ID OR UT"),
    State(27, "NH", "New Hampshire", 43.7, -71.6, "MA ME VT"),
    State(28, "NJ", "New Jersey", 40.2, -74.7, "DE NY PA"),
    State(29, "NM", "New Mexico", 34.4, -106.1, "AZ CO OK TX"),
    State(30, "NY", "New York", 42.9, -75.5, "CT MA NJ PA VT"),
    State(31, "NC", "North Carolina", 35.5, -79.4, "GA SC TN VA"),
    State(32, "ND", "North Dakota", 47.5, -100.5, "MN MT SD"),
    State(33, "OH", "Ohio", 40.3, -82.8, "IN KY MI PA WV"),
    State(34, "OK", "Oklahoma", 35.6, -97.5, "AR CO KS MO NM TX"),
    State(35, "OR", "Oregon", 43.9, -120.6, "CA ID NV WA"),
    State(36, "PA", "Pennsylvania", 40.9, -77.8, "DE MD NJ NY OH WV"),
    State(37, "RI", "Rhode Island", 41.6, -71.5, "CT MA"),
    State(38, "SC", "South Carolina", 33.9, -80.9, "GA NC"),
    State(39, "SD", "South Dakota", 44.4, -100.2, "IA MN MT ND NE WY"),
    State(40, "TN", "Tennessee", 35.9, -86.4, "AL AR GA KY MO MS NC VA"),
    State(41, "TX", "Texas", 31.5, -99.3, "AR LA NM OK"),
    State(42, "UT", "Utah", 39.3, -111.7, "AZ CO ID NV WY"),
    State(43, "VT", "Vermont", 44.1, -72.7, "MA NH NY"),
    State(44, "VA", "Virginia", 37.5, -78.9, "KY MD NC TN WV"),
    State(45, "WA", "Washington", 47.4, -120.4, "ID OR"),
    State(46, "WV", "West Virginia", 38.6, -80.6, "KY MD OH PA VA"),
    State(47, "WI", "Wisconsin", 44.6, -89.7, "IA IL MI MN"),
    State(48, "WY", "Wyoming", 43.0, -107.6, "CO ID MT NE SD UT"),
)


def border_graph() -> DomainGraph:
    """Graph of the states that share a border, named by postal code: 48 domains, 105 edges.

    Returns
    -------
    DomainGraph

    Examples
    --------
    >>> border_graph().neighbors("OH")
    ('IN', 'KY', 'MI', 'PA', 'WV')
    """
    # Every border is listed at both of its states; an edge is given once.
    edges = [(a.code, b) for a in STATES for b in a.neighbours.split() if a.code < b]
    return DomainGraph.from_edges(edges, names=[state.code for state in STATES])
