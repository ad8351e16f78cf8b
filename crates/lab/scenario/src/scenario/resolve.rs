//! Builds a scenario from options: checks keys that need or exclude each other, fills in defaults, and checks the whole scenario.

use firstflight::{Bytes, Rate, Span};
use firstflight_tcp::{AckPolicy, Recovery, RtoFloor, Stack};

use super::flows::{arriving, counted, latest_end, population};
use super::load::Load;
use super::{
    Goal, LARGEST_RWND, LIMIT, MEGABIT, Rounds, Scenario, ScenarioError, ScenarioFault, Writes, highest,
    writing,
};
use crate::cross_entries::Beside;
use crate::keys::{Exclusion, Key, LIMIT_AND_DURATION, key, keys};
use crate::keywords::{self, App, Cross, Packet};
use crate::options::Options;
use crate::quantity::{Amount, Decimal, QueueSize, show_bytes, show_rate, show_span};
use crate::traces::TraceOrigin;

const MAX_WRITES: u64 = 100_000;
/// The maximum number of outages of a run. Each is two steps of a rate over time.
const MAX_OUTAGES: u64 = 100_000;

/// The defaults of a path that differ from [`Scenario::default`].
struct Unset {
    queue: QueueSize,
    cross: Cross,
    packet: Packet,
    goal: Unreached,
    ack: AckPolicy,
    avoidance: &'static str,
    timer_noise: Option<Span>,
    ssthresh: Option<Amount>,
    /// `None` for the initial window of RFC 6928.
    iw: Option<u32>,
}

enum Unreached {
    Size(Amount),
    Duration(Span),
}

impl Unset {
    /// The defaults of the built-in path. They apply if the options have neither a rate nor an RTT.
    const BUILT_IN: Self = Self {
        queue: QueueSize::Packets(1000),
        cross: Cross::Cbr(Rate::from_bps(40 * MEGABIT)),
        packet: Packet::Ip(1000),
        goal: Unreached::Duration(Span::from_secs(50)),
        ack: AckPolicy::Every,
        avoidance: "reno",
        timer_noise: None,
        ssthresh: Some(Amount::Packets(Decimal::whole(20_000))),
        iw: Some(2),
    };

    /// The defaults of the user's own path. They apply if the options have a rate or an RTT.
    const OWN: Self = Self {
        queue: QueueSize::Bdp(Decimal::whole(1)),
        cross: Cross::None,
        packet: Packet::Mss(1460),
        goal: Unreached::Size(Amount::Bytes(Bytes::new(1_000_000))),
        ack: AckPolicy::Delayed,
        avoidance: "cubic",
        timer_noise: Some(Span::from_micros(20)),
        ssthresh: None,
        iw: None,
    };
}

/// Returns the initial window of RFC 6928 section 2 in whole segments of `mss` bytes: ten segments, but at most 14,600 bytes if segments
/// are large, and at least two segments.
fn initial_window(mss: u16) -> u32 {
    (14_600 / u32::from(mss).max(1)).clamp(2, 10)
}

