"""Sweeps on a cluster: workers of a Dask scheduler run the points, this machine stores them.

The client (``dispatch``, over a ``link``) gives each worker its tasks. A worker (``host``) runs
them in processes of its own, as the local pool does. Files and prepared drives travel once to
each worker, by content. Dask (extra ``cluster``) is imported only if a cluster is opened.
"""

from flashscape.cluster.opening import Cluster, Where, opened

__all__ = ["Cluster", "Where", "opened"]
