//! Data written at one end is read at the other.

use firstflight::{Span, Time};
use firstflight_tcp::bytes::Settings;
use firstflight_tcp::{
    AckPolicy, Config, Growth, InflightLimit, Offload, Recovery, Role, RtoFloor, SlowStartCounts, Stack,
};
use proptest::prelude::*;

use super::pipe::{Harm, Pipe, Reader, socket};

const HARM: Harm = Harm { lost: 20, doubled: 10, late: 20 };
const SLOW: Reader = Reader::Slow { piece: 60_000, stops_after: 10_000_000, rests: Span::from_secs(20) };
const WEEK: Time = Time::from_nanos(7 * 24 * 3_600 * 1_000_000_000);

fn config() -> Config {
    Config { receive_buffer: 300_000, initial_sequence: u32::MAX - 100_000, ..Config::default() }
}

/// Checks that both ends have read the other's data, closed, and waited.
fn is_over(pipe: &Pipe, writes: [u64; 2]) {
    for (n, end) in pipe.ends.iter().enumerate() {
        assert_eq!(end.socket.error(), None, "end {n}");
        assert_eq!(end.read, writes[1 - n], "end {n} has read, at {:?}", pipe.now);
        assert!(end.socket.is_at_end() && end.socket.is_all_acknowledged(), "end {n}");
        assert!(end.socket.is_finished(), "end {n} at {:?}", pipe.now);
    }
}

#[test]
fn fifty_megabytes_survive_loss_reordering_duplication_and_a_stopping_reader() {
    let writes = [50_000_000, 1_000_000];
    let [client, server] =
        [Role::Client, Role::Server].map(|role| socket(role, "hystart++", &config(), &Settings::default()));
    let mut pipe = Pipe::new([client, server], writes, [Reader::AtOnce, SLOW], HARM, 1);
    pipe.run(WEEK);
    is_over(&pipe, writes);
    assert!(pipe.ends[1].closed_windows > 0, "the reader stopped for long enough");
    assert!(pipe.ends[0].socket.endpoint().stats().retransmissions > 500, "some was lost");
}

#[test]
fn schemes_ack_policies_and_recoveries_carry_bytes_both_ways() {
    use AckPolicy::{Delayed, Every, FreeBsd, Linux, WindowsXp};
    let kinds = [
        ("slow-start", Every, Recovery::Rack, true),
        ("slow-start-paced", Linux, Recovery::Sack, false),
        ("hystart++", Delayed, Recovery::NewReno, true),
        ("paced", FreeBsd, Recovery::Rack, false),
        ("packet-pair", WindowsXp, Recovery::Reno, true),
        ("suss", Linux, Recovery::Rack, true),
        ("search", Delayed, Recovery::Vegas, false),
        ("bbr", Every, Recovery::Rack, true),
    ];
    for (seed, (scheme, ack_policy, recovery, timestamps)) in (10..).zip(kinds) {
        let config = Config { ack_policy, recovery, timestamps, ..config() };
        let sockets =
            [Role::Client, Role::Server].map(|role| socket(role, scheme, &config, &Settings::default()));
        let reader = Reader::Slow { piece: 50_000, stops_after: 300_000, rests: Span::from_secs(3) };
        let mut pipe = Pipe::new(sockets, [1_000_000, 700_000], [Reader::AtOnce, reader], HARM, seed);
        pipe.run(WEEK);
        is_over(&pipe, [1_000_000, 700_000]);
    }
}

/// Returns settings of one end other than its buffers: its stack and method of loss repair, the switches of a stack, offload, ECN and the
/// options of its SYN.
fn choices() -> impl Strategy<Value = Config> {
    use AckPolicy::{Delayed, Every, FreeBsd, Linux, WindowsXp};
    use Recovery::{NewReno, NewRenoSteady, Ns2Sack1, Rack, Reno, Sack, Vegas};
    use prop::option;
    use prop::sample::select;
    let stacks = prop_oneof![
        (Just(Stack::Linux), select(vec![Rack, Rack, NewReno])),
        (Just(Stack::Rfc), select(vec![Rack, Sack, NewReno, NewRenoSteady, Reno, Vegas, Ns2Sack1])),
    ];
    let switches = (
        option::of(select(vec![RtoFloor::Timeout, RtoFloor::Variation, RtoFloor::Ns2])),
        option::of(select(vec![
            Growth::Validated,
            Growth::Used,
            Growth::Always,
            Growth::AlwaysHalved,
            Growth::NearlyFull,
        ])),
        option::of(select(vec![SlowStartCounts::Acks, SlowStartCounts::Bytes])),
        select(vec![InflightLimit::None, InflightLimit::FreeBsd]),
        select(vec![Span::from_millis(100), Span::from_secs(1)]),
        select(vec![Span::ZERO, Span::from_millis(1), Span::from_millis(200), Span::from_secs(1)]),
    );
    let offers = (
        any::<[bool; 3]>(),
        any::<bool>(),
        select(vec![None, None, Some(0), Some(5), Some(14)]),
        select(vec![Every, Delayed, Linux, FreeBsd, WindowsXp]),
    );
    let sends = (any::<[bool; 3]>(), option::of(Just(Offload::default())));
    (stacks, switches, offers, sends).prop_map(|((stack, recovery), switches, offers, sends)| {
        let (rto_floor, growth, slow_start_counts, inflight_limit, initial_rto, min_rto) = switches;
        let ([sack, timestamps, ecn], window_scaling, window_scale, ack_policy) = offers;
        let ([tail_loss_probe, frto, options_in_mss], offload) = sends;
        Config {
            stack,
            recovery,
            rto_floor,
            growth,
            slow_start_counts,
            inflight_limit,
            initial_rto,
            min_rto,
            sack,
            timestamps,
            ecn,
            window_scaling,
            window_scale,
            ack_policy,
            tail_loss_probe,
            frto,
            options_in_mss,
            offload,
            ..Config::default()
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]
    /// [`Pipe`] compares each byte read with the one written, so that at any time the data read is a prefix of the data written.
    #[test]
    fn whatever_the_buffers_segments_and_losses_all_that_is_written_is_read(
        seed: u64,
        initial in prop_oneof![any::<u32>(), u32::MAX - 20_000..=u32::MAX],
        writes in [0u64..40_000, 0u64..40_000],
        choices in [choices(), choices()],
        mss in 50u16..3_000,
        buffers in [200u64..20_000, 200u64..70_000],
        harm in [0u64..150, 0u64..200, 0u64..300],
        piece in 1usize..5_000,
    ) {
        let settings = Settings { send_buffer: buffers[1], ..Settings::default() };
        let [client, server] = choices.map(|config| Config {
            mss, initial_sequence: initial, receive_buffer: buffers[0], ..config
        });
        let sockets = [(Role::Client, client), (Role::Server, server)]
            .map(|(role, config)| socket(role, "slow-start", &config, &settings));
        let slow = Reader::Slow { piece, stops_after: 1 + seed % 10_000, rests: Span::from_secs(seed % 4) };
        let [lost, doubled, late] = harm;
        let mut pipe = Pipe::new(sockets, writes, [slow, Reader::AtOnce], Harm { lost, doubled, late }, seed);
        pipe.run(WEEK);
        is_over(&pipe, writes);
    }
}
