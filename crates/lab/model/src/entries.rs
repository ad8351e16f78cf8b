//! The models for the command line. The defaults of their parameters are the reference case of each source. The module also makes the cells
//! of the results.

use firstflight::{Bytes, RateCode, Span};

use super::admission::{Admission, MAX_HALVINGS, MeanTime};
use super::catalog::{Cell, Model, Row, Unit};
use super::error::ModelError;
use super::limited::{Division, LimitedGrowth};
use super::paced::{self, Train};
use super::ptr::{Control, Probing};
use super::ring::Ring;
use super::settings::{Parameter, Quantity, Settings};
use super::transfer::{SmallTransfers, Transfer};
use firstflight_scenario::kind::Kind;

/// Every model.
pub static MODELS: [Model; 8] =
    [SLOW_START, QUICK_START, PROBABILITY, RING_BUFFER, PACED, PACED_TABLE, PTR, LIMITED];

const fn parameter(name: &'static str, kind: Kind, default: &'static str, help: &'static str) -> Parameter {
    Parameter { name, kind, default: Some(default), unset: "", help }
}

const fn optional(name: &'static str, kind: Kind, unset: &'static str, help: &'static str) -> Parameter {
    Parameter { name, kind, default: None, unset, help }
}

const SIZE: Parameter = parameter("size", Kind::Size, "250kB", "payload of the transfer (s)");
const RATE: Parameter = parameter("rate", Kind::Rate, "10mbit", "the path's rate, headers included (r)");
const RTT: Parameter = parameter("rtt", Kind::Span, "100ms", "round-trip time (τ)");
const MSS: Parameter =
    optional("mss", Kind::Size, "1460B, or --packet less 40", "payload of a full segment (L)");
const PACKET: Parameter = optional("packet", Kind::Size, "--mss and 40", "IP bytes of a full packet (MTU)");
const IW: Parameter = parameter("iw", Kind::Packets, "3p", "initial window (w)");
const SEGMENTS_PER_ACK: Parameter =
    parameter("segments-per-ack", Kind::Count(1000), "2", "segments that an ACK acknowledges (b)");
const REQUEST: Parameter = optional(
    "request",
    Kind::Rate,
    "the highest rate code that --rate holds",
    "approved rate, headers included (q)",
);
const MAX_RTT: Parameter =
    parameter("max-rtt", Kind::Span, "100ms", "the longest round-trip time a router reckons with (RTTmax)");
const INTERVAL: Parameter =
    parameter("interval", Kind::Span, "100ms", "from one measurement of the rate to the next (D)");

const SLOW_START: Model = Model {
    name: "slow-start",
    summary: "transfer time with slow start over a path that the transfer has to itself",
    source: "Scharf 2007, equations 1 to 4, 6 and 13",
    parameters: &[SIZE, RATE, RTT, MSS, PACKET, IW, SEGMENTS_PER_ACK],
    complete: complete_segment,
    rows: |settings| Ok(vec![slow_start(&transfer(settings))?]),
};

const QUICK_START: Model = Model {
    name: "quick-start",
    summary: "transfer time with an approved Quick-Start request, and the gain over slow start",
    source: "Scharf 2007, equations 1 to 6 and 13",
    parameters: &[
        SIZE,
        RATE,
        RTT,
        REQUEST,
        MSS,
        PACKET,
        IW,
        SEGMENTS_PER_ACK,
        parameter(
            "small",
            Kind::Word(&["ask", "slow-start"]),
            "ask",
            "a transfer within the initial window: asks too, as in the paper, or is left to slow start",
        ),
    ],
    complete: |settings| {
        complete_segment(settings)?;
        complete_request(settings)
    },
    rows: |settings| Ok(vec![quick_start(settings)?]),
};

