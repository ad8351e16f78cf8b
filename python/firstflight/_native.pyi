"""The extension module: commands in this process, and their results as Arrow tables."""

from collections.abc import Callable, Sequence
from os import PathLike
from typing import Literal, NoReturn, TypeAlias

from firstflight._scheme import Scheme

__version__: str

class Table:
    """A table: rows of typed columns, read without a copy by what speaks Arrow's C stream (polars, pandas, pyarrow, DuckDB)."""

    @staticmethod
    def from_json(lines: bytes) -> Table:
        """Return the table of JSON lines that a command printed. Values that are no scalars become JSON text."""

    @staticmethod
    def joined(tables: Sequence[Table]) -> Table:
        """Return the rows of several tables, one after the other. A column that a table lacks has no values there."""

    @staticmethod
    def from_parquet(file: bytes) -> Table:
        """Return the table of the bytes of a Parquet file that `parquet` returned."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def __len__(self) -> int: ...
    @property
    def columns(self) -> list[str]:
        """The names of the columns."""

    @property
    def units(self) -> dict[str, str]:
        """The unit of each column that has one."""

    @property
    def meanings(self) -> dict[str, str]:
        """The meaning of each column that has one."""

    def column(self, name: str) -> list[str | bool | int | float | None]:
        """Return the values of a column; `None` where a row has none."""

    def doubles(self, name: str) -> bytes:
        """Return a column of numbers as doubles for `numpy.frombuffer`; NaN where a row has none."""

    def rows(self) -> list[dict[str, str | bool | int | float | None]]:
        """Return the rows, each as a dictionary."""

    def parquet(self) -> bytes:
        """Return the bytes of the file that `--parquet` writes."""

class Answer:
    """The result of a command."""

    code: int
    error: str
    printed: bytes
    said: str
    tables: list[tuple[str, Table]]
    texts: list[tuple[str, str]]
    heads: list[str]
    is_numbers: list[bool]
    cells: list[list[str]]

def run(
    arguments: Sequence[str | PathLike[str]],
    *,
    progress: Callable[[int, int, str], object] | None = None,
    width: int | None = None,
    schemes: Sequence[type[Scheme]] = (),
) -> Answer:
    """Carry out a command in this process, and return its result."""

def main(
    arguments: Sequence[str], program: Sequence[str], *, schemes: Sequence[tuple[type[Scheme], bool]] = ()
) -> int:
    """Carry out the command line of this process, and return its exit code. Rows have the hash of the code of the schemes with `True`."""

def check_scheme(scheme: type[Scheme], *, cases: int = 200, seed: int = 1) -> None:
    """Check a class against the laws of schemes. Raises SchemeError for the first that it breaks."""

def wait_for_ever() -> NoReturn:
    """Wait for ever, without the interpreter's lock."""

def keys() -> list[dict[str, object]]:
    """Return the keys of a path, in the order of the help."""

def read_parquet(path: str | PathLike[str]) -> Table:
    """Read a Parquet file that a command wrote."""

class PathState:
    """The connection as its sender sees it. Times and spans are whole nanoseconds, sizes are bytes, and rates are bits per second."""

    @property
    def now(self) -> int:
        """The instant of the event, in nanoseconds of virtual time."""

    @property
    def mss(self) -> int:
        """The payload of a full segment, in bytes."""

    @property
    def wire(self) -> int:
        """The IP bytes of a full segment."""

    @property
    def cwnd(self) -> int:
        """The window in force before this event, in bytes."""

    @property
    def flight(self) -> int:
        """The bytes that were sent and not yet cumulatively acknowledged."""

    @property
    def pipe(self) -> int:
        """The bytes believed to be in the network. The window bounds this number."""

    @property
    def srtt(self) -> int | None:
        """The smoothed RTT in nanoseconds; `None` before the first sample."""

    @property
    def latest_rtt(self) -> int | None:
        """The newest RTT sample in nanoseconds; `None` before the first sample."""

    @property
    def min_rtt(self) -> int | None:
        """The minimum RTT of the connection in nanoseconds; `None` before the first sample."""

    @property
    def rwnd(self) -> int:
        """The receive window that the peer offers, in bytes."""

    @property
    def backlog(self) -> int | None:
        """The bytes that are ready to send and not yet sent; `None` if the host cannot know."""

    @property
    def delivered(self) -> int:
        """The bytes delivered so far, including those acknowledged selectively."""

    @property
    def una(self) -> int:
        """The first byte that is not cumulatively acknowledged, as an offset in the stream."""

    @property
    def nxt(self) -> int:
        """The next new byte to send, as an offset in the stream."""

    @property
    def rto(self) -> int:
        """The retransmission timeout in nanoseconds."""

    @property
    def limit(self) -> Literal["app", "window", "pacing", "receiver"]:
        """The limit on sending at the last transmission: `app`, `window`, `pacing` or `receiver`."""

    @property
    def recovering(self) -> bool:
        """Whether a loss episode is being repaired."""

    @property
    def last_sent(self) -> int | None:
        """The instant of the last transmission of a data packet, in nanoseconds; `None` before it."""

    @property
    def last_received(self) -> int | None:
        """The instant at which the last segment from the peer arrived, in nanoseconds; `None` before it."""

    @property
    def wake(self) -> int | None:
        """The wake-up that the host granted, in nanoseconds; `None` without one."""

