//! Quick-Start options that the path forges, changes, strips and replays (RFC 4782).

use std::collections::VecDeque;

use firstflight::schemes::Initial;
use firstflight::{Controller, RateCode, Span, Time, registry};
use firstflight_tcp::quick_start::{IpOption, Nonce, Response};
use firstflight_tcp::{Config, Endpoint, EndpointEvent, Flags, Role, Segment};

use crate::Source;
use crate::peer::Any;

const DELAY: Span = Span::from_millis(40);

/// A request as the client sent it.
#[derive(Clone, Copy, Debug)]
struct Asked {
    rate: RateCode,
    ttl_diff: u8,
    nonce: u32,
}

struct Wire<'a> {
    source: Source<'a>,
    client: Any,
    server: Any,
    now: Time,
    on_the_way: VecDeque<(Time, bool, Segment)>,
    /// The request that waits for its answer.
    asked: Option<Asked>,
    /// All responses so far, to be replayed.
    seen: Vec<Response>,
    /// Whether a response had a nonce that cannot result from the nonce of the request.
    caught: bool,
}

/// Runs a client that sends requests at the start and after each idle time. Any node of the path may write any option.
pub fn quick_start_options(data: &[u8]) {
    let mut source = Source::new(data);
    let secret = source.wide();
    let client = endpoint(Role::Client, secret);
    let server = endpoint(Role::Server, 1);
    let now = Time::from_nanos(1_000_000_000);
    let on_the_way = VecDeque::new();
    let seen = Vec::new();
    let mut wire = Wire { source, client, server, now, on_the_way, asked: None, seen, caught: false };
    wire.client.open(wire.now);
    for _ in 0..4 {
        wire.client.write(60_000);
        wire.run(wire.now + Span::from_secs(4));
        wire.now = wire.now + Span::from_secs(20);
    }
}

fn endpoint(role: Role, secret: u64) -> Any {
    let initial = Initial { segments: 10, ssthresh: None };
    let startup = registry::scheme("quick-start").expect("it is listed").build(initial, &[]);
    let again = registry::restarts().iter().find(|entry| entry.name.contains("quick-start"));
    let restart = again.expect("it is listed").build(initial, &[]);
    let law = registry::law("reno").expect("it is listed").build();
    let control =
        Controller::new(startup.expect("defaults are allowed"), restart.expect("defaults are allowed"), law);
    Endpoint::new(role, &Config { secret, ..Config::default() }, control)
}

impl Wire<'_> {
    fn run(&mut self, until: Time) {
        loop {
            self.flush();
            let arrival = self.on_the_way.front().map(|(at, ..)| *at);
            let timers = [self.client.next_timer(), self.server.next_timer()];
            let Some(at) = timers.into_iter().chain([arrival]).flatten().min().filter(|at| *at <= until)
            else {
                self.now = self.now.max(until);
                return;
            };
            self.now = self.now.max(at);
            while self.on_the_way.front().is_some_and(|(at, ..)| *at <= self.now) {
                let Some((_, from_client, segment)) = self.on_the_way.pop_front() else { break };
                if from_client {
                    self.server.on_segment(self.now, &segment);
                } else {
                    self.reach_client(&segment);
                }
                self.flush();
            }
            self.client.on_timer(self.now);
            self.server.on_timer(self.now);
        }
    }

    fn flush(&mut self) {
        while let Some(transmit) = self.client.poll_transmit(self.now) {
            let mut segment = transmit.segment;
            if let Some(IpOption::Request { rate, ttl, hop_limit, nonce }) = segment.quick_start.ip() {
                assert!(!self.caught, "a connection that was cheated on does not ask again (section 4.4)");
                assert!(self.asked.is_none(), "one request at a time");
                self.asked = Some(Asked { rate, ttl_diff: hop_limit.wrapping_sub(ttl), nonce: nonce.get() });
                segment.quick_start.set_ip(self.pass_routers(rate, ttl, hop_limit, nonce));
            }
            self.on_the_way.push_back((self.now + DELAY, true, segment));
        }
        while let Some(transmit) = self.server.poll_transmit(self.now) {
            let mut segment = transmit.segment;
            let response = self.meddle(segment.quick_start.response());
            segment.quick_start.set_response(response);
            self.on_the_way.push_back((self.now + DELAY, false, segment));
        }
    }

    /// Passes a request through routers that lower it, deny it, strip it, or do not take part. Returns the option that arrives, if any.
    fn pass_routers(&mut self, rate: RateCode, ttl: u8, hop_limit: u8, nonce: Nonce) -> Option<IpOption> {
        let (mut rate, mut nonce, mut ttl) = (rate, nonce, ttl.wrapping_sub(1));
        match self.source.below(8) {
            0..=3 => {}
            4 => {
                let lower = RateCode::from_low_bits(self.source.byte()).min(rate);
                nonce = nonce.lowered(rate, lower, self.source.word());
                rate = lower;
            }
            5 => ttl = ttl.wrapping_add(1),
            6 => rate = RateCode::DENIED,
            _ => return None,
        }
        Some(IpOption::Request { rate, ttl, hop_limit: hop_limit.wrapping_sub(1), nonce })
    }

    /// Changes a response, as a node on the return path or the receiver itself could do.
    fn meddle(&mut self, response: Option<Response>) -> Option<Response> {
        self.seen.extend(response);
        let Some(mut response) = response else {
            // If there is no response, an old response may be replayed.
            let replay = !self.seen.is_empty() && self.source.once_in(8);
            return replay.then(|| {
                let at = usize::from(self.source.byte()) % self.seen.len();
                self.seen[at]
            });
        };
        match self.source.below(8) {
            0..=1 => {}
            2 => response.nonce = Nonce::new(response.nonce.get() ^ 1 << (self.source.byte() % 30)),
            3 => response.nonce = Nonce::new(self.source.word()),
            4 => response.ttl_diff = self.source.byte(),
            5 => response.rate = RateCode::from_low_bits(response.rate.get() + 1 + self.source.byte() % 15),
            6 => response = self.seen[usize::from(self.source.byte()) % self.seen.len()],
            _ => return None,
        }
        Some(response)
    }

    fn reach_client(&mut self, segment: &Segment) {
        self.client.on_segment(self.now, segment);
        while let Some(event) = self.client.poll_event() {
            let EndpointEvent::QuickStart { approved } = event else { continue };
            let asked = self.asked.take().expect("one outcome for each request");
            let response = segment.quick_start.response();
            let plausible =
                response.filter(|said| said.ttl_diff == asked.ttl_diff && said.rate <= asked.rate);
            // Each step by which routers lower the rate changes one pair of the nonce's bits, from the top. The two low bits for each
            // remaining step are unchanged (section 4.4 and appendix of RFC 4782).
            let agrees = plausible.is_none_or(|said| {
                let kept = 2 * u32::from(said.rate.get());
                (0..kept).all(|bit| (said.nonce.get() ^ asked.nonce) >> bit & 1 == 0)
            });
            self.caught |= !agrees;
            let may = plausible.filter(|said| agrees && !said.rate.is_denied()).map(|said| said.rate.rate());
            assert_eq!(approved, may, "{asked:?} was answered {response:?}");
            assert!(segment.flags.has(Flags::ACK));
        }
    }
}