impl Scenario {
    /// Fills in the words of the preset, if there is one, and the defaults. Checks the whole scenario.
    ///
    /// If the options have neither a rate (or a rate trace) nor an RTT, the defaults are those of the built-in path. Otherwise the defaults
    /// are: 100 Mbit/s or 80 ms, no cross traffic, infinite ssthresh, the initial window of RFC 6928, an MSS of 1460, delayed ACKs, a queue
    /// of one bandwidth-delay product, 1 MB, and CUBIC after start-up. If other flows share the path, senders' timers are then up to 20 µs
    /// late.
    ///
    /// # Errors
    /// Options that exclude each other, and values that are impossible on this path.
    pub fn resolve(options: &Options) -> Result<Self, ScenarioError> {
        let expanded = options.expanded();
        let options = expanded.as_ref();
        let counted = counted(options);
        together(&counted, options)?;
        let options = counted.as_ref();
        let plain = &options.plain;
        let built_in = options.rate.is_none() && options.rtt.is_none() && plain.rate_trace.is_none();
        let unset = if built_in { Unset::BUILT_IN } else { Unset::OWN };
        let base = Self::default();
        let mss = match options.packet.unwrap_or(unset.packet) {
            Packet::Mss(mss) => mss,
            Packet::Ip(bytes) => bytes - 40 - if plain.timestamps { 12 } else { 0 },
        };
        let in_bytes = |key, amount: Amount| {
            let too_large = || ScenarioFault::TooLarge { value: amount.to_string() }.of(key);
            amount.in_bytes(u64::from(mss)).ok_or_else(too_large)
        };
        let stack = options.stack.unwrap_or(base.stack);
        let rounds = rounds(options);
        // The size of a reply in Visweswaraiah and Heidemann 1997, section 4.1.
        let reply = rounds.map(|_| Amount::Bytes(Bytes::new(24_000)));
        let goal = match (options.size.or(reply), options.duration, &unset.goal) {
            (Some(size), _, _) => Goal::Size(in_bytes("size", size)?),
            (None, Some(duration), _) => Goal::Duration(duration),
            (None, None, Unreached::Size(size)) => Goal::Size(in_bytes("size", *size)?),
            (None, None, Unreached::Duration(duration)) => Goal::Duration(*duration),
        };
        let app = match options.app {
            Some(App { write, every }) => Some(Writes { bytes: in_bytes("app", write)?, period: every }),
            None => None,
        };
        let ssthresh = options.ssthresh.unwrap_or(unset.ssthresh);
        let highest = highest(plain.rate_trace.as_ref());
        let rate = options.rate.or(highest).unwrap_or(base.rate);
        let load = Load { mss, goal, rate: highest.map_or(rate, |highest| highest.max(rate)) };
        let population = population(options, load)?;
        // A trace may exceed `--rate`. The default of the access links is therefore ten times the highest rate of the trace, so that they
        // are not the limit.
        let access_rate = options.access_rate.unwrap_or(load.rate * 10);
        let mut scenario = Self {
            registry: options.registry,
            rate,
            rtt: options.rtt.unwrap_or(base.rtt),
            queue: options.queue.unwrap_or(unset.queue),
            cross: if population.is_some() { Cross::None } else { options.cross.unwrap_or(unset.cross) },
            beside: match options.cross.filter(|cross| population.is_some() && *cross != Cross::None) {
                Some(steady) => [&[Beside::steady(steady)], &*plain.beside].concat(),
                None => plain.beside.clone(),
            },
            mss,
            goal,
            rounds,
            app,
            population: population.clone(),
            limit: match goal {
                Goal::Duration(_) if options.limit.is_some() => {
                    let why = LIMIT_AND_DURATION;
                    return Err(ScenarioFault::Excluded { other: "duration", why }.of("limit"));
                }
                Goal::Duration(duration) => {
                    population.as_ref().map_or(Span::ZERO, |flows| flows.warm_up) + duration
                }
                Goal::Size(size) => options.limit.unwrap_or_else(|| {
                    LIMIT
                        + idling(rounds)
                        + writing(app, size)
                        + population.as_ref().map_or(Span::ZERO, arriving).max(latest_end(&plain.script))
                }),
            },
            ack: options.ack.unwrap_or(unset.ack),
            avoidance: options.avoidance.unwrap_or(Some(unset.avoidance)),
            recovery: options.recovery.unwrap_or(base.recovery),
            stack,
            quic: options.quic,
            restart: options.restart_or(&base.restart),
            ssthresh: ssthresh.map(|amount| in_bytes("ssthresh", amount)).transpose()?,
            iw: options.iw.or(unset.iw).unwrap_or_else(|| initial_window(mss)),
            rwnd: options.rwnd.map_or(Ok(base.rwnd), |amount| in_bytes("rwnd", amount))?,
            min_rto: options.min_rto.unwrap_or(stack.min_rto()),
            access_rate,
            reverse_rate: options.reverse_rate.unwrap_or(if population.is_some() {
                rate
            } else {
                access_rate
            }),
            ..plain.clone()
        };
        scenario.timer_noise =
            options.timer_noise.unwrap_or(unset.timer_noise.filter(|_| scenario.has_usual_noise()));
        scenario.check()?;
        let seed = scenario.seed;
        Ok(scenario.at_seed(seed).into_owned())
    }

