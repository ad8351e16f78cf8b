"""The keys of a path, and the names of schemes, laws and paths. Made by python/make_keys.py; a test compares them."""

from __future__ import annotations

import os
from typing import Literal, TypedDict

#: The start-up schemes.
Scheme = Literal[
    "slow-start",
    "slow-start-paced",
    "limited",
    "vegas",
    "packet-pair",
    "adaptive",
    "paced",
    "hystart",
    "hystart-linux",
    "hystart++",
    "suss",
    "rapid-start",
    "search",
    "bbr",
    "careful-resume",
    "leap",
    "leap-saved",
    "quick-start",
]

#: The avoidance laws.
Law = Literal[
    "reno",
    "reno-acks",
    "cubic",
    "cubic-linux",
    "vegas",
    "vegas-linux",
    "westwood",
    "bbr",
    "bbr-cruise",
]

#: The paths that have a name.
Preset = Literal[
    "quicly-dsl",
    "quicly-home-wifi",
    "quicly-public",
    "quicly-corporate-wifi",
    "quicly-lte",
    "quicly-5g",
    "quicly-leo",
    "quicly-geo",
    "quicly-docomo-office",
    "quicly-au-office",
    "quicly-wifi-office",
    "quicly-docomo-mall",
    "quicly-congested",
    "lighthouse-slow-4g",
    "lighthouse-3g",
    "lighthouse-desktop",
    "devtools-3g",
    "devtools-slow-4g",
    "devtools-fast-4g",
    "wpt-cable",
    "wpt-dsl",
    "wpt-fios",
    "wpt-dial",
    "wpt-3g",
    "wpt-3g-fast",
    "wpt-3g-slow",
    "wpt-edge",
    "wpt-2g",
    "atc-3g-average",
    "atc-3g-good",
    "atc-edge-average",
    "atc-edge-good",
    "atc-edge-lossy",
    "atc-2g-urban",
    "atc-2g-rural",
    "atc-cable",
    "atc-dsl",
    "pantheon-nepal-india",
    "pantheon-mexico-california",
    "pantheon-brazil-colombia",
    "pantheon-india-wired",
    "pantheon-korea-china",
    "pantheon-california-mexico",
    "picoquic-blackhole",
    "picoquic-drop-and-back",
    "picoquic-low-and-up",
    "picoquic-asymmetric",
    "picoquic-media",
    "picoquic-satellite",
    "noq-i819",
]


