//! The time in which processes of this machine waited for a processor.

use std::fs;

use firstflight::Span;

/// The kernel's count of that time. It does not exist if the kernel is built without pressure stall information.
const FILE: &str = "/proc/pressure/cpu";

/// Returns the time since the machine's start in which a process waited for a processor: the mean over the processors, weighted by the time
/// for which each was busy. `None` if the kernel does not count it.
pub(super) fn waited() -> Option<Span> {
    parse(&fs::read_to_string(FILE).ok()?)
}

/// Returns the total of the line `some`, which is in microseconds.
fn parse(text: &str) -> Option<Span> {
    let line = text.lines().find_map(|line| line.strip_prefix("some "))?;
    let total = line.split(' ').find_map(|field| field.strip_prefix("total="))?;
    total.parse().ok().map(Span::from_micros)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_total_is_that_of_some_processes() {
        let text = "some avg10=7.65 avg60=13.40 avg300=10.84 total=59852982\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=7\n";
        assert_eq!(parse(text), Some(Span::from_micros(59_852_982)));
        for other in ["", "full avg10=0.00 total=7\n", "some avg10=0.00\n", "some total=x\n"] {
            assert_eq!(parse(other), None, "{other}");
        }
    }
}