    /// Returns an error if the stack does not have the loss recovery.
    pub(crate) fn check_stack(&self) -> Result<(), ScenarioError> {
        match (self.stack, self.recovery) {
            (Stack::Rfc, _) | (Stack::Linux, Recovery::Rack | Recovery::NewReno) => Ok(()),
            (Stack::Linux, other) => {
                Err(ScenarioFault::NotLinuxs { recovery: keywords::recovery_name(other) }.of("recovery"))
            }
        }
    }

    /// Returns an error if the initial RTO is below the minimum RTO. Applies only if the minimum RTO bounds whole timeouts.
    fn check_initial_rto(&self) -> Result<(), ScenarioError> {
        let bounds = self.rto_floor.unwrap_or(self.stack.rto_floor()) != RtoFloor::Variation;
        if !bounds || self.initial_rto >= self.min_rto || self.initial_rto == Self::default().initial_rto {
            return Ok(());
        }
        let (initial, least) = (show_span(self.initial_rto), show_span(self.min_rto));
        Err(ScenarioFault::BelowLeast { initial, least }.of("initial-rto"))
    }

    /// Returns an error if a listed arrival is at the end of the run or later, because its flow would never be observed.
    fn begins_before_the_end(&self) -> Result<(), ScenarioError> {
        let latest = self.population.as_ref().map_or(Span::ZERO, |flows| flows.arrivals.latest());
        if latest.is_zero() || latest < self.limit {
            return Ok(());
        }
        let (start, end) = (show_span(latest), show_span(self.limit));
        Err(ScenarioFault::AfterTheEnd { start, end }.of("arrivals"))
    }

    fn check(&self) -> Result<(), ScenarioError> {
        let packet = self.packet();
        if self.rate.time_for(Bytes::new(u64::from(packet))) > Span::from_secs(3600) {
            return Err(ScenarioFault::RateTooSmall { rate: show_rate(self.rate), packet }.of("rate"));
        }
        let writes = self.app.map_or(0, |app| match self.goal {
            Goal::Size(size) => app.count(size),
            Goal::Duration(span) => span.nanos() / app.period.nanos().max(1),
        });
        if writes > MAX_WRITES {
            return Err(ScenarioFault::TooManyWrites { writes }.of("app"));
        }
        if self.population.is_some() && self.rate_trace.is_some() && self.reverse_rate != self.rate {
            let why = "between hosts a trace is of both directions";
            return Err(ScenarioFault::Excluded { other: "rate-trace", why }.of("reverse-rate"));
        }
        if self.population.is_some() && self.outage.is_some() && self.reverse_rate != self.rate {
            let why = "between hosts an outage is of both directions";
            return Err(ScenarioFault::Excluded { other: "outage", why }.of("reverse-rate"));
        }
        let is_played = self.rate_trace.as_ref().is_some_and(|trace| {
            trace.millis().is_some() || trace.period().is_some() || !trace.start().is_zero()
        });
        let is_seeded = self.rate_origin.as_ref().is_some_and(TraceOrigin::is_seeded);
        if self.outage.is_some() && (is_played || is_seeded) {
            let why = "an outage changes a constant rate or a list of steps, which begins at zero and does not repeat";
            return Err(ScenarioFault::Excluded { other: "rate-trace", why }.of("outage"));
        }
        let outages = self.outage.as_ref().map_or(0, |outage| outage.count(self.last_outage()));
        if outages > MAX_OUTAGES {
            let limit = show_span(self.limit);
            return Err(ScenarioFault::TooManyOutages { outages, limit, most: MAX_OUTAGES }.of("outage"));
        }
        self.ends()?;
        self.check_script()?;
        self.check_beside()?;
        self.begins_before_the_end()?;
        self.check_stack()?;
        if let Some(late) = self.windows.iter().find(|window| window.until > self.limit) {
            let (window, limit) = (late.to_string(), show_span(self.limit));
            return Err(ScenarioFault::WindowTooLate { window, limit }.of("windows"));
        }
        let clients = self.rounds.map_or(1, |rounds| rounds.clients);
        for link in &self.measured_links {
            let exists = link.check(self.topology, clients, self.receiver_access_rate.is_some());
            exists.map_err(|text| ScenarioFault::NoSuchLink(text).of("links"))?;
        }
        self.check_initial_rto()?;
        if self.receiver_access_rate.is_some()
            && matches!(self.cross, Cross::Poisson { .. } | Cross::Users { .. } | Cross::Web(_))
        {
            return Err(
                ScenarioFault::SharedReceiver { cross: self.cross.to_string() }.of("receiver-access-rate")
            );
        }
        if let Some((min, max)) = self.red_thresholds().filter(|(min, max)| min >= max) {
            return Err(ScenarioFault::Thresholds { min, max }.of("queue"));
        }
        match self.queue_bytes() {
            Some(bytes) if bytes.get() < u64::from(packet) => {
                return Err(
                    ScenarioFault::QueueBelowPacket { queue: self.queue.to_string(), packet }.of("queue")
                );
            }
            None if !matches!(self.queue, QueueSize::Packets(_)) => {
                return Err(ScenarioFault::TooLarge { value: self.queue.to_string() }.of("queue"));
            }
            _ => {}
        }
        let burst = self.policer.map(|policer| policer.burst);
        if let Some(burst) = burst.filter(|burst| burst.get() < u64::from(packet)) {
            return Err(ScenarioFault::BurstBelowPacket { burst: show_bytes(burst), packet }.of("policer"));
        }
        if self.rwnd < Bytes::new(u64::from(self.mss)) {
            return Err(
                ScenarioFault::RwndBelowSegment { rwnd: show_bytes(self.rwnd), mss: self.mss }.of("rwnd")
            );
        }
        if self.rwnd > LARGEST_RWND {
            return Err(ScenarioFault::RwndTooLarge { rwnd: show_bytes(self.rwnd) }.of("rwnd"));
        }
        Ok(())
    }
}