class Keys(TypedDict, total=False):
    """The keys of a path, its endpoints and its runs. Numbers are bit/s, seconds, bytes, packets or shares."""

    path: Preset | str | None
    """A path by name, as `firstflight paths` lists them, such as quicly-lte: sets the keys of this path, each
    unless it is given too [none]."""

    rate: str | float | None
    """Bottleneck rate, such as 100mbit [100mbit]."""

    rtt: str | float | None
    """Base round-trip time, such as 80ms [80ms]."""

    queue: str | float | None
    """Queue at the bottleneck: 1000p, 64kB or 0.3bdp, or managed, as in red:100p, codel:1000p, fq-codel:1000p,
    pie:1000p, with `,ecn` to mark; of packets the one in transmission counts, of bytes it does not
    [built-in path: 1000p; else 1bdp]."""

    cross: str | os.PathLike[str] | list[str] | list[str | float] | None
    """Cross traffic: none, a CBR rate, cubic:N, bbr:N, reno:N, tcp:N[,SCHEME][,LAW], onoff:RATE,ON,OFF,
    poisson:PER-SECOND,SIZE, poisson:RATE,SIZE, users:N,SIZE or web:LOAD, with start=TIME, stop=TIME,
    way=reverse, rtt=TIME[..TIME], rwnd=SIZE, and of what arrives scheme=SCHEME, law=LAW; given again, or
    behind a `;`, another [built-in path: 40mbit; else none]."""

    mss: str | float | None
    """Payload of a full segment; the IP packet is 40 bytes more [1460]."""

    packet: str | float | None
    """IP bytes of a full packet, instead of --mss [built-in path: 1000B]."""

    size: str | float | None
    """Bytes to transfer; runs until the last is delivered [1MB; with --rounds 24kB; built-in path:
    --duration]."""

    rounds: str | int | None
    """Rounds: in each a reply of --size on every client's connection; compares restart policies [none]."""

    idle: str | float | None
    """Idle time between rounds; 0 begins a round as the one before ends [120s]."""

    spread: str | float | None
    """How far a client's reply may be from its round's centre, or none [none; with several clients 1500ms]."""

    clients: str | int | None
    """Clients with rounds, all with the same scheme; with a scheme each they are said by flow [1]."""

    flow: str | os.PathLike[str] | list[str] | list[str | float] | None
    """A flow said by itself, any of scheme=NAME[:k=v,…], start=TIME, size=BYTES or end=TIME,
    from=ROUTER/PLACE, to=ROUTER/PLACE, ack=POLICY, restart=POLICY; given again, or behind a `;`, another;
    with rounds a client of scheme, ack and restart; in a file [[flow]] [none]."""

    flows: str | int | None
    """Number of measured flows between the hosts of a dumbbell or a parking lot, instead of one flow [none]."""

    arrivals: str | os.PathLike[str] | None
    """Arrivals of the flows: poisson:PER-SECOND, every:TIME, users:N, who wait for web pages, or
    at:TIME,TIME,…, which says their number too [with --flows: poisson:20]."""

    sizes: str | os.PathLike[str] | None
    """Distribution of the flows' sizes around --size: fixed, exponential, lognormal=SIGMA or pareto=SHAPE
    [fixed]."""

    warm_up: str | float | None
    """Warm-up time: flows that arrive in it are not measured; or none [with poisson: 10s or 100 RTTs; else
    none]."""

    mixed: bool | None
    """Adds a population in which each flow takes one of the schemes at random."""

    mixed_share: str | float | None
    """Adds a population in which this share of the flows takes the first scheme, and the other schemes share
    the rest equally, such as 5% [equal shares]."""

    app: str | os.PathLike[str] | None
    """Periodic writes of the application: size and interval, as in 64kB,200ms, or all at once [all]."""

    duration: str | float | None
    """How long to send, instead of --size [built-in path: 50s]."""

    limit: str | float | None
    """The longest simulated time of a transfer with --size [1h]."""

    access_rate: str | float | None
    """Access link's rate [ten times the bottleneck]."""

    receiver_access_rate: str | float | None
    """Rate of each receiver's access link, behind the last bottleneck and with a queue like its, or none,
    which is no such link; with --flows of the link to each host, none being the access rate and no queue
    that overflows [none]."""

    reverse_rate: str | float | None
    """Rate of the reverse path; with --flows of the links from the last router to the first [the access rate,
    or with --flows the bottleneck's]."""

    reverse_queue: str | os.PathLike[str] | None
    """Queue of the reverse path: 100p, 64kB, or none, which never overflows; with --flows none is as --queue
    [none]."""

    reverse_rtt_share: str | float | None
    """Share of the base RTT on the reverse path, from 0 to 1 [0.5]."""

    loss: str | float | None
    """Random loss, such as 2%, or bursty loss with netem's numbers: gemodel:P[,R[,1-H[,1-K]]], each with %, as
    gemodel:1%,10% or netem's own `gemodel 1% 10%` [0]."""

    ack_loss: str | float | None
    """Random or bursty loss as of --loss, on each link of the reverse path; with --flows 0 is as --loss [0]."""

    jitter: str | float | None
    """Random extra delay of a packet, at most this; order is kept [none]."""

    reverse_jitter: str | float | None
    """Random extra delay of a packet on each link of the reverse path, at most this; order is kept [none]."""

    policer: str | os.PathLike[str] | None
    """Polices what enters the bottleneck, as in 20mbit,64kB [none]."""

    rate_trace: str | os.PathLike[str] | None
    """The bottleneck's rate over time: 0s=100mbit,5s=20mbit, a file (one `TIME RATE` a line, mahimahi's lines
    of milliseconds, netem-trace's JSON), or synthetic lte or leo; then any of loop, loop=TIME, once,
    start=TIME, start=random. Times are since the simulation began; with cross traffic the flow begins later
    [none, which is --rate throughout]."""

    ack_aggregation: str | float | None
    """Releases ACKs in batches: at an interval (5ms) or by number (16) [none]."""

    qs_hops: str | os.PathLike[str] | None
    """Routers that take part in Quick-Start: all, none, or how many of the first, the sender's own before its
    access link among them; with --flows counted along the row, in both directions [all]."""

    qs_router: str | os.PathLike[str] | None
    """What those routers do before links between routers, any of: threshold=95%,interval=100ms,
    estimator=interval|ewma|peak,weight=10%, intervals=N,reduction=yes|no,rtt-max=500ms or
    slots=N,ring=oldest|sum [the first of each; peak over rtt-max]."""

    qs_access: str | os.PathLike[str] | None
    """What those routers do before hosts' access links: approve up to the link's capacity whatever its load,
    approve all, or settings as of --qs-router [capacity]."""

    topology: str | os.PathLike[str] | None
    """Links: single, or parking-lot:hops=N[,cross=each|through|HOP], bottlenecks in series that share --rtt,
    each as --rate, --queue and the like say, with its own --cross (each), or all with one; for --flows
    dumbbell:hosts=N or parking-lot:hops=N,hosts=N, alike in both directions unless --reverse-rate and the
    like say otherwise, with ways=onward if all flows go one way [single]."""

    probe: str | os.PathLike[str] | None
    """Send trains that measure the available bandwidth, instead of flows: bracket, paper, program or gap:TIME,
    then any of packets=N,repeats=N,trains=N,tolerance=SHARE,slack=TIME [none]."""

    delay_trace: str | os.PathLike[str] | None
    """Extra delay of the data at the first bottleneck over time, in addition to --rtt: 0s=0,15s=20ms, a file
    with one `TIME DELAY` a line or netem-trace's JSON, or synthetic leo; then any of loop, loop=TIME, once,
    start=TIME, start=random. Order is kept [none]."""

    reorder: str | os.PathLike[str] | None
    """Displaces a share of the packets at the end of the forward path: 2%,3p lets 3 later ones overtake each,
    or arrive without them after at most 20ms (or 2%,3p,TIME); 1%,5ms lets each arrive 5 ms later [none]."""

    duplicate: str | float | None
    """Share of the packets that arrive twice at the end of the forward path, both copies at once, such as 1%
    [0]."""

    outage: str | os.PathLike[str] | None
    """Silences of the bottleneck, in which it sends nothing and its queue waits: 2s..4s,7s..8s, or
    200ms,every=2s[,start=TIME]. A packet in transmission pauses. Times are since the simulation began, as
    of --rate-trace, and it repeats up to --limit [none]."""

    aggregation: str | float | None
    """Releases packets in frames at the end of the forward path, as Wi-Fi does: at an interval (4ms), or of a
    number (16) that waits for 20ms at most (or 16,TIME) [none]."""

    avoidance: Law | str | None
    """Avoidance law of all schemes: reno, reno-acks, cubic, cubic-linux, vegas, vegas-linux, westwood, bbr;
    own for each scheme's own [built-in path: reno; else cubic]."""

    recovery: Literal["rack", "sack", "newreno", "newreno-steady", "reno", "vegas", "ns2-sack1"] | str | None
    """Loss recovery: rack, sack, newreno, newreno-steady, reno, vegas, ns2-sack1 [rack]."""

    stack: Literal["rfc", "linux", "noq", "quinn"] | str | None
    """Whose sender it is: TCP of the simulator, by the RFCs or as in Linux where they differ, or a QUIC stack:
    rfc, linux, noq, quinn [rfc]."""

    app_limited_growth: Literal["stack", "rfc7661", "linux", "ns2", "ns2-reno", "ns2-vegas"] | str | None
    """Rule for growing the window while the application limits it: stack, rfc7661, linux, ns2, ns2-reno,
    ns2-vegas [stack]."""

    limited_transmit: Literal["rfc3042", "ns2"] | str | None
    """What the first two duplicate ACKs send without SACK: only new data (RFC 3042), or after a timeout also
    the next retransmission (ns-2): rfc3042, ns2 [rfc3042]."""

    slow_start_counts: Literal["stack", "acks", "bytes"] | str | None
    """What widens the window in slow start: each ACK by a segment at most, or the bytes that ACKs acknowledge:
    stack, acks, bytes [stack]."""

    restart: str | os.PathLike[str] | None
    """Restart policies after idling, a row each: all, or of rfc5681, ssr, nssr, rbp-rate, rbp-cwnd, cwv,
    quick-start, with parameters as NAME/k=v [rfc5681]."""

    ack: Literal["every", "delayed", "linux", "freebsd", "windows-xp"] | str | None
    """When the receiver acknowledges: every:N[,TIME], every N full segments or after a time (25ms), or as one
    of these: every, delayed, linux, freebsd, windows-xp [built-in path: every; else delayed]."""

    iw: str | int | None
    """Initial window, such as 10p [built-in path: 2p; else 10p, of segments above 1460 bytes no more than
    14,600 bytes or 2p]."""

    ssthresh: str | float | None
    """Initial slow-start threshold, such as 20000p [built-in path: 20000p; else inf, which is arbitrarily
    high]."""

    rwnd: str | float | None
    """Receive buffer, such as 64kB [inf, which is more than any window]."""

    inflight_limit: Literal["none", "freebsd"] | str | None
    """Limit of the flight in addition to the windows: none, or FreeBSD's net.inet.tcp.inflight, the measured
    bandwidth times the round trip: none, freebsd [none]."""

    min_rto: str | float | None
    """Minimum retransmission timeout, such as 200ms [1s; with --stack linux 200ms]."""

    rto_floor: Literal["stack", "timeout", "variation", "ns2"] | str | None
    """What --min-rto bounds: the timeout (RFC 6298), its addition to the round-trip time (Linux), or the
    timeout alone (ns2): stack, timeout, variation, ns2 [stack]."""

    initial_rto: str | float | None
    """Retransmission timeout before the first round-trip sample, such as 3s; of data at least --min-rto where
    that bounds the timeout [1s]."""

    sack_blocks: Literal["sent", "withheld"] | str | None
    """What the receiver says of data above a hole where SACK was agreed on: sent, withheld [sent]."""

    host_cpu: Literal["none", "list", "list-hints"] | str | None
    """What a host's CPU takes time for: nothing, or a list of packets walked for SACK blocks and for what
    arrives out of order, with hints once for all blocks of an ACK: none, list, list-hints [none]."""

    cpu_packet: str | float | None
    """What looking at one packet of a list takes a host's CPU, such as 2ns [2ns]."""

    cpu_segment: str | float | None
    """What a segment that arrives takes a host's CPU apart from lists, such as 150ns [150ns]."""

    pacing_timer: str | float | None
    """Grain of the timer by which a sender's packets leave, such as 1ms: packets that a timer releases wait
    for the next tick, packets that an ACK releases only if others already wait [none]."""

    timer_noise: str | float | None
    """Bound of the lateness of a sender's timers, and so of paced packets, such as 20us: uniform from 0, drawn
    by the seed [with other flows on your own path 20us; else none]."""

    gso: str | float | None
    """Bursts of segmentation offload: what a sender's timer lets leave gathers to this many IP bytes, or for 1
    ms, such as 64kB [none]."""

    timestamps: bool | None
    """Use TCP timestamps, 12 bytes a packet."""

    ecn: bool | None
    """Use ECN on all TCP flows."""

    runs: str | int | None
    """Runs of each scheme, each with its own seed; fields become means, each with its FIELD_ci95 [1]."""

    seed: str | int | None
    """First seed [1]."""

    windows: str | os.PathLike[str] | None
    """Windows of time whose utilisation, goodput and drops each row has too, as in 10s..70s [none]."""

    links: str | os.PathLike[str] | None
    """Links that windows and slots measure in addition to the bottleneck, as in reverse:1,from:0/0 [none]."""
