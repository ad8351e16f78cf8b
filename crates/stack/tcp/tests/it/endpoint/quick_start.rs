//! Quick-Start from one endpoint to another (RFC 4782 section 4), with routers that approve, lower, or do not know a request.

use firstflight::avoidance::Reno;
use firstflight::restart::Rfc5681;
use firstflight::schemes::{Initial, QuickStart, QuickStartConfig, SlowStart};
use firstflight::{Controller, Rate, RateCode, Span, Time};
use firstflight_tcp::quick_start::{IpOption, Nonce, Response};
use firstflight_tcp::{AckPolicy, Config, Endpoint, EndpointEvent, Flags, Role, Segment};

use super::line::{Line, Verdict, config, millis};

const DELAY: Span = Span::from_millis(50);
const RATE: Rate = Rate::from_bps(5_120_000);
const SYN_ACK: Flags = Flags::SYN.with(Flags::ACK);

type Asking = Line<QuickStart<SlowStart>, QuickStart<Rfc5681>>;

fn asking(client: &Config, server: &Config) -> Asking {
    let initial = Initial { segments: 3, ssthresh: None };
    let config = QuickStartConfig { request: RateCode::up(RATE), ..QuickStartConfig::default() };
    let startup = QuickStart::new(SlowStart::new(initial), config);
    let restart = QuickStart::new(Rfc5681::new(initial), config);
    let controller = Controller::new(startup, restart, Reno::new());
    Line::between(Endpoint::new(Role::Client, client, controller), server, DELAY)
}

fn transfer(line: &mut Asking, bytes: u64) {
    line.client.open(line.now);
    line.client.write(bytes);
}

/// Passes `hops` routers that approve a request unchanged.
fn approved(segment: &Segment, hops: u8) -> Verdict {
    lowered(segment, hops, None)
}

/// Passes `hops` routers, of which one lowers a request to this rate.
fn lowered(segment: &Segment, hops: u8, to: Option<RateCode>) -> Verdict {
    let Some(IpOption::Request { rate, ttl, hop_limit, nonce }) = segment.quick_start.ip() else {
        return Verdict::Pass;
    };
    let new = to.unwrap_or(rate);
    let nonce = nonce.lowered(rate, new, !nonce.get());
    let (ttl, hop_limit) = (ttl.wrapping_sub(hops), hop_limit - hops);
    changed(segment, Some(IpOption::Request { rate: new, ttl, hop_limit, nonce }))
}

fn changed(segment: &Segment, option: Option<IpOption>) -> Verdict {
    let mut segment = *segment;
    segment.quick_start.set_ip(option);
    Verdict::Change(segment)
}

/// Returns the client's `nth` segment, and when it was sent.
fn left(line: &Asking, nth: usize) -> (Time, Segment) {
    let mine = line.log.iter().filter(|(_, from_client, _)| *from_client).nth(nth);
    mine.map(|(at, _, segment)| (*at, *segment)).expect("so many segments")
}

fn requests(line: &Asking) -> usize {
    let asks = |segment: &Segment| matches!(segment.quick_start.ip(), Some(IpOption::Request { .. }));
    line.log.iter().filter(|(_, _, segment)| asks(segment)).count()
}

fn reports(line: &Asking) -> Vec<RateCode> {
    let report = |segment: &Segment| match segment.quick_start.ip() {
        Some(IpOption::Report { rate, .. }) => Some(rate),
        Some(IpOption::Request { .. }) | None => None,
    };
    line.log.iter().filter_map(|(_, _, segment)| report(segment)).collect()
}

fn answers(line: &Asking) -> Vec<Option<Rate>> {
    let answer = |event: &EndpointEvent| match event {
        EndpointEvent::QuickStart { approved } => Some(*approved),
        _ => None,
    };
    line.events.iter().filter_map(|(_, event)| answer(event)).collect()
}

#[test]
fn a_syn_request_is_answered_reported_and_followed_by_paced_data() {
    let mut line = asking(&config(), &config());
    transfer(&mut line, 100_000);
    line.run(millis(199), |_, _, segment| approved(segment, 5));
    let (_, syn) = left(&line, 0);
    let Some(IpOption::Request { rate, nonce, hop_limit, .. }) = syn.quick_start.ip() else {
        panic!("a request")
    };
    assert_eq!((rate.rate(), hop_limit), (RATE, 64));
    let response = line.log[1].2.quick_start.response();
    assert!(
        matches!(response, Some(Response { rate: copied, nonce: back, .. }) if copied == rate && back == nonce)
    );
    assert_eq!(answers(&line), [Some(RATE)]);
    let (at, report) = left(&line, 1);
    assert_eq!(report.quick_start.ip(), Some(IpOption::Report { rate, nonce }));
    assert_eq!((at, report.len), (millis(100), 0));
    // 1040 bytes at 5.12 Mbit/s are 1.625 ms; 61 fill a round trip.
    let data: Vec<Time> = line.data().iter().map(|(at, _)| *at).collect();
    assert!(data.windows(2).all(|pair| pair[1].since(pair[0]) == Span::from_micros(1_625)));
    assert_eq!(data.len(), 61);
}

