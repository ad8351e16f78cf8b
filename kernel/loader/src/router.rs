//! A router of Quick-Start (RFC 4782) before the link of an interface: a program that sees outgoing packets, and answers the requests among
//! them. It is a link, which the kernel removes with the process.

use std::fmt;

use firstflight::{Rate, Span};
use firstflight_sim::{Estimator, Ring, RouterSpec};
use libbpf_rs::{Link, MapCore, MapFlags, Object, ObjectBuilder};
use nix::net::if_::if_nametoindex;

use crate::error::KernelError;
use crate::load::{hush, refused, root};
use crate::{machine, objects, tcx};

/// Name in messages, and of the object.
const WHAT: &str = "router";
/// The section of the settings.
const SETTINGS: &str = ".rodata.router";
/// The length of `settings` of kernel/bpf/c/router.bpf.c: three numbers of 8 bytes, then eight of 4.
const SIZE: usize = 3 * 8 + 8 * 4;
/// Offset of the counts in its `struct router`: after the lock, nine words and two lists.
const COUNTS: usize = 8 + 7 * 8 + 2 * 256 * 8;
/// The longest interval of measurement, and the rates of a link: beyond these, products exceed 64 bits.
const LONGEST: Span = Span::from_secs(1);
const LONGEST_QUEUE: Span = Span::from_secs(3600);
const RATES: [u64; 2] = [1_000, 400_000_000_000];

/// A router before the link of an interface, as long as this value lives.
pub struct Router {
    object: Object,
    link: Option<Link>,
}

/// Counts of a router.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct RouterCounts {
    /// Requests that named a rate.
    pub asked: u64,
    /// Requests approved unchanged.
    pub granted: u64,
    /// Requests approved with a lower rate.
    pub reduced: u64,
    /// Requests to which no rate was approved.
    pub refused: u64,
    /// Packets that were measured.
    pub packets: u64,
}

impl fmt::Debug for Router {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Router").field("link", &self.link).finish_non_exhaustive()
    }
}

impl Router {
    /// Attaches a router to the outgoing packets of an interface. Its link has this rate and a queue of at most this length, one
    /// measurement interval by default. Packets that find the queue full add no load.
    ///
    /// # Errors
    /// Missing rights, an interface that does not exist, settings out of range, a kernel before 6.6, a refusal by the verifier.
    pub fn attach(
        interface: &str,
        rate: Rate,
        queue: Option<Span>,
        spec: RouterSpec,
    ) -> Result<Self, KernelError> {
        machine::check_rights()?;
        let number =
            if_nametoindex(interface).map_err(|_| KernelError::NoInterface { name: interface.to_owned() })?;
        let mut router = Self::new(rate, queue.unwrap_or(spec.interval), spec, false)?;
        let program = router.object.progs_mut().find(|program| program.name() == WHAT);
        let link = tcx::attach(&program.ok_or(KernelError::Foreign)?, number);
        router.link = Some(link.map_err(|error| KernelError::system(&interface, &error))?);
        Ok(router)
    }

    /// Returns a router that is attached to nothing.
    fn new(rate: Rate, queue: Span, spec: RouterSpec, is_tested: bool) -> Result<Self, KernelError> {
        let impossible =
            |why: String| KernelError::Impossible { scheme: "a Quick-Start router".to_owned(), why };
        if spec.interval > LONGEST {
            return Err(impossible("its interval of measurement is above 1 s".to_owned()));
        }
        if queue > LONGEST_QUEUE {
            return Err(impossible("the queue before its link is above 1 h".to_owned()));
        }
        if !(RATES[0]..=RATES[1]).contains(&rate.bps()) {
            return Err(impossible("the rate of its link is not from 1 kbit/s to 400 Gbit/s".to_owned()));
        }
        hush();
        let mut open = ObjectBuilder::default()
            .open_memory(objects::other(WHAT)?)
            .map_err(|error| KernelError::system(&"the object of the router", &error))?;
        {
            let mut map = open.maps_mut().find(|map| map.name() == SETTINGS).ok_or(KernelError::Foreign)?;
            let block =
                map.initial_value_mut().filter(|block| block.len() == SIZE).ok_or(KernelError::Foreign)?;
            block.copy_from_slice(&settings(rate, queue, spec, is_tested));
        }
        let object = open.load().map_err(|error| refused(WHAT, &error))?;
        Ok(Self { object, link: None })
    }