const PROBABILITY: Model = Model {
    name: "quick-start-probability",
    summary: "how often a Quick-Start request succeeds on a shared link, and the mean transfer time",
    source: "Scharf 2007, equations 7 to 12",
    parameters: &[
        parameter("threshold", Kind::Share, "0.5", "utilisation up to which a link counts as underused (θ)"),
        parameter("load", Kind::Share, "0.2", "mean measured utilisation (μ)"),
        parameter("deviation", Kind::Share, "0.1", "its standard deviation (σ)"),
        optional("arrivals", Kind::PerSecond, "load × link rate / size", "requests a second (λ)"),
        REQUEST,
        parameter("link-rate", Kind::Rate, "100mbit", "rate of the shared link (r)"),
        MAX_RTT,
        INTERVAL,
        parameter(
            "halvings",
            Kind::Count(MAX_HALVINGS as u64),
            "1",
            "how often a request may be halved with reduction; the paper's is 1",
        ),
        SIZE,
        parameter("rate", Kind::Rate, "10mbit", "rate of the access link, which bounds a transfer (r_A)"),
        RTT,
        MSS,
        PACKET,
        IW,
        SEGMENTS_PER_ACK,
    ],
    complete: |settings| {
        complete_segment(settings)?;
        complete_request(settings)?;
        if settings.get("arrivals").is_none() {
            // In section VI-B, the mean load is S λ / r, with S in bits.
            let link = settings.number("load") * settings.number("link-rate");
            settings.put("arrivals", Quantity::PerSecond(link / (8.0 * settings.number("size"))));
        }
        Ok(())
    },
    rows: |settings| Ok(vec![probability(settings)?]),
};

const RING_BUFFER: Model = Model {
    name: "ring-buffer",
    summary: "how long a Quick-Start router must remember approvals, and the slots of its ring",
    source: "Scharf 2007, equation 7 and section V-D",
    parameters: &[MAX_RTT, INTERVAL],
    complete: |_| Ok(()),
    rows: |settings| Ok(vec![ring_buffer(settings)?]),
};

const PACED: Model = Model {
    name: "paced",
    summary: "the gap that Paced Start leaves with under the packet-train model",
    source: "Hu and Steenkiste 2003, sections 3.2.1 to 3.2.3",
    parameters: &[
        parameter("available", Kind::Share, "60%", "available share of the capacity (α)"),
        parameter("rate", Kind::Rate, "100mbit", "capacity (B)"),
        parameter("rtt", Kind::Span, "80ms", "round-trip time"),
        parameter("packet", Kind::Size, "1000B", "IP bytes of a packet"),
    ],
    complete: |_| Ok(()),
    rows: |settings| Ok(vec![paced(settings)?]),
};

const PACED_TABLE: Model = Model {
    name: "paced-table",
    summary: "Table 2 of Paced Start, its bounds exact: the cases in which it leaves, in gaps of the capacity",
    source: "Hu and Steenkiste 2003, Table 2",
    parameters: &[],
    complete: |_| Ok(()),
    rows: |_| Ok(paced::table_2().iter().map(paced_case).collect()),
};

const PTR: Model = Model {
    name: "ptr",
    summary: "what packet transmission rate probing finds under the packet-train model, as program and as paper",
    source: "Hu and Steenkiste, JSAC 2003; IGI/PTR 2.2",
    parameters: &[
        parameter("available", Kind::Share, "64%", "available share of the capacity (α)"),
        parameter("rate", Kind::Rate, "10mbit", "capacity (B)"),
        parameter("packet", Kind::Size, "500B", "IP bytes of a packet"),
        parameter("loop", Kind::Word(&["program", "paper"]), "program", "whose control loop"),
        optional(
            "tolerance",
            Kind::Share,
            "0, or 10% with --loop paper",
            "difference of equal gaps, as a share (δ)",
        ),
        optional("slack", Kind::Span, "5us, or 0 with --loop paper", "the same as a time"),
        parameter(
            "jump",
            Kind::Word(&["never", "halfway"]),
            "never",
            "past gaps far too small: never, as the program does, or halfway, as it means to",
        ),
    ],
    complete: |settings| {
        let paper = settings.is("loop", "paper");
        if settings.get("tolerance").is_none() {
            settings.put("tolerance", Quantity::Share(if paper { 0.1 } else { 0.0 }));
        }
        if settings.get("slack").is_none() {
            let slack = if paper { Span::ZERO } else { Span::from_micros(5) };
            settings.put("slack", Quantity::Span(slack));
        }
        Ok(())
    },
    rows: |settings| Ok(vec![ptr(settings)?]),
};

const LIMITED: Model = Model {
    name: "limited",
    summary: "limited slow start's time to a window",
    source: "RFC 3742",
    parameters: &[
        parameter("window", Kind::Packets, "5000p", "window to reach"),
        parameter("max-ssthresh", Kind::Packets, "100p", "window from which growth is limited"),
        parameter("rtt", Kind::Span, "200ms", "round-trip time"),
        parameter("iw", Kind::Packets, "1p", "initial window"),
        parameter("segments-per-ack", Kind::Count(1000), "1", "segments that an ACK acknowledges (b)"),
        parameter("mss", Kind::Size, "1460B", "bytes of a segment, for what truncation loses"),
        parameter(
            "division",
            Kind::Word(&["carry", "truncate"]),
            "carry",
            "the rest of MSS / K: carried to the next ACK, or lost as RFC 3742 writes it",
        ),
    ],
    complete: |_| Ok(()),
    rows: |settings| Ok(vec![limited(settings)?]),
};