#[test]
fn a_lower_rate_is_used_as_it_is() {
    let mut line = asking(&config(), &config());
    transfer(&mut line, 100_000);
    line.run(millis(199), |_, _, segment| lowered(segment, 3, RateCode::new(5)));
    assert_eq!(answers(&line), [Some(Rate::from_bps(1_280_000))]);
    assert_eq!(line.data().len(), 15);
}

#[test]
fn a_router_that_knows_nothing_of_it_leaves_slow_start() {
    let mut line = asking(&config(), &config());
    transfer(&mut line, 100_000);
    line.run(millis(199), |_, _, segment| match segment.quick_start.ip() {
        Some(IpOption::Request { rate, ttl, hop_limit, nonce }) => {
            changed(segment, Some(IpOption::Request { rate, ttl, hop_limit: hop_limit - 1, nonce }))
        }
        Some(IpOption::Report { .. }) | None => Verdict::Pass,
    });
    assert_eq!(answers(&line), [None]);
    assert_eq!(reports(&line), [RateCode::DENIED]);
    assert_eq!(line.data().len(), 3);
}

#[test]
fn an_option_that_is_taken_off_leaves_slow_start() {
    let mut line = asking(&config(), &config());
    transfer(&mut line, 100_000);
    line.run(millis(199), |_, _, segment| changed(segment, None));
    assert_eq!(line.log[1].2.quick_start.response(), None);
    assert_eq!(answers(&line), [None]);
    assert_eq!(line.data().len(), 3);
}

#[test]
fn an_unanswered_syn_request_is_repeated_without_option_after_three_seconds() {
    let mut line = asking(&config(), &config());
    transfer(&mut line, 100_000);
    let drops = |segment: &Segment| !segment.quick_start.is_empty();
    line.run(millis(3_300), |_, _, segment| if drops(segment) { Verdict::Drop } else { Verdict::Pass });
    let (at, again) = left(&line, 1);
    assert_eq!((at, again.flags, again.quick_start.is_empty()), (millis(3_000), Flags::SYN, true));
    assert_eq!(answers(&line), [None]);
    assert!(!line.data().is_empty());
}

#[test]
fn a_reset_of_a_request_leads_to_a_syn_without_option() {
    let mut line = asking(&config(), &config());
    transfer(&mut line, 100_000);
    line.run(Time::ZERO, |_, _, _| Verdict::Drop);
    let reset = Segment { ack: 1, flags: Flags::RST.with(Flags::ACK), ..Segment::default() };
    line.client.on_segment(millis(20), &reset);
    line.now = millis(20);
    line.run(millis(200), |_, _, _| Verdict::Pass);
    let (at, again) = left(&line, 1);
    assert_eq!((at, again.flags, again.quick_start.is_empty()), (millis(20), Flags::SYN, true));
    assert_eq!(line.happened(&EndpointEvent::Established), 1);
    // A second RST refuses the connection, not the option.
    let mut refused = asking(&config(), &config());
    transfer(&mut refused, 100_000);
    refused.run(Time::ZERO, |_, _, _| Verdict::Drop);
    refused.client.on_segment(millis(20), &reset);
    refused.client.on_segment(millis(21), &reset);
    refused.run(millis(30), |_, _, _| Verdict::Drop);
    assert_eq!(refused.happened(&EndpointEvent::Aborted), 1);
}

#[test]
fn a_syn_ack_that_is_sent_again_carries_no_response() {
    let mut line = asking(&config(), &config());
    transfer(&mut line, 100_000);
    let mut first = true;
    line.run(millis(1_300), |_, _, segment| {
        if segment.flags == SYN_ACK && std::mem::take(&mut first) {
            return Verdict::Drop;
        }
        // The window update that follows the response must not replace it.
        if segment.flags == Flags::ACK && line_is_young(segment) {
            Verdict::Drop
        } else {
            approved(segment, 1)
        }
    });
    let again: Vec<&Segment> =
        line.log.iter().map(|(_, _, segment)| segment).filter(|segment| segment.flags == SYN_ACK).collect();
    assert_eq!(again.len(), 2);
    assert!(again[0].quick_start.response().is_some() && again[1].quick_start.response().is_none());
    assert_eq!(answers(&line), [None]);
}

