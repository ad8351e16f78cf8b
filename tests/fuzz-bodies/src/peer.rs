//! Endpoints of every kind, and the laws that an endpoint must keep whatever its peer does.

use firstflight::registry::{self, AnyController, AnyLaw, AnyRestart, AnyScheme};
use firstflight::schemes::Initial;
use firstflight::{Controller, Span};
use firstflight_tcp::bytes::{Settings, Socket};
use firstflight_tcp::{AckPolicy, Config, Endpoint, Recovery, Role};

use crate::Source;

/// An endpoint with any scheme, policy and law.
pub(crate) type Any = Endpoint<AnyScheme, AnyRestart, AnyLaw>;

/// An endpoint with any scheme, policy and law that carries real bytes.
pub(crate) type AnySocket = Socket<AnyScheme, AnyRestart, AnyLaw>;

/// Returns any configuration of an endpoint.
pub(crate) fn config(source: &mut Source<'_>) -> Config {
    let recovery = [
        Recovery::Rack,
        Recovery::Sack,
        Recovery::NewReno,
        Recovery::NewRenoSteady,
        Recovery::Reno,
        Recovery::Vegas,
        Recovery::Ns2Sack1,
    ];
    let policies =
        [AckPolicy::Delayed, AckPolicy::Every, AckPolicy::Linux, AckPolicy::FreeBsd, AckPolicy::WindowsXp];
    let bits = source.byte();
    Config {
        mss: source.pick(&[1_460, 1_000, 536, 100, 8_960, 48]),
        sack: bits & 1 == 0,
        timestamps: bits & 2 != 0,
        ecn: bits & 4 != 0,
        window_scaling: bits & 8 == 0,
        reads_at_once: bits & 16 == 0,
        tail_loss_probe: bits & 32 == 0,
        options_in_mss: bits & 64 != 0,
        receive_buffer: source.pick(&[1 << 20, 65_535, 4_000, 1 << 30, 100, 1]),
        ack_policy: source.pick(&policies),
        recovery: source.pick(&recovery),
        min_rto: Span::from_millis(source.pick(&[1_000, 200])),
        initial_sequence: source.pick(&[0, 1 << 31, u32::MAX - 5_000, u32::MAX]),
        secret: 7,
        ..Config::default()
    }
}

/// Returns an endpoint with this configuration and any controller.
pub(crate) fn endpoint(role: Role, config: &Config, source: &mut Source<'_>) -> Any {
    Endpoint::new(role, config, controller(source))
}

/// Returns an endpoint with this configuration and any controller that carries real bytes.
pub(crate) fn socket(role: Role, config: &Config, settings: &Settings, source: &mut Source<'_>) -> AnySocket {
    Socket::new(role, config, controller(source), settings)
}

fn controller(source: &mut Source<'_>) -> AnyController {
    let initial = Initial { segments: source.pick(&[10, 3, 1, 40]), ssthresh: None };
    let startup = source.pick(registry::schemes()).build(initial, &[]).expect("defaults are allowed");
    let restart = source.pick(registry::restarts()).build(initial, &[]).expect("defaults are allowed");
    let law = source.pick(registry::laws()).build();
    Controller::new(startup, restart, law)
}

/// The memory law: for any input, the outstanding data and the receive buffer of a connection bound the heap memory that the connection
/// uses.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Memory {
    /// The maximum number of outstanding segments so far.
    most: u64,
}

impl Memory {
    /// Bytes for each outstanding segment. They include its record, its entries in the transmission order (one old, one current) and among
    /// the segments to be retransmitted, and the eighth by which ring buffers grow.
    const PER_SEGMENT: u64 = 96;
    /// Bytes for each out-of-order range. The number of ranges that are kept in addition to those that full segments could make follows.
    const PER_RANGE: u64 = 48;
    const EXTRA_RANGES: u64 = 64;
    /// Bytes that an empty connection may use.
    const CONSTANT: u64 = 64 * 1_024;

    /// Checks the endpoint against the law. It must be called after every segment that may be sent was sent, because outstanding data only
    /// grows until then.
    pub(crate) fn holds(&mut self, endpoint: &Any, config: &Config) {
        let info = endpoint.info();
        self.most = self.most.max(info.outstanding);
        let mss = u64::from(info.mss.min(config.mss).clamp(1, config.mss));
        let ranges = config.receive_buffer / mss + Self::EXTRA_RANGES;
        let bound = self.most * Self::PER_SEGMENT + ranges * Self::PER_RANGE + Self::CONSTANT;
        let held = endpoint.memory() as u64;
        assert!(held <= bound, "{held} bytes held, {bound} allowed for {} segments", self.most);
    }
}