/// Returns an error if a key is set without another key that it needs, or together with a key that it excludes. `given` has the options as
/// given. In `options`, the number of flows is set even if only a script or listed arrivals determine it.
fn together(options: &Options, given: &Options) -> Result<(), ScenarioError> {
    for one in keys() {
        // A script itself makes a population, and excludes an explicit request for one.
        let beside = if one.name == "flow" { given } else { options };
        let is_given = |key: &Key| beside.given(key.name).filter(|text| !key.is_off(text)).map(str::to_owned);
        let other_is_given = |name: &str| key(name).and_then(is_given).is_some();
        let Some(text) = is_given(one) else { continue };
        let key = one;
        if let Some(need) = key.needs.filter(|need| !other_is_given(need.other)) {
            return Err(ScenarioFault::Needs(need.without).of(key.name));
        }
        let is_excluded =
            |one: &&Exclusion| other_is_given(one.other) && !one.except.contains(&text.as_str());
        if let Some(Exclusion { other, why, .. }) = key.excludes.iter().find(is_excluded) {
            return Err(ScenarioFault::Excluded { other, why }.of(key.name));
        }
    }
    Ok(())
}

/// Returns the rounds that the options describe, if any.
fn rounds(options: &Options) -> Option<Rounds> {
    let scripted = u32::try_from(options.plain.script.len()).ok().filter(|clients| *clients > 0);
    let clients = scripted.or(options.clients).unwrap_or(1);
    Some(Rounds {
        count: options.rounds?,
        idle: options.idle.unwrap_or(IDLE),
        spread: options.spread.unwrap_or((clients > 1).then_some(SPREAD)),
        clients,
    })
}

/// The idle time between rounds in Visweswaraiah and Heidemann 1997, section 4.1.
const IDLE: Span = Span::from_secs(120);
/// The spread of several clients' replies around a round's centre in Visweswaraiah and Heidemann 1997, section 4.1.
const SPREAD: Span = Span::from_millis(1_500);

/// Returns the total idle time of all rounds.
fn idling(rounds: Option<Rounds>) -> Span {
    rounds.map_or(Span::ZERO, |rounds| {
        (rounds.idle + rounds.spread.unwrap_or(Span::ZERO) * 2) * u64::from(rounds.count)
    })
}
