//! Results that a capture shows are reported, and others are undefined: one sentence of the specification each.

use firstflight_inspect::{Found, inspect};

use crate::made::{self, ACK, DAY, From, MS, PLAIN, SYN, Segment, packet, pcap};

const MSS: u32 = 1460;

/// A connection's packets, times in microseconds.
#[derive(Clone, Default)]
struct Story {
    packets: Vec<(u64, Segment)>,
}

impl Story {
    fn say(&mut self, micros: u64, segment: Segment) {
        self.packets.push((DAY + micros * 1000, segment));
    }

    /// Adds SYN, answer and third packet at these times.
    fn handshake(&mut self, times: [u64; 3]) {
        let options = vec![2, 4, 5, 180, 1, 3, 3, 7, 4, 2, 1, 1];
        let [syn, answer, third] = times;
        let syn_options = options.clone();
        self.say(syn, Segment { options: syn_options, ..bare(From::Client, SYN, 1000, 0) });
        self.say(answer, Segment { options, ..bare(From::Server, SYN | ACK, 500, 1001) });
        self.say(third, bare(From::Client, ACK, 1001, 501));
    }

    fn data(&mut self, micros: u64, place: u32) {
        let len = MSS as usize;
        self.say(micros, Segment { len, ..bare(From::Client, ACK, 1001 + place * MSS, 501) });
    }

    fn ack(&mut self, micros: u64, place: u32) {
        self.say(micros, bare(From::Server, ACK, 501, 1001 + place * MSS));
    }

    /// Adds an acknowledgement with a selective block.
    fn sack(&mut self, micros: u64, place: u32, (from, to): (u32, u32)) {
        let mut options = vec![1, 1, 5, 10];
        options.extend([from, to].map(|place| (1001 + place * MSS).to_be_bytes()).concat());
        self.say(micros, Segment { options, ..bare(From::Server, ACK, 501, 1001 + place * MSS) });
    }

    fn bytes(&self, is_ipv6: bool) -> Vec<u8> {
        let mut packets = self.packets.clone();
        packets.sort_by_key(|(at, _)| *at);
        let frames: Vec<_> = packets.iter().map(|(at, segment)| (*at, packet(segment, is_ipv6))).collect();
        pcap(PLAIN, &frames)
    }

    fn found(&self) -> Found {
        found(&self.bytes(false))
    }
}

fn bare(from: From, flags: u8, seq: u32, ack: u32) -> Segment {
    Segment { from, flags, seq, ack, options: vec![], len: 0 }
}

fn found(bytes: &[u8]) -> Found {
    inspect(bytes, false).expect("a capture").senders.into_iter().next().expect("a sender").found
}

/// Returns a packet per millisecond over 40 ms, seen at the sender; the hundredth is lost and retransmitted after 250 ms.
fn repaired_late() -> Story {
    let mut story = Story::default();
    story.handshake([0, 40_000, 40_010]);
    for place in 0..400_u32 {
        let sent = 41_000 + u64::from(place) * 1000;
        story.data(sent, place);
        match place {
            100 => story.data(sent + 250_000, place),
            101..350 => story.sack(sent + 40_000, 100, (101, place + 1)),
            _ => story.ack(sent + 40_000, place + 1),
        }
    }
    story
}

/// Like [`repaired_late`], but with a retransmission after 45 ms and another `later` after that, while acknowledgements of other packets
/// arrive.
fn lost_again(later: u64) -> Story {
    let mut story = Story::default();
    story.handshake([0, 40_000, 40_010]);
    let heard = 141_000 + 45_000 + later + 40_000;
    for place in 0..600_u32 {
        let sent = 41_000 + u64::from(place) * 1000;
        story.data(sent, place);
        match place {
            100 => [45_000, 45_000 + later].into_iter().for_each(|after| story.data(sent + after, place)),
            101.. if sent + 40_000 < heard => story.sack(sent + 40_000, 100, (101, place + 1)),
            _ => story.ack(sent + 40_000, place + 1),
        }
    }
    story
}

#[test]
fn a_third_transmission_one_timeout_later_is_a_timeout_despite_acks() {
    let found = lost_again(245_000).found();
    assert_eq!((found.retransmitted_segments.unwrap(), found.timeouts_suspected.unwrap()), (2, 1));
}