    /// Returns the counts so far.
    ///
    /// # Errors
    /// A map that cannot be read.
    pub fn counts(&self) -> Result<RouterCounts, KernelError> {
        let map = self.object.maps().find(|map| map.name() == "routers").ok_or(KernelError::Foreign)?;
        let value = map.lookup(&0u32.to_ne_bytes(), MapFlags::LOCK);
        let value = value.map_err(|error| KernelError::system(&"the counts of the router", &root(&error)))?;
        let value = value.ok_or(KernelError::Foreign)?;
        let words = value.get(COUNTS..COUNTS + 5 * 8).ok_or(KernelError::Foreign)?;
        let mut numbers = words.chunks_exact(8).map(|eight| eight.try_into().map_or(0, u64::from_ne_bytes));
        let mut next = || numbers.next().unwrap_or(0);
        Ok(RouterCounts { asked: next(), granted: next(), reduced: next(), refused: next(), packets: next() })
    }
}

/// Returns the settings as the program has them.
fn settings(rate: Rate, queue: Span, spec: RouterSpec, is_tested: bool) -> Vec<u8> {
    let (estimator, weight, intervals) = match spec.estimator {
        Estimator::Interval => (0, 0, 1),
        Estimator::Ewma { weight_ppm } => (1, weight_ppm.min(1_000_000), 1),
        Estimator::Peak { intervals } => (2, 0, u32::from(intervals.max(1))),
    };
    let words = [
        spec.threshold_ppm,
        estimator,
        weight,
        intervals,
        u32::from(spec.reduces),
        u32::from(spec.slots.max(1)),
        u32::from(spec.ring == Ring::Sum),
        u32::from(is_tested),
    ];
    let long = [rate.bps(), spec.interval.nanos().max(1), queue.nanos()];
    let long = long.iter().flat_map(|number| number.to_ne_bytes());
    long.chain(words.iter().flat_map(|word| word.to_ne_bytes())).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use firstflight::{RateCode, Time};
    use firstflight_sim::{Approval, Arriving, FlowKey, LinkSpec, Outcome, Port, PortSpec, QueueLimit};
    use firstflight_tcp::Ecn;
    use firstflight_tcp::quick_start::{IpOption, Nonce};
    use libbpf_rs::ProgramInput;

    use super::*;

    /// A packet of a plan: its arrival, its bytes including the Ethernet header, and the rate that it requests.
    type Planned = (u64, u16, Option<u8>);

    /// Bytes of the headers: Ethernet, and IPv4 with a Quick-Start option.
    const HEADERS: usize = 14 + 28;
    const TTL: u8 = 77;

    /// Returns packets at random times, some of them after long silences, with requests for all rates among them.
    fn plan(seed: u64) -> Vec<Planned> {
        let mut state = seed;
        let mut random = |below: u32| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            u32::try_from(state >> 33).expect("31 bits") % below
        };
        let mut now = 0;
        let mut all = Vec::new();
        for _ in 0..3_000 {
            let gap = match random(200) {
                0 => 2_000_000_000,
                1..=5 => 200_000_000,
                _ => 3_000_000,
            };
            let bytes = 60 + u16::try_from(random(1440)).expect("it is small");
            let asks = random(8) == 0;
            let rate = 1 + u8::try_from(random(15)).expect("it is small");
            all.push((now, bytes, asks.then_some(rate)));
            now += u64::from(random(gap));
        }
        all
    }

    /// Returns the answers of the simulator's router, by the index of the packet: rate and QS TTL.
    fn simulated(plan: &[Planned], rate: Rate, spec: RouterSpec) -> BTreeMap<usize, (u8, u8)> {
        let link = LinkSpec {
            queue: QueueLimit::Unlimited,
            quick_start: Some(Approval::Unused(spec)),
            ..LinkSpec::new(Some(rate), Span::ZERO)
        };
        let mut port = Port::new(&PortSpec::new(link), 1).expect("a port");
        let mut answers = BTreeMap::new();
        let mut take = |port: &mut Port<usize>, now: Time| {
            while let Some(outcome) = port.event(now) {
                if let Outcome::Left(left) = outcome
                    && let Some(IpOption::Request { rate, ttl, .. }) = left.quick_start
                {
                    answers.insert(left.payload, (rate.get(), ttl));
                }
            }
        };
        for (place, (at, bytes, asks)) in plan.iter().enumerate() {
            let now = Time::from_nanos(*at);
            let quick_start = asks.and_then(RateCode::new).map(|rate| IpOption::Request {
                rate,
                ttl: TTL,
                hop_limit: 64,
                nonce: Nonce::new(u32::MAX),
            });
            let packet = Arriving {
                bytes: *bytes,
                flow: FlowKey::hashed(0),
                ecn: Ecn::NotCapable,
                quick_start,
                payload: place,
            };
            assert!(port.enter(now, packet).is_ok(), "no packet is dropped");
            take(&mut port, now);
        }
        take(&mut port, Time::from_nanos(u64::MAX / 4));
        answers
    }

    /// Returns a packet of IPv4 behind a header of Ethernet.
    fn packet(bytes: u16, asks: Option<u8>) -> Vec<u8> {
        let mut packet = vec![0; usize::from(bytes)];
        packet[12] = 8;
        let ip = &mut packet[14..];
        ip[0] = if asks.is_some() { 0x47 } else { 0x45 };
        ip[2..4].copy_from_slice(&(bytes - 14).to_be_bytes());
        ip[8] = 64;
        ip[9] = 17;
        if let Some(rate) = asks {
            ip[20..28].copy_from_slice(&[25, 8, rate, TTL, 0xff, 0xff, 0xff, 0xfc]);
        }
        let sum = !checksum(&ip[..if asks.is_some() { 28 } else { 20 }]);
        ip[10..12].copy_from_slice(&sum.to_be_bytes());
        packet
    }

    /// Returns the sum of the words of a header (RFC 1071), without the complement.
    fn checksum(header: &[u8]) -> u16 {
        let words = header.chunks(2).map(|two| u32::from(two[0]) << 8 | u32::from(two[1]));
        let sum = words.sum::<u32>();
        let sum = (sum & 0xffff) + (sum >> 16);
        u16::try_from((sum + (sum >> 16)) & 0xffff).expect("sixteen bits")
    }

    /// Returns the answers of the kernel's.
    fn kernels(plan: &[Planned], router: &Router) -> BTreeMap<usize, (u8, u8)> {
        /// Length of `struct __sk_buff` of linux/bpf.h, and the offset of its time stamp.
        const CONTEXT: usize = 192;
        const TIME: usize = 152;
        /// And the interface by which the packet came.
        const INGRESS: usize = 36;
        let mut answers = BTreeMap::new();
        for (place, (at, bytes, asks)) in plan.iter().enumerate() {
            let sent = packet(*bytes, *asks);
            let mut context = [0; CONTEXT];
            context[TIME..TIME + 8].copy_from_slice(&(at + 1).to_ne_bytes());
            context[INGRESS..INGRESS + 4].copy_from_slice(&1u32.to_ne_bytes());
            let mut out = vec![0; 2048];
            let input = ProgramInput {
                context_in: Some(&mut context),
                data_in: Some(&sent),
                data_out: Some(&mut out),
                ..ProgramInput::default()
            };
            let program =
                router.object.progs_mut().find(|program| program.name() == WHAT).expect("it has one");
            let output = program.test_run(input).expect("a packet passes");
            let passed = output.data.expect("a packet");
            if asks.is_none() {
                assert!(*passed == sent[..], "only requests are changed");
                continue;
            }
            let header = &passed[14..HEADERS];
            assert_eq!(checksum(header), 0xffff, "the checksum of the header is right");
            let (rate, ttl) = (header[22], header[23]);
            let nonce = u32::from_be_bytes([header[24], header[25], header[26], header[27]]) >> 2;
            assert!(
                rate == 0 || Nonce::new(u32::MAX).agrees(Nonce::new(nonce), RateCode::from_low_bits(rate))
            );
            answers.insert(place, (rate, ttl));
        }
        answers
    }

    #[test]
    fn the_kernel_router_answers_like_the_simulated_router() {
        if let Err(error) = machine::check_rights() {
            println!("skipped router::the_kernel_router_answers_like_the_simulated_router: {error}");
            return;
        }
        let plain = RouterSpec::default();
        let ms = Span::from_millis;
        for (number, (mbit, spec)) in [
            (20, plain),
            (20, RouterSpec { reduces: false, ..plain }),
            (10, RouterSpec { estimator: Estimator::Ewma { weight_ppm: 100_000 }, ..plain }),
            (3, RouterSpec { estimator: Estimator::Peak { intervals: 5 }, threshold_ppm: 800_000, ..plain }),
            (7, RouterSpec { interval: ms(37), slots: 2, ring: Ring::Sum, ..plain }),
            (1_000, RouterSpec { slots: 255, estimator: Estimator::Peak { intervals: 255 }, ..plain }),
        ]
        .into_iter()
        .enumerate()
        {
            let rate = Rate::from_bps(mbit * 1_000_000);
            let packets = plan(number as u64 + 1);
            let router = match Router::new(rate, LONGEST_QUEUE, spec, true) {
                Err(KernelError::Impossible { why, .. }) if why.contains("without objects") => {
                    println!("skipped router::the_kernel_router_answers_like_the_simulated_router: {why}");
                    return;
                }
                router => router.expect("it loads"),
            };
            let wanted = simulated(&packets, rate, spec);
            let found = kernels(&packets, &router);
            assert!(wanted.len() > 300 && wanted.values().any(|(rate, _)| *rate > 0), "{spec:?}");
            assert_eq!(found, wanted, "{mbit} Mbit/s, {spec:?}");
            let counts = router.counts().expect("counts");
            assert_eq!((counts.asked, counts.packets), (wanted.len() as u64, packets.len() as u64));
            assert_eq!(counts.granted + counts.reduced + counts.refused, counts.asked);
        }
    }
}
