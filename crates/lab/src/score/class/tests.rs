use super::*;
use crate::parse_sweep;

/// The class of each path of a sweep on an axis.
fn of(path: &str, axis: &str) -> Vec<String> {
    let sweep = parse_sweep(path).expect(path);
    let facts = (0..sweep.paths()).map(|path| PathFacts::of(path, &sweep.scenario(path).expect("a path")));
    let class =
        |facts: PathFacts| classes(&facts).into_iter().find(|(name, ..)| *name == axis).expect("an axis").2;
    facts.map(class).collect()
}

/// Twenty-four paths, none of which has a whole number of bytes at all the ends.
const PATHS: &str = "[path]\nrate = [\"7.777mbit\", \"5.557mbit\", \"3.333mbit\", \"12mbit\", \"10mbit\", \"1234567bit\"]\n\
    rtt = [\"10ms\", \"37ms\", \"51ms\", \"200ms\"]\npacket = 200\n";

#[test]
fn what_is_declared_at_the_end_of_a_class_is_in_the_upper_one_whatever_was_rounded() {
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
fn what_is_declared_a_hundredth_under_the_end_of_a_class_is_in_the_lower_one() {
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
fn a_transfer_of_just_one_product_is_of_one_product_though_doubles_fall_short_of_it() {
    let path = "[path]\nrate = \"240mbit\"\nrtt = \"17ms\"\nsize = \"510kB\"\n";
    assert_eq!(of(path, "size"), ["1-10 BDP"]);
}
