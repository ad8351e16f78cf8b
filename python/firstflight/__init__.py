"""How TCP and QUIC connections start: races start-up schemes in a packet-level simulator.

>>> import firstflight as ff
>>> race = ff.race(ff.Path(rate="20mbit", rtt="60ms"), schemes=["slow-start", "hystart++", "leap"], size="2MB")
>>> race.best.scheme
'leap'

`race`, `sweep`, `score`, `inspect`, `replay`, `paper` and `diff` are the commands of `firstflight`, with the same results to the byte.
A subclass of `SlowStart` or `Scheme` is a start-up scheme that races next to the built-in ones.
"""

from firstflight._diff import Diff, diff
from firstflight._errors import CheckError, FirstflightError, OutputError, ScenarioError, SchemeError
from firstflight._inspect import Inspection, Seen, inspect
from firstflight._native import (
    __version__ as __version__,
    Acked,
    Advice,
    Asked,
    Begin,
    Established,
    Exit,
    Lost,
    Marked,
    Missing,
    MssChanged,
    Pace,
    Packet,
    PathState,
    Plan,
    Sent,
    SpuriousLoss,
    Table,
    TimedOut,
    Train,
    TrainCut,
    Woken,
)

# A star import leaves the built-in `exit` as it is.
from firstflight._native import exit as exit
from firstflight._paper import Figure, Papers, paper, papers
from firstflight._path import Path
from firstflight._plot import COLOURS, plot, tradeoff
from firstflight._population import Population, cbr, log_uniform, one_of, share, uniform
from firstflight._print import paper_figure
from firstflight._race import Race, race
from firstflight._read import read, schemes
from firstflight._replay import Replay, replay
from firstflight._results import Page, Result, Row
from firstflight._scheme import MS, NS, US, Choice, Event, Parameter, S, Scheme, SlowStart, check_scheme
from firstflight._sweep import Score, Sweep, score, sweep

__all__ = [
    "COLOURS",
    "MS",
    "NS",
    "S",
    "US",
    "Acked",
    "Advice",
    "Asked",
    "Begin",
    "CheckError",
    "Choice",
    "Diff",
    "Established",
    "Event",
    "Exit",
    "Figure",
    "FirstflightError",
    "Inspection",
    "Lost",
    "Marked",
    "Missing",
    "MssChanged",
    "OutputError",
    "Pace",
    "Packet",
    "Page",
    "Papers",
    "Parameter",
    "Path",
    "PathState",
    "Plan",
    "Population",
    "Race",
    "Replay",
    "Result",
    "Row",
    "ScenarioError",
    "Scheme",
    "SchemeError",
    "Score",
    "Seen",
    "Sent",
    "SlowStart",
    "SpuriousLoss",
    "Sweep",
    "Table",
    "TimedOut",
    "Train",
    "TrainCut",
    "Woken",
    "cbr",
    "check_scheme",
    "diff",
    "inspect",
    "log_uniform",
    "one_of",
    "paper",
    "paper_figure",
    "papers",
    "plot",
    "race",
    "read",
    "replay",
    "schemes",
    "score",
    "share",
    "sweep",
    "tradeoff",
    "uniform",
]
