"""Results as pictures and pages, for readers; nothing here needs torch.

>>> from grada.report import figures
>>> figures.__name__
'grada.report.figures'
"""

from grada.report import figures, page

__all__ = ["figures", "page"]
