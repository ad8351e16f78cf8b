//! The receiver of a window of which every second packet is missing: the processing of a segment, and the ACK sent for it.

use std::hint::black_box;

use firstflight::avoidance::Reno;
use firstflight::restart::Rfc5681;
use firstflight::schemes::SlowStart;
use firstflight::{Controller, Span, Time};
use firstflight_tcp::{AckPolicy, Config, Endpoint, Recovery, Role, Segment};
use gungraun::prelude::*;

use crate::ACKS;
use crate::line::{INITIAL, MSS};

pub(crate) type Server = Endpoint<SlowStart, Rfc5681, Reno>;

/// Receivers, and the segments that each of them receives.
pub(crate) type Work = Vec<(Server, Vec<Segment>)>;

/// The segments that are counted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Missing {
    /// Every second packet beyond the window: each is a separate range after all others.
    Beyond,
    /// The missing packets of the window in their order, except for the first one, whose retransmission was lost: each joins two ranges,
    /// and none is delivered.
    Between,
}

/// Returns a receiver of a window of this many packets, of which every second one is missing, the first included; and the segments.
pub(crate) fn half_missing(window: u64, missing: Missing) -> (Server, Vec<Segment>) {
    let (mut server, template) = connected();
    for index in (1..window).step_by(2) {
        hear_one(&mut server, &packet(&template, index));
    }
    let count = usize::try_from(window / 20).map_or(ACKS, |part| part.min(ACKS));
    let first = match missing {
        Missing::Beyond => window + 1,
        Missing::Between => 2,
    };
    let mut segments = Vec::with_capacity(count);
    for index in 0..count as u64 {
        segments.push(packet(&template, first + 2 * index));
    }
    (server, segments)
}

/// Returns the packet at this place in the stream.
fn packet(template: &Segment, index: u64) -> Segment {
    let mut packet = *template;
    packet.seq = template.seq.wrapping_add(u32::try_from(index * u64::from(MSS)).expect("below 4 GB"));
    packet.len = MSS;
    packet
}

/// Returns a receiver after the handshake, and a segment of the sender's without payload.
fn connected() -> (Server, Segment) {
    let config =
        Config { mss: MSS, recovery: Recovery::Sack, ack_policy: AckPolicy::Every, ..Config::default() };
    let controller = || Controller::new(SlowStart::new(INITIAL), Rfc5681::new(INITIAL), Reno::new());
    let mut client = Endpoint::new(Role::Client, &config, controller());
    let mut server = Endpoint::new(Role::Server, &config, controller());
    client.open(at());
    let mut last = None;
    for _ in 0..2 {
        while let Some(transmit) = client.poll_transmit(at()) {
            last = Some(transmit.segment);
            server.on_segment(at(), &transmit.segment);
        }
        while let Some(transmit) = server.poll_transmit(at()) {
            client.on_segment(at(), &transmit.segment);
        }
    }
    (server, last.expect("the ACK that ends the handshake"))
}

/// Returns the time of all events: a receiver that acknowledges every segment needs no other.
fn at() -> Time {
    Time::ZERO + Span::from_secs(1)
}

fn hear_one(server: &mut Server, segment: &Segment) {
    server.on_segment(at(), segment);
    while let Some(transmit) = server.poll_transmit(at()) {
        black_box(transmit);
    }
    while let Some(event) = server.poll_event() {
        black_box(event);
    }
    black_box(server.next_timer());
}

/// Returns a twentieth of the window in segments, repeated to [`ACKS`] of them; or [`ACKS`] consecutive ones.
pub(crate) fn work(window: u64, missing: Missing) -> Work {
    let one = half_missing(window, missing);
    let repeats = ACKS / one.1.len();
    vec![one; repeats]
}

pub(crate) fn on_ack(mut work: Work) -> Work {
    for (server, segments) in &mut work {
        for segment in segments {
            hear_one(server, segment);
        }
    }
    work
}

macro_rules! windows {
    ($name:ident, $missing:ident) => {
        #[library_benchmark]
        #[bench::w1e2(work(100, Missing::$missing))]
        #[bench::w1e3(work(1_000, Missing::$missing))]
        #[bench::w1e4(work(10_000, Missing::$missing))]
        #[bench::w1e5(work(100_000, Missing::$missing))]
        fn $name(work: Work) -> Work {
            on_ack(work)
        }
    };
}

windows!(receiver_beyond, Beyond);
windows!(receiver_between, Between);
