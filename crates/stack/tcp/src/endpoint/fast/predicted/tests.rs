use firstflight::avoidance::Reno;
use firstflight::restart::Rfc5681;
use firstflight::schemes::{Initial, SlowStart};
use firstflight::{Controller, Span};
use proptest::prelude::*;

use super::*;
use crate::segment::{SackBlock, Timestamps};
use crate::{AckPolicy, Config, EndpointEvent, Role, Transmit, clock};

type Host = Endpoint<SlowStart, Rfc5681, Reno>;

fn host(role: Role, config: &Config) -> Host {
    let initial = Initial { segments: 10, ssthresh: None };
    let controller = Controller::new(SlowStart::new(initial), Rfc5681::new(initial), Reno::new());
    Endpoint::new(role, config, controller)
}

/// Delivers all segments that `from` may send to `to`.
fn pass(now: Time, from: &mut Host, to: &mut Host) {
    while let Some(transmit) = from.poll_transmit(now) {
        to.on_segment(now, &transmit.segment);
    }
}

#[test]
fn prediction_covers_data_acks_behind_the_fin_and_excludes_its_own_ack() {
    let config = Config { ack_policy: AckPolicy::Every, ..Config::default() };
    let (mut client, mut server) = (host(Role::Client, &config), host(Role::Server, &config));
    let mut now = Time::ZERO;
    client.open(now);
    client.write(5_500);
    client.shut();
    pass(now, &mut client, &mut server);
    now = now + Span::from_millis(10);
    pass(now, &mut server, &mut client);
    let sent: Vec<_> = std::iter::from_fn(|| client.poll_transmit(now)).collect();
    assert!(client.sender.fin_sent() && sent.len() == 4, "{sent:?}");
    let mut predicted = Vec::new();
    for Transmit { segment, .. } in sent {
        now = now + Span::from_millis(10);
        server.on_segment(now, &segment);
        while let Some(transmit) = server.poll_transmit(now) {
            let before = client.predicting || client.enter_fast_path();
            predicted.push(before && client.on_predicted_segment(now, &transmit.segment));
            if predicted.last() == Some(&false) {
                client.on_segment(now, &transmit.segment);
            }
            assert!(client.poll_transmit(now).is_none());
        }
    }
    assert_eq!(predicted, [true, true, true, false]);
    let last = std::iter::from_fn(|| client.poll_event()).last();
    assert_eq!(last, Some(EndpointEvent::AllAcknowledged));
}

/// A segment that a peer may send next, or an attacker who forges the peer's segments. Its fields are relative to the current state.
#[derive(Clone, Copy, Debug)]
struct Saying {
    after: Span,
    writes: u64,
    seq: i32,
    len: u16,
    ack: Ack,
    window: u16,
    pushes: bool,
    marked: bool,
    /// How much its timestamp and the echoed timestamp are older than the current ones.
    behind: (u32, u32),
    /// The beginning of the selectively acknowledged range, in segments above the ACK, and its number of segments.
    block: Option<(u32, u32)>,
}

#[derive(Clone, Copy, Debug)]
enum Ack {
    Una,
    /// Acknowledges this number of whole segments more.
    Segments(u32),
    Bytes(i32),
    All,
    Unsent(u32),
}

fn saying() -> impl Strategy<Value = Saying> {
    let seq = prop_oneof![
        6 => prop::sample::select(vec![0, 0, 0, 100, 200, 300, -100, -200]),
        1 => -1_000..3_000,
    ];
    let ack = prop_oneof![
        2 => Just(Ack::Una),
        3 => (0u32..4).prop_map(Ack::Segments),
        1 => (-2_000..5_000).prop_map(Ack::Bytes),
        1 => Just(Ack::All),
        1 => (1u32..5_000).prop_map(Ack::Unsent),
    ];
    let window = prop::sample::select(vec![20_000, 20_000, 20_000, 10_000, 5_000, 0]);
    let len = prop::sample::select(vec![0, 0, 0, 100, 100, 250]);
    let block = prop::option::of((1u32..5, 1u32..4));
    let rest = (any::<[bool; 2]>(), prop::bool::weighted(0.1), (0u32..8, 0u32..300), 0u64..30, 0u64..9_000);
    (seq, ack, window, len, block, rest).prop_map(|(seq, ack, window, len, block, rest)| {
        let ([pushes, writes], marked, behind, after, bytes) = rest;
        let (after, writes) = (Span::from_millis(after), if writes { bytes } else { 0 });
        Saying { after, writes, seq, len, ack, window, pushes, marked, behind, block }
    })
}