#[test]
fn a_third_transmission_soon_after_the_second_is_triggered_by_acknowledgements() {
    for later in [41_000, 50_000, 100_000] {
        let found = lost_again(later).found();
        assert_eq!(
            (found.retransmitted_segments.unwrap(), found.timeouts_suspected.unwrap()),
            (2, 0),
            "{later}"
        );
    }
}

#[test]
fn a_second_sending_however_late_is_no_timeout_while_acknowledgements_come() {
    assert_eq!(repaired_late().found().timeouts_suspected.unwrap(), 0);
}

/// Returns ten packets over 40 ms, of which the last is retransmitted after these silences.
fn tail_repaired(silences: &[u64]) -> Story {
    let mut story = Story::default();
    story.handshake([0, 40_000, 40_010]);
    for place in 0..10 {
        story.data(41_000 + u64::from(place), place);
    }
    for place in 1..10 {
        story.ack(81_000 + u64::from(place), place);
    }
    let mut sent = 81_009;
    for silence in silences {
        sent += silence;
        story.data(sent, 9);
    }
    story.ack(sent + 40_000, 10);
    story
}

/// The probe for a single segment is sent after two RTTs and 200 ms (RFC 8985 section 7.2), and so may a timeout be.
#[test]
fn a_lone_tail_retransmission_is_a_timeout_only_if_late_or_repeated() {
    for (silences, timeouts) in
        [(vec![250_000], 0), (vec![281_000], 0), (vec![400_000], 1), (vec![281_000, 250_000], 1)]
    {
        let found = tail_repaired(&silences).found();
        assert_eq!(found.retransmitted_segments.unwrap(), silences.len() as u64);
        assert_eq!(found.timeouts_suspected.unwrap(), timeouts, "{silences:?}");
    }
}

#[test]
fn delivery_before_the_middle_is_excluded_from_later_rate_when_holes_fill() {
    let rate = repaired_late().found().later_rate_bps.expect("a later rate");
    assert!((rate / (f64::from(MSS) * 8e3) - 1.0).abs() < 0.01, "{rate}");
}

#[test]
fn a_later_packet_does_not_replace_the_lost_third_handshake_packet() {
    // Seen at the receiver: the opener's acknowledgement was lost on its way, and so was its first data.
    let mut story = Story::default();
    story.handshake([0, 20, 60_000]);
    story.packets.pop();
    for place in 1..10 {
        story.data(119_000 + u64::from(place), place);
        story.sack(119_020 + u64::from(place), 0, (1, place + 1));
    }
    story.data(180_000, 0);
    story.ack(180_020, 10);
    let found = story.found();
    assert_eq!((found.handshake_rtt_s, found.vantage, found.initial_window_segments), (None, None, None));
    assert!(found.undefined["handshake_rtt_s"].contains("handshake"), "{:?}", found.undefined);
    // The options are those of the two SYNs.
    assert_eq!((found.mss_bytes, found.retransmitted_segments.unwrap()), (Some(1460), 1));
}

#[test]
fn an_acknowledgement_of_data_is_not_that_of_the_handshake() {
    // A download, seen at the server: the third packet is lost, and the next acknowledges data.
    let mut story = Story::default();
    story.handshake([0, 20, 60_000]);
    story.packets.pop();
    let data = Segment { len: 1460, ..bare(From::Server, ACK, 501, 1001) };
    story.say(60_100, data);
    story.say(120_000, bare(From::Client, ACK, 1001, 501 + MSS));
    assert_eq!(story.found().handshake_rtt_s, None);
}

#[test]
fn a_syn_captured_twice_was_not_sent_again() {
    let mut story = repaired_late();
    let (at, syn) = story.packets[0].clone();
    story.packets.insert(1, (at + 2000, syn.clone()));
    let twice = story.found();
    assert!(twice.handshake_rtt_s.is_some_and(|rtt| (rtt - 0.04).abs() < 1e-4), "{:?}", twice.undefined);
    assert_eq!(twice.duplicates, 1);
    // A second later, it is a timeout.
    let mut story = repaired_late();
    story.packets.iter_mut().skip(1).for_each(|(at, _)| *at += 1000 * MS);
    story.packets.insert(1, (at + 1000 * MS, syn));
    assert!(story.found().undefined["handshake_rtt_s"].contains("SYN"));
}

