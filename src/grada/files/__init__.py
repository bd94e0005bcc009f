"""Files of a user: tables, edge lists, and writing without leaving halves."""

from grada.files.atomic import atomic_file, atomic_folder
from grada.files.columns import Column
from grada.files.edges import EdgeList, GraphFile, read_edges, read_graph, write_graph
from grada.files.errors import FileError
from grada.files.reading import count_domains, read_chunks, read_table, scan_table
from grada.files.rows import TableRows, TableScan
from grada.files.store import RowStore
from grada.files.table import TableFile

__all__ = [
    "Column",
    "EdgeList",
    "FileError",
    "GraphFile",
    "RowStore",
    "TableFile",
    "TableRows",
    "TableScan",
    "atomic_file",
    "atomic_folder",
    "count_domains",
    "read_chunks",
    "read_edges",
    "read_graph",
    "read_table",
    "scan_table",
    "write_graph",
]