/// Bytes of the IPv4 and TCP headers without options.
const HEADERS: Bytes = Bytes::new(40);

/// Computes the segment size from the packet size or vice versa, as in a race.
fn complete_segment(settings: &mut Settings) -> Result<(), ModelError> {
    match (settings.get("mss"), settings.get("packet")) {
        (Some(Quantity::Size(mss)), None) => settings.put("packet", Quantity::Size(mss + HEADERS)),
        (None, Some(Quantity::Size(packet))) if packet <= HEADERS => {
            let why = format!("{} bytes have no room for {} of headers", packet.get(), HEADERS.get());
            return Err(ModelError::Together { parameter: "packet", why });
        }
        (None, Some(Quantity::Size(packet))) => settings.put("mss", Quantity::Size(packet - HEADERS)),
        (None, None) => {
            settings.put("mss", Quantity::Size(Bytes::new(1460)));
            settings.put("packet", Quantity::Size(Bytes::new(1500)));
        }
        _ => {}
    }
    Ok(())
}

/// Sets the unset request: the sender requests the highest rate that fits its access link, 5.12 Mbit/s at 10 Mbit/s (section IV-A).
fn complete_request(settings: &mut Settings) -> Result<(), ModelError> {
    let (None, Some(Quantity::Rate(rate))) = (settings.get("request"), settings.get("rate")) else {
        return Ok(());
    };
    let code = RateCode::down(rate);
    if code.is_denied() {
        let why = format!("{} bit/s hold no Quick-Start rate; the lowest is 80 kbit/s", rate.bps());
        return Err(ModelError::Together { parameter: "rate", why });
    }
    settings.put("request", Quantity::Rate(code.rate()));
    Ok(())
}

fn transfer(settings: &Settings) -> Transfer {
    Transfer {
        size: settings.number("size"),
        rate: settings.number("rate"),
        rtt: settings.number("rtt"),
        mss: settings.number("mss"),
        packet: settings.number("packet"),
        initial_window: settings.number("iw"),
        segments_per_ack: settings.number("segments-per-ack"),
    }
}

fn slow_start(transfer: &Transfer) -> Result<Row, ModelError> {
    let time = transfer.slow_start()?;
    let payload = 8.0 * time.payload_rate;
    Ok(vec![
        Cell::number("payload_rate_bps", Unit::BitsPerSecond, payload, "R, the rate of payload"),
        Cell::number("pipe_packets", Unit::Packets, time.pipe, "P, what fills the pipe"),
        Cell::whole("filling_round", time.filling_round, "κ, eq. 2: first round whose window fills it"),
        Cell::whole("rounds", time.rounds, "ν, eq. 3: rounds if all goes in slow start"),
        Cell::whole("whole_rounds", time.whole_rounds, "ψ, eq. 4: rounds used whole").main(),
        Cell::number("sent_in_rounds_packets", Unit::Packets, time.segments_in_rounds, "M(ψ), sent in those"),
        Cell::seconds("sojourn_s", time.sojourn, "Γ, eq. 1: first data sent to last arrived"),
        Cell::seconds("transfer_s", time.transfer, "T, eq. 6: with the handshake").main(),
        Cell::seconds("response_s", time.response, "T', eq. 13: a server's response").main(),
    ])
}

fn quick_start(settings: &Settings) -> Result<Row, ModelError> {
    let transfer = transfer(settings);
    let small = if settings.is("small", "ask") { SmallTransfers::Ask } else { SmallTransfers::SlowStart };
    let slow = transfer.slow_start()?;
    let quick = transfer.quick_start(settings.number("request"), small)?;
    let asked = if quick.asked { "yes" } else { "no" };
    let paced = 8.0 * quick.paced_rate;
    Ok(vec![
        Cell::number("paced_payload_rate_bps", Unit::BitsPerSecond, paced, "Q, payload at the approved rate"),
        Cell::number("paced_bytes", Unit::Bytes, quick.paced_bytes, "Q τ, what the paced round trip holds"),
        Cell::number(
            "quick_start_window_packets",
            Unit::Packets,
            quick.window,
            "q τ / MTU, RFC 4782 sec. 4.4",
        ),
        Cell::seconds("gap_s", quick.gap, "from packet to packet when paced"),
        Cell::word("asked", asked, "whether Quick-Start is asked for"),
        Cell::seconds("sojourn_s", quick.sojourn, "Γ, eq. 5: first data sent to last arrived"),
        Cell::seconds("slow_start_transfer_s", slow.transfer, "T of slow start, eq. 1 and 6").main(),
        Cell::seconds("transfer_s", quick.transfer, "T of Quick-Start, eq. 5 and 6").main(),
        Cell::plain("improvement", quick.improvement, "η, slow start's T over this one").main(),
        Cell::seconds("slow_start_response_s", slow.response, "T' of slow start, eq. 1 and 13"),
        Cell::seconds("response_s", quick.response, "T' of Quick-Start, eq. 5 and 13"),
        Cell::plain("response_improvement", quick.response_improvement, "slow start's T' over this one"),
    ])
}

