use super::*;
use crate::parse_sweep;

/// Returns the class on an axis of each path of a sweep.
fn of(path: &str, axis: &str) -> Vec<String> {
    let sweep = parse_sweep(path).expect(path);
    let facts = (0..sweep.paths()).map(|path| PathFacts::of(path, &sweep.scenario(path).expect("a path")));
    let class =
        |facts: PathFacts| classes(&facts).into_iter().find(|(name, ..)| *name == axis).expect("an axis").2;
    facts.map(class).collect()
}

/// Twenty-four paths. None has whole numbers of bytes at all the ends of classes.
const PATHS: &str = "[path]\nrate = [\"7.777mbit\", \"5.557mbit\", \"3.333mbit\", \"12mbit\", \"10mbit\", \"1234567bit\"]\n\
    rtt = [\"10ms\", \"37ms\", \"51ms\", \"200ms\"]\npacket = 200\n";

#[test]
fn values_declared_at_a_class_boundary_belong_to_the_upper_class() {
    for (axis, option, class) in [
        ("queue", "queue = \"0.25bdp\"", "0.25-1 BDP"),
        ("queue", "queue = \"1bdp\"", "1 BDP and more"),
        ("queue", "", "1 BDP and more"),
        ("cross traffic", "cross = { cbr = 0.3 }", "cbr 30-60 %"),
        ("cross traffic", "cross = { cbr = \"60%\" }", "cbr 60 % and more"),
        ("loss", "loss = \"0.01%\"", "0.01-0.1 %"),
        ("loss", "loss = \"0.1%\"", "0.1 % and more"),
    ] {
        assert_eq!(of(&format!("{PATHS}{option}\n"), axis), vec![class; 24], "{axis}: {option}");
    }
}

#[test]
fn values_one_percent_below_a_boundary_belong_to_the_lower_class() {
    for (axis, option, class) in [
        ("queue", "queue = \"0.2475bdp\"", "under 0.25 BDP"),
        ("queue", "queue = \"0.99bdp\"", "0.25-1 BDP"),
        ("cross traffic", "cross = { cbr = \"29.7%\" }", "cbr under 30 %"),
        ("cross traffic", "cross = { cbr = \"59.4%\" }", "cbr 30-60 %"),
        ("loss", "loss = \"0.099%\"", "0.01-0.1 %"),
    ] {
        assert_eq!(of(&format!("{PATHS}{option}\n"), axis), vec![class; 24], "{axis}: {option}");
    }
}

#[test]
fn paths_next_to_bulk_flows_are_classed_by_the_law_of_these() {
    let path = "[path]\nrate = \"20mbit\"\nrtt = \"20ms\"\n";
    for (cross, class) in [
        ("none", "no bulk flows of one law"),
        ("web:20%", "no bulk flows of one law"),
        ("tcp:2", "cubic"),
        ("tcp:2,reno", "reno"),
        ("cubic:2", "cubic-linux"),
        ("bbr:1", "bbr"),
        ("tcp:1,leap,bbr-cruise", "bbr-cruise"),
    ] {
        assert_eq!(of(&format!("{path}cross = \"{cross}\"\n"), "neighbour's law"), [class], "{cross}");
    }
}

#[test]
fn a_path_without_one_rate_is_in_no_class_of_rates() {
    let path = "[path]\nrtt = \"20ms\"\nsize = \"1MB\"\n";
    for (bottleneck, class) in [
        ("rate-trace = \"0s=1mbit,3600s=100mbit\"", "along a trace"),
        ("rate = \"100mbit\"\npolicer = \"5mbit,64kB\"", "at a policer"),
    ] {
        for axis in ["rate", "BDP", "queue", "size"] {
            assert_eq!(of(&format!("{path}{bottleneck}\n"), axis), [class], "{axis}");
        }
        assert_eq!(of(&format!("{path}{bottleneck}\n"), "base RTT"), ["10-50 ms"]);
    }
}

#[test]
fn a_transfer_of_exactly_one_bdp_is_in_its_class_despite_rounding() {
    let path = "[path]\nrate = \"240mbit\"\nrtt = \"17ms\"\nsize = \"510kB\"\n";
    assert_eq!(of(path, "size"), ["1-10 BDP"]);
}