class Begin:
    """A start-up or restart begins."""

    @property
    def origin(self) -> str:
        """Why it begins: `fresh`, `after-idle`, `after-timeout` or `path-change`."""

    @property
    def idle(self) -> int | None:
        """The time without a transmission, in nanoseconds; `None` unless the origin is `after-idle`."""

    @property
    def window(self) -> int | None:
        """The window from which to continue, in bytes; `None` for a new connection or path."""

    @property
    def ssthresh(self) -> int | None:
        """The slow-start threshold from before, in bytes; `None` if there is none."""

class Established:
    """The handshake is over."""

    @property
    def rtt(self) -> int | None:
        """The RTT of the handshake in nanoseconds; `None` if it could not be measured."""

    @property
    def syn_lost(self) -> bool:
        """Whether the SYN or SYN-ACK had to be retransmitted."""

class Sent:
    """A data packet was sent."""

    @property
    def packet(self) -> int:
        """The number of the transmission, from zero."""

    @property
    def bytes(self) -> int:
        """The payload bytes."""

    @property
    def tag(self) -> int:
        """The tag of the plan under which the packet was sent."""

    @property
    def retransmission(self) -> bool:
        """Whether the packet is a retransmission."""

class Packet:
    """A packet that an ACK newly acknowledges."""

    @property
    def packet(self) -> int:
        """The number of the packet's last transmission."""

    @property
    def bytes(self) -> int:
        """The payload bytes."""

    @property
    def sent_at(self) -> int:
        """The instant of the transmission in nanoseconds."""

    @property
    def tag(self) -> int:
        """The tag of the plan under which the packet was sent."""

    @property
    def delivered_at_send(self) -> int:
        """The bytes that were delivered when the packet left."""

    @property
    def limit(self) -> Literal["app", "window", "pacing", "receiver"]:
        """The limit on sending when the packet was sent: `app`, `window`, `pacing` or `receiver`."""

    @property
    def retransmitted(self) -> bool:
        """Whether the packet was sent more than once."""

    @property
    def selectively(self) -> bool:
        """Whether the packet was acknowledged selectively."""

class Acked:
    """An acknowledgement arrived."""

    @property
    def bytes(self) -> int:
        """The payload bytes newly delivered."""

    @property
    def advanced(self) -> int:
        """The bytes by which the cumulative acknowledgement advanced."""

    @property
    def sacked(self) -> int:
        """The bytes newly acknowledged selectively."""

    @property
    def segments(self) -> int:
        """The segments by which the cumulative acknowledgement advanced."""

    @property
    def duplicate(self) -> bool:
        """Whether the ACK is a duplicate."""

    @property
    def rtt(self) -> int | None:
        """The RTT sample in nanoseconds; `None` if there is none."""

    @property
    def delivery_rate(self) -> int | None:
        """The delivery rate in bits per second; `None` if there is no sample."""

    @property
    def round_ended(self) -> bool:
        """Whether an RTT ended with this ACK."""

    @property
    def round_sent(self) -> int:
        """The bytes of new data sent in the RTT that this ACK ended; zero if it ended none."""

    @property
    def growth(self) -> int:
        """The bytes by which this ACK may widen a window: zero during loss recovery, or if the window was not the limit."""

    @property
    def slow_start_growth(self) -> int:
        """The bytes by which slow start widens its window: `growth`, or at most a segment if slow start counts ACKs."""

    @property
    def packets(self) -> list[Packet]:
        """The packets that the ACK newly acknowledges, in order of sequence."""

    @property
    def newest(self) -> Packet | None:
        """The newest packet that the ACK acknowledges; `None` if the host does not know it."""

    @property
    def whole_packets(self) -> int:
        """The number of packets that the ACK completes."""

class Missing:
    """A packet found lost."""

    @property
    def packet(self) -> int:
        """The number of the lost transmission."""

    @property
    def bytes(self) -> int:
        """The payload bytes."""

    @property
    def tag(self) -> int:
        """The tag of the plan under which the packet was sent."""

class Lost:
    """Packets were found lost."""

    @property
    def bytes(self) -> int:
        """The payload bytes of the lost packets."""

    @property
    def ranges(self) -> int:
        """The number of separate ranges of the stream that the packets form."""

    @property
    def sent_at(self) -> int | None:
        """The instant in nanoseconds at which the newest of the packets was sent; `None` from a host of streams."""

    @property
    def opens_episode(self) -> bool:
        """Whether this loss opens an episode. Start-up answers these losses."""

    @property
    def persistent(self) -> bool:
        """Whether everything in flight was lost for longer than the persistence threshold (RFC 9002 section 7.6)."""

    @property
    def packets(self) -> list[Missing]:
        """The packets newly found lost."""