fn probability(settings: &Settings) -> Result<Row, ModelError> {
    let hold = seconds(Ring::new(settings.span("max-rtt"), settings.span("interval"))?.hold());
    let halvings = u32::try_from(whole(settings.number("halvings"))).unwrap_or(u32::MAX);
    let reduced = Admission {
        threshold: settings.number("threshold"),
        load: settings.number("load"),
        deviation: settings.number("deviation"),
        arrivals: settings.number("arrivals"),
        request: settings.number("request"),
        link_rate: settings.number("link-rate"),
        hold,
        halvings,
    };
    let whole = Admission { halvings: 0, ..reduced };
    let transfer = transfer(settings);
    let approval = reduced.approval()?;
    let half = approval.granted.get(1).copied().unwrap_or(0.0);
    let MeanTime { slow_start, quick_start, mean } = whole.mean_time(&transfer)?;
    let with_reduction = reduced.mean_time(&transfer)?.mean;
    Ok(vec![
        Cell::seconds("hold_s", hold, "H, eq. 7: how long approvals count"),
        Cell::plain("expected_requests", reduced.expected_requests(), "λ H, requests within that time"),
        Cell::plain("success", whole.approval()?.any(), "p(q), eq. 10: without reduction").main(),
        Cell::plain("success_reduced", approval.any(), "p, eq. 11: with reduction, any rate").main(),
        Cell::plain("success_reduced_whole", approval.granted[0], "p(q), eq. 11: with reduction, all of it"),
        Cell::plain("success_reduced_half", half, "p(q/2), eq. 11: with reduction, half of it"),
        Cell::seconds("slow_start_transfer_s", slow_start, "T of slow start, eq. 6").main(),
        Cell::seconds("quick_start_transfer_s", quick_start, "T with all of q granted, eq. 6").main(),
        Cell::seconds("mean_transfer_s", mean, "mean T, eq. 12: without reduction").main(),
        Cell::seconds("mean_transfer_reduced_s", with_reduction, "mean T, eq. 12: with reduction").main(),
    ])
}

fn ring_buffer(settings: &Settings) -> Result<Row, ModelError> {
    let ring = Ring::new(settings.span("max-rtt"), settings.span("interval"))?;
    Ok(vec![
        Cell::seconds("hold_s", seconds(ring.hold()), "H, eq. 7: minimum time to remember").main(),
        Cell::whole("slots", ring.slots(), "⌈RTTmax / D + 2⌉, sec. V-D").main(),
        Cell::seconds("least_memory_s", seconds(ring.least_memory()), "(n-1) D, what it remembers at least")
            .main(),
        Cell::seconds("most_memory_s", seconds(ring.most_memory()), "n D, what it remembers at most").main(),
    ])
}

fn paced(settings: &Settings) -> Result<Row, ModelError> {
    let [rate, rtt, packet] = ["rate", "rtt", "packet"].map(|name| settings.number(name));
    let train = Train::new(8.0 * packet / rate, settings.number("available"))?;
    let exit = train.exit();
    // The first train after the packet pair has twice the gap at capacity.
    let first = 2.0 * train.capacity_gap;
    let arrives = train.destination_gap(first);
    let solved = train.is_congested(first).then(|| train.solved_share(first, arrives));
    // Because of rounding, the quotient of two doubles may be slightly below a whole number.
    let window = |gap: f64| whole(rtt / gap * (1.0 + 1e-12));
    Ok(vec![
        Cell::seconds("capacity_gap_s", train.capacity_gap, "g_B, the gap at capacity"),
        Cell::seconds("ideal_gap_s", train.ideal_gap(), "g* = g_B / α, the gap to find").main(),
        Cell::seconds("first_destination_gap_s", arrives, "g_d of the first train, sent with 2 g_B"),
        Cell::maybe("solved_available", Unit::One, solved, "α solved from it, if it was congested"),
        Cell::whole("case", exit.case, "its row in Table 2").main(),
        Cell::whole("trains", exit.trains, "trains sent, the pair included").main(),
        Cell::plain("exit_gap", exit.gap / train.capacity_gap, "the exit gap over g_B").main(),
        Cell::seconds("exit_gap_s", exit.gap, "the gap it leaves with").main(),
        Cell::plain("sent_over_available", exit.sent_over_available, "(1/α) / g, Table 2").main(),
        Cell::packets("window_packets", window(exit.gap), "RTT / g, sec. 3.2.2: the window it fills").main(),
        Cell::packets("ideal_window_packets", window(train.ideal_gap()), "RTT / g*").main(),
    ])
}