#[test]
fn packets_that_are_all_captured_twice_count_once_without_identifications_too() {
    let once = repaired_late();
    let mut twice = once.clone();
    twice.packets.extend(once.packets.iter().map(|(at, segment)| (at + 1000, segment.clone())));
    for is_ipv6 in [false, true] {
        let (single, double) = (found(&once.bytes(is_ipv6)), found(&twice.bytes(is_ipv6)));
        assert_eq!(
            (single.retransmitted_segments.unwrap(), single.bytes_sent.unwrap()),
            (1, 401 * u64::from(MSS))
        );
        assert_eq!(
            (double.retransmitted_segments.unwrap(), double.bytes_sent.unwrap()),
            (1, 401 * u64::from(MSS))
        );
        assert_eq!((single.duplicates, single.exit_cause), (0, double.exit_cause));
        assert_eq!(
            (single.initial_window_bytes, double.initial_window_bytes.is_some()),
            (double.initial_window_bytes, true)
        );
    }
}

#[test]
fn the_throughput_is_of_all_that_was_acknowledged_over_the_whole_connection() {
    let found = repaired_late().found();
    // 400 packets; the last acknowledgement comes 40 ms after the last data, the hundredth's repair before it.
    let (bytes, seconds) = (400.0 * f64::from(MSS), 0.041 + 0.399 + 0.040);
    let throughput = found.throughput_bps.expect("it took time");
    assert!((throughput / (bytes * 8.0 / seconds) - 1.0).abs() < 1e-6, "{throughput}");
}

/// Returns the pacing that `inspect` reports for an upload over 40 ms. The window doubles in each of three RTTs. Each segment is
/// acknowledged by itself, and acknowledgements arrive evenly over the RTT. The sender answers each with two segments: `prompt` of ten
/// acknowledgements at once, and the others half of the distance between two acknowledgements later.
fn pacing(prompt: u32) -> Option<&'static str> {
    let mut story = Story::default();
    story.handshake([0, 40_000, 40_010]);
    (0..10).for_each(|place| story.data(41_000 + u64::from(place), place));
    let (mut sent, mut acked) = (10, 0);
    for round in 1..=4_u32 {
        let count = 10 << (round - 1);
        let distance = 40_000 / u64::from(count);
        for index in 0..count {
            let at = 41_000 + u64::from(round) * 40_000 + u64::from(index) * distance;
            acked += 1;
            story.ack(at, acked);
            let late = if index % 10 < prompt { 10 } else { distance / 2 };
            if round < 4 {
                story.data(at + late, sent);
                story.data(at + late + 1, sent + 1);
                sent += 2;
            }
        }
    }
    story.found().pacing
}

#[test]
fn pacing_is_ack_clocked_mixed_or_paced_by_share_of_triggered_segments() {
    let said = [10, 7, 4, 0].map(pacing);
    assert_eq!(said, ["ack-clocked", "mixed", "paced", "paced"].map(Some));
}

#[test]
fn a_sender_has_the_addresses_and_ports_of_both_ends() {
    let found = repaired_late().found();
    assert_eq!((&*found.from, &*found.to), ("10.0.0.1:40000", "10.0.0.2:80"));
}

#[test]
fn the_same_bytes_a_round_trip_later_were_sent_again() {
    let found = found(&repaired_late().bytes(true));
    assert_eq!((found.duplicates, found.retransmitted_segments.unwrap()), (0, 1));
}

/// Returns ten packets over 60 ms, seen at the receiver, less those lost before. The lost packets pass an RTT later, and `second` with the
/// acknowledgement for the others.
fn initial_window_less(lost: &[u32]) -> Story {
    let mut story = Story::default();
    story.handshake([0, 20, 60_000]);
    let first_lost = lost[0];
    for place in (0..10).filter(|place| !lost.contains(place)) {
        let at = 60_100 + u64::from(place) * 100;
        story.data(at, place);
        if place < first_lost {
            story.ack(at + 10, place + 1);
        } else {
            story.sack(at + 10, first_lost, (place, place + 1));
        }
    }
    for place in 10..20 {
        let at = 121_000 + u64::from(place) * 100;
        story.data(at, place);
        story.sack(at + 10, first_lost, (place, place + 1));
    }
    for place in lost {
        story.data(124_000, *place);
    }
    story.ack(124_100, 20);
    story
}

#[test]
fn a_lost_packet_of_the_initial_window_is_still_counted_in_it() {
    let found = initial_window_less(&[4]).found();
    assert_eq!((found.vantage, found.initial_window_segments), (Some("receiver"), Some(10)));
    assert_eq!(found.initial_window_bytes, Some(10 * u64::from(MSS)));
}

