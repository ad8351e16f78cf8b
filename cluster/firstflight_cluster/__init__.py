"""Races the shards of a sweep on a Dask cluster and collects the parts; docs/guide/cluster.md says how."""
