"""How TCP and QUIC connections start: races start-up schemes in a packet-level simulator.

>>> import firstflight as ff
>>> race = ff.race(ff.Path(rate="20mbit", rtt="60ms"), schemes=["slow-start", "hystart++", "leap"], size="2MB")
>>> race.best.scheme
'leap'

`race`, `sweep`, `score`, `inspect`, `replay`, `paper` and `diff` are the commands of `firstflight`, with the same results to the byte.
"""

from firstflight._errors import CheckError, FirstflightError, OutputError, ScenarioError, SchemeError
from firstflight._native import Table
from firstflight._path import Path
from firstflight._population import Population, cbr, log_uniform, one_of, share, uniform
from firstflight._race import Race, race
from firstflight._read import read, schemes
from firstflight._results import Page, Result, Row
from firstflight._sweep import Score, Sweep, score, sweep

__all__ = [
    "CheckError",
    "FirstflightError",
    "OutputError",
    "Page",
    "Path",
    "Population",
    "Race",
    "Result",
    "Row",
    "ScenarioError",
    "SchemeError",
    "Score",
    "Sweep",
    "Table",
    "cbr",
    "log_uniform",
    "one_of",
    "race",
    "read",
    "schemes",
    "score",
    "share",
    "sweep",
    "uniform",
]