/// Returns the results for a paced sender that waits until all of its initial window is acknowledged. Seen at the receiver, the next packet
/// passes an RTT plus `idle` microseconds after the last of those acknowledgements.
fn initial_window_acknowledged_at_once(idle: u64) -> Found {
    let mut story = Story::default();
    story.handshake([0, 20, 60_000]);
    let mut round = |began: u64, places: std::ops::Range<u32>| {
        for (place, at) in places.zip((began..).step_by(600)) {
            story.data(at, place);
            if place % 2 == 1 {
                story.ack(at + 10, place + 1);
            }
        }
    };
    round(60_100, 0..10);
    round(125_500 + idle, 10..30);
    round(197_000 + idle, 30..70);
    story.found()
}

#[test]
fn a_round_trip_at_the_receiver_is_no_application_pause() {
    let found = initial_window_acknowledged_at_once(0);
    assert_eq!((found.vantage, found.initial_window_segments), (Some("receiver"), Some(10)));
    assert_eq!(found.initial_window_limit, Some("window"));
    let rests = initial_window_acknowledged_at_once(80_000);
    assert_eq!(rests.initial_window_limit, Some("application"));
    // The sender paused, or the packet waited in a queue.
    let late = initial_window_acknowledged_at_once(30_000);
    assert_eq!((late.initial_window_segments, late.initial_window_limit), (Some(10), None));
    assert!(late.undefined["initial_window_limit"].contains("look alike"), "{:?}", late.undefined);
    assert!(late.rounds.iter().all(|round| round.limit != Some("application")), "{:?}", late.rounds);
}

#[test]
fn an_initial_window_with_a_possibly_lost_last_packet_is_undefined() {
    let found = initial_window_less(&[9]).found();
    assert_eq!(found.initial_window_segments, None);
    assert!(found.undefined["initial_window_segments"].contains("lost"), "{:?}", found.undefined);
}

#[test]
fn a_connection_that_was_open_before_has_no_time_to_nine_tenths() {
    let mut story = repaired_late();
    story.packets.drain(..40);
    let found = story.found();
    assert!(found.later_rate_bps.is_some());
    assert_eq!(found.time_to_90pct_s, None);
    assert!(found.undefined["time_to_90pct_s"].contains("before the capture began"), "{:?}", found.undefined);
}

#[test]
fn a_one_way_capture_reports_only_values_of_its_direction() {
    let one_way = |from| {
        let mut story = repaired_late();
        story.packets.retain(|(_, segment)| segment.from == from);
        story.found()
    };
    let no_acks = one_way(From::Client);
    assert_eq!((no_acks.throughput_bps, no_acks.later_rate_bps), (None, None));
    for field in ["throughput_bps", "later_rate_bps", "min_rtt_s"] {
        assert!(no_acks.undefined[field].contains("acknowledgement"), "{field}: {:?}", no_acks.undefined);
    }
    // Acknowledgements only: data was sent, and none of it is in the capture.
    let no_data = one_way(From::Server);
    assert_eq!(no_data.bytes_sent.unwrap(), 0);
    assert!(!no_data.undefined.values().any(|why| why.contains("sent no data")), "{:?}", no_data.undefined);
}

#[test]
fn a_capture_ending_before_the_connection_leaves_the_exit_cause_undefined() {
    let mut story = Story::default();
    story.handshake([0, 40_000, 40_010]);
    (0..10).for_each(|place| story.data(41_000 + u64::from(place), place));
    story.ack(81_000, 10);
    let cut = story.found();
    assert_eq!(cut.exit_cause, None);
    assert!(cut.undefined["exit_cause"].contains("capture ends"), "{:?}", cut.undefined);
    let end = 1001 + 10 * MSS;
    story.say(81_100, bare(From::Client, ACK | 1, end, 501));
    story.say(121_100, bare(From::Server, ACK | 1, 501, end + 1));
    assert_eq!(story.found().exit_cause, Some("none"));
}

#[test]
fn options_that_the_capture_cut_off_are_counted() {
    let story = repaired_late();
    let mut packets = story.packets.clone();
    packets.sort_by_key(|(at, _)| *at);
    let frames: Vec<_> = packets.iter().map(|(at, segment)| (*at, packet(segment, false))).collect();
    let inspection = inspect(&pcap(made::Form { snap: 40, ..PLAIN }, &frames)[..], false).expect("a capture");
    // The two SYNs, and 249 selective acknowledgements.
    assert_eq!(inspection.tally.without_options, 251);
}
