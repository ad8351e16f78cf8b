//! Figures on real packets: the habitat `live`, and the machine on which they were measured.

use std::fs;
use std::thread::available_parallelism;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use firstflight_compare::{CompareError, Real, real};
use firstflight_measure::{Recording, row};
use firstflight_papers::{ClaimResult, Habitat, Ran, golden};
use firstflight_report::{Record, records};
use firstflight_scenario::{Cross, Scenario, SchemeChoice};
use serde_json::Value;

use super::AskedFor;
use crate::failure::Failure;
use crate::output;

/// The endpoint and the prober on UDP sockets, over emulated paths.
pub(super) struct Live;

impl Habitat for Live {
    fn rows(
        &self,
        scenario: &Scenario,
        choices: &[SchemeChoice],
        record: &dyn Fn(&Recording, &str),
        interrupted: &dyn Fn() -> bool,
    ) -> Result<Ran, String> {
        if scenario.probe.is_some() {
            let probed = real::probed(scenario, interrupted).map_err(|error| error.to_string())?;
            let rows = vec![with_truth(counted(probed)?, scenario)];
            return Ok(Ran { rows, flows: Vec::new() });
        }
        let mut rows = Vec::new();
        // One after the other with each seed: what the machine does meanwhile hits all alike.
        for choice in choices {
            let ran = real::on_sockets(scenario, choice, interrupted).map_err(|error| error.to_string())?;
            let evidence = counted(ran)?;
            record(&Recording { label: choice.name().to_owned(), ..evidence.recording.clone() }, "");
            rows.push(row(&scenario.measured(choice, scenario.seed), &evidence));
        }
        let rows = records(&rows).map_err(|error| error.to_string())?;
        Ok(Ran { rows, flows: Vec::new() })
    }
}

/// The habitat of this name; `None` if there is none, or if this program cannot run it.
pub(super) fn of(name: &str) -> Option<&'static dyn Habitat> {
    match name {
        "live" => Some(&Live),
        #[cfg(all(feature = "kernel", target_os = "linux"))]
        "kernel" => Some(&super::kernel::InKernel),
        _ => None,
    }
}

/// A run that counts.
pub(super) fn counted<T>(ran: Real<T>) -> Result<T, String> {
    match ran {
        Real::Ran(value) => Ok(value),
        Real::Void => Err("a run stayed void: this machine is too busy for real packets".to_owned()),
        Real::Interrupted => Err("interrupted".to_owned()),
    }
}

/// The row of a probing with the seed, the hash and, beside constant-rate traffic, the truth.
fn with_truth(mut record: Record, scenario: &Scenario) -> Record {
    #[expect(clippy::cast_precision_loss, reason = "rates are far below 2^53 bit/s")]
    let truth = match scenario.cross {
        Cross::None => Some(scenario.rate.bps() as f64),
        Cross::Cbr(cross) => Some(scenario.rate.bps().saturating_sub(cross.bps()) as f64),
        _ => None,
    };
    let truth = truth.filter(|truth| *truth > 0.0);
    for (error, found) in [("ptr_error", "ptr_bps"), ("igi_error", "igi_bps")] {
        let found = record.get(found).and_then(Value::as_f64);
        let value = found.zip(truth).map(|(found, truth)| found / truth - 1.0);
        record.insert(error.to_owned(), value.map_or(Value::Null, Value::from));
    }
    record.insert("available_bps".to_owned(), truth.map_or(Value::Null, Value::from));
    record.insert("seed".to_owned(), scenario.seed.into());
    record.insert("scenario_hash".to_owned(), scenario.hash().into());
    record
}

/// Names the figures that are skipped, where the system lets no paths be emulated; whether all are. Without a habitat none is.
pub(super) fn are_skipped(habitat: Option<&str>, asked: &AskedFor<'_>) -> Result<bool, Failure> {
    let Some(habitat) = habitat else { return Ok(false) };
    let Some(scenario) = asked.figures().find_map(|figure| figure.a_scenario()) else {
        return Err(Failure::usage("no figure that is asked for has this habitat"));
    };
    let missing = if habitat == "kernel" { missing_in_kernel() } else { None };
    let why = match missing {
        Some(why) => why,
        None => match real::is_possible(scenario) {
            Ok(()) => return Ok(false),
            Err(CompareError::Refused(why)) => why,
            Err(error) => return Err(Failure::usage(error)),
        },
    };
    for figure in asked.figures() {
        output::say(&format!("skipped: {}: {why}\n", figure.name()));
    }
    Ok(true)
}

/// What this program or this machine lacks for the habitat `kernel`, in a line.
#[cfg(all(feature = "kernel", target_os = "linux"))]
fn missing_in_kernel() -> Option<String> {
    super::kernel::missing()
}

/// What a program that loads no schemes lacks for the habitat `kernel`, in a line.
#[cfg(not(all(feature = "kernel", target_os = "linux")))]
#[expect(clippy::unnecessary_wraps, reason = "a program that loads schemes may lack nothing")]
fn missing_in_kernel() -> Option<String> {
    Some(crate::kernel::MISSING.to_owned())
}

/// The machine when a measurement began.
pub(super) struct Machine {
    date: String,
    load: f64,
}

impl Machine {
    #[expect(clippy::disallowed_methods, reason = "the record says when real packets were measured")]
    pub(super) fn now() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
        Self { date: date(since.as_secs() / 86_400), load: load() }
    }

    /// The record of what has just been measured.
    pub(super) fn measured(&self, habitat: &str, claims: Vec<ClaimResult>) -> golden::Measured {
        let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
        golden::Measured {
            habitat: habitat.to_owned(),
            date: self.date.clone(),
            load: [self.load, load()],
            cores: available_parallelism().map_or(1, |cores| cores.get() as u64),
            kernel: kernel.trim().to_owned(),
            claims,
        }
    }
}

/// The load average over a minute.
fn load() -> f64 {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().and_then(|first| first.parse().ok()).unwrap_or(0.0)
}

/// The day so many days after 1 January 1970.
fn date(days: u64) -> String {
    let is_leap =
        |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let (mut year, mut rest) = (1970, days);
    while rest >= 365 + u64::from(is_leap(year)) {
        rest -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let lengths = [31, 28 + u64::from(is_leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut month = 1;
    for length in lengths {
        if rest < length {
            break;
        }
        rest -= length;
        month += 1;
    }
    format!("{year}-{month:02}-{:02}", rest + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_dates() {
        for (days, text) in [
            (0, "1970-01-01"),
            (58, "1970-02-28"),
            (59, "1970-03-01"),
            (11_016, "2000-02-29"),
            (20_783, "2026-11-26"),
            (20_818, "2026-12-31"),
            (20_819, "2027-01-01"),
        ] {
            assert_eq!(date(days), text);
        }
    }
}
