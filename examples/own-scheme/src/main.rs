//! The `firstflight` command with your own scheme: docs/guide/own-scheme.md explains it.

use firstflight::registry::{Ability, AnyScheme, Kind, Needs, Parameter, Registry, SchemeEntry, Value};
use firstflight::schemes::SlowStart;
use firstflight::{Cause, Event, Path, Plan, Startup, Step};

/// Slow start that halves its window and exits once `srtt > min_rtt * (1 + rise)`.
#[derive(Clone, Debug)]
struct StepBack {
    slow: SlowStart,
    rise_ppm: u32,
}

impl StepBack {
    fn queue_has_grown(&self, path: &Path) -> bool {
        let limit = path.min_rtt.map(|min| min + min.scale(self.rise_ppm.into(), 1_000_000));
        path.srtt.zip(limit).is_some_and(|(srtt, limit)| srtt > limit)
    }
}

impl Startup for StepBack {
    fn on(&mut self, event: &Event<'_>, path: &Path) -> Step {
        match event {
            // The window doubles every RTT: if it now fills the queue, half of it fits the path.
            Event::Acked(ack) if !ack.growth.is_zero() && self.queue_has_grown(path) => {
                self.slow.set_window((self.slow.window() / 2).max(path.mss * 2));
                self.slow.leave(Cause::Delay)
            }
            _ => self.slow.on(event, path),
        }
    }

    fn plan(&self, path: &Path) -> Plan {
        self.slow.plan(path)
    }
}

const STEP_BACK: SchemeEntry = SchemeEntry {
    name: "step-back",
    summary: "slow start that halves its window and leaves once the smoothed RTT has risen",
    source: "docs/guide/own-scheme.md",
    law: "reno",
    parameters: &[Parameter {
        name: "rise",
        kind: Kind::Fraction { min_ppm: 10_000, max_ppm: 1_000_000 },
        default: Value::Fraction { ppm: 250_000 },
        help: "how far the smoothed RTT may be above the minimum",
    }],
    needs: Needs::of(&[Ability::AckClock]).using(&[Ability::Marks]),
    make: |initial, settings| {
        AnyScheme::outside(StepBack { slow: SlowStart::new(initial), rise_ppm: settings.ppm("rise") })
    },
};

fn main() -> std::process::ExitCode {
    let registry = Registry::builtin().with_schemes(&[STEP_BACK]).with_source(include_str!("main.rs"));
    firstflight_cli::main_with(registry)
}