impl Saying {
    fn to(&self, host: &Host, now: Time) -> Segment {
        let (una, nxt) = (host.sender.una(), host.sender.nxt());
        let out = i64::try_from(nxt - una).expect("a window");
        let ahead = match self.ack {
            Ack::Una => 0,
            Ack::Segments(count) => out.min(i64::from(count) * 1_000),
            Ack::Bytes(bytes) => i64::from(bytes),
            Ack::All => out,
            Ack::Unsent(bytes) => out + i64::from(bytes),
        };
        let ack = u64::try_from(una.cast_signed() + ahead).unwrap_or(0);
        let expected = seq::wrap(host.peer.initial, host.receiver.next());
        let flags = if self.pushes { Flags::ACK.with(Flags::PSH) } else { Flags::ACK };
        let mut segment = Segment {
            seq: expected.wrapping_add_signed(self.seq),
            ack: seq::wrap(host.initial_sequence, ack),
            len: self.len,
            window: self.window,
            flags,
            ecn: if self.marked { Ecn::Ce } else { Ecn::NotCapable },
            ..Segment::default()
        };
        if host.options.timestamps {
            let stamp = clock::stamp(now);
            let [value, echo] = [self.behind.0, self.behind.1].map(|behind| stamp.wrapping_sub(behind));
            segment.timestamps = Some(Timestamps { value, echo });
        }
        if let Some((beyond, count)) = self.block {
            let start = segment.ack.wrapping_add(beyond * 1_000);
            segment.sack_count = 1;
            segment.sack[0] = SackBlock { start, end: start.wrapping_add(count * 1_000) };
        }
        segment
    }
}

/// Returns those parts of an endpoint's state that may influence later behaviour.
fn state(host: &Host) -> String {
    let heard = (host.recent_timestamp, host.newest_start, host.largest_window, host.last_ack_sent);
    let timers = (host.next_timer(), host.sender.rtt(), host.sender.window_offered());
    format!("{:?} {heard:?} {timers:?} {:?}", host.snapshot(), host.stats())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn with_prediction_and_without_the_same_comes_of_whatever_is_said(
        sayings in prop::collection::vec(saying(), 1..60),
        policy in prop::sample::select(vec![AckPolicy::Every, AckPolicy::Delayed]),
        timestamps: bool,
        ecn in prop::bool::weighted(0.25),
    ) {
        let config = Config {
            ack_policy: policy, timestamps, ecn, mss: 1_000, receive_buffer: 20_000, ..Config::default()
        };
        let (mut short, mut server) = (host(Role::Client, &config), host(Role::Server, &config));
        let mut now = Time::ZERO;
        short.open(now);
        pass(now, &mut short, &mut server);
        now = now + Span::from_millis(10);
        pass(now, &mut server, &mut short);
        let mut long = short.clone();
        long.expect_acks(false);
        for saying in sayings {
            now = now + saying.after;
            let segment = saying.to(&short, now);
            let sides = [&mut short, &mut long].map(|host| {
                host.on_timer(now);
                host.write(saying.writes);
                host.on_segment(now, &segment);
                let sent: Vec<_> = std::iter::from_fn(|| host.poll_transmit(now)).map(|it| it.segment).collect();
                let happened: Vec<_> = std::iter::from_fn(|| host.poll_event()).collect();
                (sent, happened, state(host))
            });
            prop_assert_eq!(&sides[0], &sides[1], "{:?}", segment);
        }
    }
}