/// Checks for an ACK from the server of only the SYN.
fn line_is_young(segment: &Segment) -> bool {
    segment.ack == 1 && segment.len == 0 && segment.seq == 1 && segment.quick_start.is_empty()
}

#[test]
fn a_raised_rate_is_detected_by_the_nonce_and_not_requested_again() {
    let mut line = asking(&config(), &config());
    transfer(&mut line, 100_000);
    line.run(millis(1_000), |_, _, segment| {
        let Some(response) = segment.quick_start.response() else {
            return lowered(segment, 2, RateCode::new(6));
        };
        let mut segment = *segment;
        segment.quick_start.set_response(Some(Response { rate: RateCode::up(RATE), ..response }));
        Verdict::Change(segment)
    });
    assert_eq!(answers(&line), [None]);
    line.now = millis(20_000);
    line.client.write(100_000);
    line.run(millis(30_000), |_, _, segment| approved(segment, 1));
    assert_eq!(requests(&line), 1);
    assert_eq!(line.server.stats().received, 200_000);
}

#[test]
fn a_response_is_followed_by_an_ack_with_the_scaled_window() {
    let mut line = asking(&config(), &config());
    transfer(&mut line, 500_000);
    line.run(millis(60), |_, _, segment| approved(segment, 1));
    let [_, (_, _, syn_ack), (at, from_client, window)] = line.log[..] else { panic!("three segments") };
    assert_eq!((syn_ack.flags, syn_ack.window), (SYN_ACK, u16::MAX));
    assert_eq!((at, from_client, window.flags, window.len), (millis(50), false, Flags::ACK, 0));
    assert!(window.window > 1 << 13, "scaled: 1 GiB");
    // Without a request it is not needed.
    let mut plain = Line::new(&config(), &config(), DELAY);
    plain.client.open(Time::ZERO);
    plain.run(millis(60), |_, _, _| Verdict::Pass);
    assert_eq!(plain.log.len(), 2);
}

#[test]
fn a_request_after_idle_uses_a_shorter_segment_and_is_answered_immediately() {
    let delayed = Config { ack_policy: AckPolicy::Delayed, ..config() };
    let mut line = asking(&config(), &delayed);
    transfer(&mut line, 1_000);
    line.run(millis(1_000), |_, _, _| Verdict::Pass);
    assert_eq!(requests(&line), 0, "a segment is not worth asking for");
    line.now = millis(10_000);
    let before = line.log.len();
    line.client.write(100_000);
    line.run(millis(10_199), |_, _, segment| approved(segment, 4));
    let (_, _, first) = line.log[before];
    assert!(matches!(first.quick_start.ip(), Some(IpOption::Request { .. })));
    assert_eq!((first.len, first.ip_length()), (992, 1_040));
    let answer = line.log[before..].iter().find(|(_, _, segment)| segment.quick_start.response().is_some());
    let (at, from_client, segment) = answer.expect("a response");
    assert_eq!((*at, *from_client, segment.ack), (millis(10_050), false, 1 + 1_992));
    assert_eq!(answers(&line), [Some(RATE)]);
    assert_eq!(reports(&line), [RateCode::up(RATE)]);
    line.run(millis(12_000), |_, _, segment| approved(segment, 4));
    assert_eq!(line.server.stats().received, 101_000);
}

#[test]
fn a_loss_at_the_approved_rate_ends_asking_for_good() {
    let again = |loses: bool| {
        let mut line = asking(&config(), &config());
        transfer(&mut line, 100_000);
        let mut once = loses;
        line.run(millis(5_000), |_, from_client, segment| {
            let tenth = from_client && segment.seq == 1 + 10_000 && segment.len > 0;
            if tenth && std::mem::take(&mut once) { Verdict::Drop } else { approved(segment, 1) }
        });
        line.now = millis(20_000);
        line.client.write(100_000);
        line.run(millis(30_000), |_, _, segment| approved(segment, 1));
        assert_eq!(line.server.stats().received, 200_000);
        requests(&line)
    };
    assert_eq!(again(false), 2);
    assert_eq!(again(true), 1);
}

#[test]
fn nonces_and_ttls_follow_from_the_secret() {
    let first = |secret| {
        let mut line = asking(&Config { secret, ..config() }, &config());
        transfer(&mut line, 100_000);
        line.run(millis(10), |_, _, _| Verdict::Drop);
        match left(&line, 0).1.quick_start.ip() {
            Some(IpOption::Request { ttl, nonce, .. }) => (ttl, nonce),
            other => panic!("a request, not {other:?}"),
        }
    };
    assert_eq!(first(1), first(1));
    assert_ne!(first(1), first(2));
    assert_ne!(first(1).1, Nonce::default());
}