class Marked:
    """The peer echoed a congestion mark (ECN)."""

    @property
    def sent_at(self) -> int | None:
        """The instant in nanoseconds at which the newest acknowledged packet was sent; `None` from a host of streams."""

class TimedOut:
    """The retransmission timer fired."""

    @property
    def repeated(self) -> bool:
        """Whether the same segment timed out before."""

class SpuriousLoss:
    """The last reduction answered a loss that did not happen. The state from before the reduction is restored."""

class Asked:
    """The answer to a plan's request: whether the host could do it."""

    @property
    def done(self) -> bool:
        """Whether the host could do it."""

class Advice:
    """Advice from the network, or from the scheme around this one."""

    @property
    def kind(self) -> str:
        """The kind: `quick-start` (the routers answered a request) or `window` (continue from a window)."""

    @property
    def approved(self) -> int | None:
        """The approved rate in bits per second; `None` if the routers approved none."""

    @property
    def window(self) -> int | None:
        """The window from which to continue, in bytes; `None` for the other kind."""

    @property
    def ssthresh(self) -> int | None:
        """The slow-start threshold, in bytes; `None` leaves it unchanged."""

class TrainCut:
    """The train of a tag could not start, or could not be completed."""

    @property
    def tag(self) -> int:
        """The tag of the train."""

class Woken:
    """The requested wake-up is due."""

class MssChanged:
    """The size of a full segment changed to `path.mss`."""

class Pace:
    """Pacing at a rate."""

    def __init__(self, rate: float, burst: float | None = None) -> None: ...
    @property
    def rate(self) -> int:
        """The rate in IP bits per second."""

    @property
    def burst(self) -> int:
        """The largest burst in IP bytes."""

class Train:
    """A train of packets with exact gaps."""

    def __init__(self, packets: int, gap: float) -> None: ...
    @property
    def packets(self) -> int:
        """The number of packets."""

    @property
    def gap(self) -> int:
        """The nanoseconds from the start of a packet to the start of the next."""

class Plan:
    """A plan: how much may be in flight, and how packets are sent."""

    def __init__(
        self,
        window: float,
        *,
        pacing: Pace | Train | Literal["hold"] | None = None,
        tag: int | None = None,
        wake: float | None = None,
        ssthresh: float | None = None,
        ask: float | None = None,
    ) -> None:
        """Make a plan. `ask` is a rate in bits per second to request from the routers."""

    @property
    def window(self) -> int:
        """The maximum payload bytes in flight."""

    @property
    def pacing(self) -> Pace | Train | Literal["hold"] | None:
        """The pacing: `None` on the ACK clock, a `Pace`, a `Train` or `"hold"`."""

    @property
    def tag(self) -> int:
        """The tag of packets that are sent under the plan."""

    @property
    def wake(self) -> int | None:
        """The instant of the wake-up in nanoseconds; `None` without one."""

    @property
    def ssthresh(self) -> int | None:
        """The slow-start threshold in bytes; `None` if there is none."""

    @property
    def ask(self) -> int | None:
        """The rate in bits per second to request from the routers; `None` requests none."""

class Exit:
    """The end of a start-up: its cause, and what was learned."""

    @property
    def cause(self) -> str:
        """The cause."""

    @property
    def window(self) -> int | None:
        """The window in bytes; `None` is the scheme's window."""

    @property
    def ssthresh(self) -> int | None:
        """The slow-start threshold in bytes; `None` is the window, or the law's choice after congestion."""

    @property
    def rate(self) -> int | None:
        """The rate found, in IP bits per second; `None` if none was found."""

#: An event of a connection.
_Event: TypeAlias = (
    Begin
    | Established
    | Sent
    | Acked
    | Lost
    | Marked
    | TimedOut
    | SpuriousLoss
    | Asked
    | Advice
    | TrainCut
    | Woken
    | MssChanged
)

_Cause: TypeAlias = Literal[
    "threshold",
    "delay",
    "ack-train",
    "css-end",
    "dispersion",
    "rate-flat",
    "loss",
    "timeout",
    "mark",
    "advice",
    "app",
]

def exit(
    cause: _Cause, *, window: float | None = None, ssthresh: float | None = None, rate: float | None = None
) -> Exit:
    """Return the end of a start-up, for a hook or `on` to return.

    `window` is the congestion window in bytes from then on [the scheme's window], `ssthresh` the slow-start threshold in bytes [the window;
    after `loss`, `timeout` and `mark` the law reduces the window and sets the threshold], and `rate` the rate found, in IP bits per second.
    """

class SlowStartState:
    """The state of the built-in slow start."""

    @property
    def window(self) -> int:
        """The congestion window in bytes."""

    @window.setter
    def window(self, window: float) -> None: ...
    @property
    def threshold(self) -> int | None:
        """The slow-start threshold in bytes; `None` is arbitrarily high."""

    @threshold.setter
    def threshold(self, threshold: float | None) -> None: ...
    def on(self, event: _Event, path: PathState) -> Exit | None:
        """Take an event as the built-in slow start does. Return its exit, or `None` if start-up continues."""

    def plan(self, path: PathState) -> Plan:
        """Return the plan of the built-in slow start."""
