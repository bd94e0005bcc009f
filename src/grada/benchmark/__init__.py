"""Methods x tasks x seeds: run side by side, kept in a store, summarised.

The published protocol, which leaks, lives here and nowhere else.
"""

from grada.benchmark._compare import Result, compare, run
from grada.benchmark._jobs import Job, Record, code_fingerprint, execute, versions
from grada.benchmark._peers import peers
from grada.benchmark._runner import ClusterError, FailedRunsError, Progress, run_jobs
from grada.benchmark._settings import Protocol, method_names, published_tasks
from grada.benchmark._store import DamagedStoreError, Store
from grada.benchmark._summary import Summary, summarize
from grada.benchmark._tasks import TASKS, connected_sources, load_task
from grada.benchmark._trust import TRUST_PARTS, make_trust
from grada.benchmark._trust_table import Row, Trust

__all__ = [
    "TASKS",
    "TRUST_PARTS",
    "ClusterError",
    "DamagedStoreError",
    "FailedRunsError",
    "Job",
    "Progress",
    "Protocol",
    "Record",
    "Result",
    "Row",
    "Store",
    "Summary",
    "Trust",
    "code_fingerprint",
    "compare",
    "connected_sources",
    "execute",
    "load_task",
    "make_trust",
    "method_names",
    "peers",
    "published_tasks",
    "run",
    "run_jobs",
    "summarize",
    "versions",
]
