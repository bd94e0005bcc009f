"""What has to be settled before pandas and Arrow are imported."""

import os

# Arrow's own allocator reserves a gigabyte of address space, which a cap on memory counts.
os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
