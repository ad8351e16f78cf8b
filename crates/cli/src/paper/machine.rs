//! The machine on which figures were measured.

use std::fs;
use std::thread::available_parallelism;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use firstflight_papers::{ClaimResult, golden};

/// The state of the machine when a measurement starts.
pub(super) struct Machine {
    date: String,
    load: f64,
}

impl Machine {
    /// Returns the state of the machine now.
    #[expect(clippy::disallowed_methods, reason = "the record says when real packets were measured")]
    pub(super) fn now() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
        Self { date: date(since.as_secs() / 86_400), load: load() }
    }

    /// Returns the record of the measurement that has just ended.
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

/// Returns the load average over a minute.
fn load() -> f64 {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().and_then(|first| first.parse().ok()).unwrap_or(0.0)
}

/// Returns the date that is this number of days after 1 January 1970.
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