fn paced_case(case: &paced::Case) -> Row {
    let ratio = case.ratio_at_least;
    vec![
        Cell::whole("case", case.case, "case").main(),
        Cell::plain("least_available", case.least_available, "α, from").main(),
        Cell::plain("most_available", case.most_available, "α, to").main(),
        Cell::word("exit_gap_formula", case.formula, "exit gap over g_B, as a formula").main(),
        Cell::plain("exit_gap_at_most", case.gap_at_most, "exit gap over g_B at the largest α").main(),
        Cell::plain("exit_gap_at_least", case.gap_at_least, "exit gap over g_B at the minimum α").main(),
        Cell::plain("ratio_at_most", case.ratio_at_most, "sent over available at the largest α").main(),
        Cell::maybe("ratio_at_least", Unit::One, ratio, "sent over available at the minimum α").main(),
        Cell::whole("trains", case.trains, "trains sent, the pair included").main(),
    ]
}

fn ptr(settings: &Settings) -> Result<Row, ModelError> {
    let [rate, packet, available] = ["rate", "packet", "available"].map(|name| settings.number(name));
    let train = Train::new(8.0 * packet / rate, available)?;
    let turn = Probing {
        train,
        control: if settings.is("loop", "paper") { Control::Paper } else { Control::Program },
        tolerance: settings.number("tolerance"),
        slack: settings.number("slack"),
        jumps: settings.is("jump", "halfway"),
    }
    .turn()?;
    let found = 8.0 * packet / turn.destination_gap;
    Ok(vec![
        Cell::seconds("capacity_gap_s", train.capacity_gap, "g_B, the gap at capacity"),
        Cell::seconds("ideal_gap_s", train.ideal_gap(), "g* = g_B / α, the gap to find"),
        Cell::seconds("source_gap_s", turn.source_gap, "the first gap that was equal on arrival").main(),
        Cell::seconds("destination_gap_s", turn.destination_gap, "the gap with which it arrived").main(),
        Cell::number("ptr_bps", Unit::BitsPerSecond, found, "packet bits over that, the rate found").main(),
        Cell::plain("ptr_over_available", found / (rate * available), "over what is available").main(),
        Cell::whole("gaps", turn.gaps, "gaps tried, a burst's included").main(),
        Cell::whole("trains", turn.trains, "trains sent").main(),
    ])
}

fn limited(settings: &Settings) -> Result<Row, ModelError> {
    let division = if settings.is("division", "carry") { Division::Carry } else { Division::Truncate };
    let model = LimitedGrowth {
        window: settings.number("window"),
        max_ssthresh: settings.number("max-ssthresh"),
        initial_window: settings.number("iw"),
        rtt: settings.number("rtt"),
        segments_per_ack: settings.number("segments-per-ack"),
        mss: settings.number("mss"),
        division,
    };
    let growth = model.growth()?;
    let slow = growth.slow_start_round_trips;
    Ok(vec![
        Cell::maybe("round_trips", Unit::One, growth.round_trips, "round trips by the rule").main(),
        Cell::maybe("time_s", Unit::Seconds, growth.time, "those in seconds").main(),
        Cell::plain(
            "formula_round_trips",
            growth.formula_round_trips,
            "RFC 3742's formula, an ACK a segment",
        )
        .main(),
        Cell::plain("slow_start_round_trips", slow, "without the limit").main(),
        Cell::whole("divisor", whole(growth.divisor), "K at the window").main(),
        Cell::number("bytes_per_ack", Unit::Bytes, growth.bytes_per_ack, "what an ACK adds there"),
    ])
}

fn seconds(span: Span) -> f64 {
    Quantity::Span(span).number()
}

/// Returns the whole part.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the whole part; never negative")]
fn whole(number: f64) -> u64 {
    number as u64
}
