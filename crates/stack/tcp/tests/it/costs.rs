//! The committed costs: their limits, and the page that lists them.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use firstflight::registry;
use firstflight::schemes::Initial;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../");
const KINDS: [(&str, &str); 6] = [
    ("rack", "`rack`, nothing lost"),
    ("rack_sacks", "`rack`, half of the window missing: SACKs arrive"),
    ("rack_repair", "`rack`, half of the window missing: retransmissions arrive"),
    ("rfc6675", "`sack`, nothing lost"),
    ("rfc6675_sacks", "`sack`, half of the window missing: SACKs arrive"),
    ("rfc6675_repair", "`sack`, half of the window missing: retransmissions arrive"),
];
/// Costs of a list, at all windows except the last.
const LISTS: [(&str, &str); 3] = [
    ("list_open", "list, nothing lost"),
    ("list_sacks", "list, half of the window missing: SACKs arrive"),
    ("list_repair", "list, half of the window missing: retransmissions arrive"),
];
/// Costs of a receiver and its list, at the same windows.
const QUEUES: [(&str, &str); 4] = [
    ("receiver_beyond", "receiver, segments beyond the window arrive"),
    ("receiver_between", "receiver, retransmissions behind one that was lost again arrive"),
    ("list_beyond", "list, segments beyond the window arrive"),
    ("list_between", "list, retransmissions behind one that was lost again arrive"),
];
const WINDOWS: [&str; 5] = ["w1e2", "w1e3", "w1e4", "w1e5", "w1e6"];

/// Returns the committed counts: instructions per ACK by the benchmark's name.
fn baseline() -> BTreeMap<String, u64> {
    let text = read("bench/instructions.csv");
    let rows = text.lines().filter(|line| !line.starts_with('#')).skip(1);
    rows.map(|line| {
        let (name, count) = line.split_once(',').expect("two columns");
        (name.to_owned(), count.parse().expect("a number of instructions"))
    })
    .collect()
}

fn read(file: &str) -> String {
    std::fs::read_to_string(format!("{ROOT}{file}")).expect(file)
}

/// Returns a scheme's name as a Rust identifier.
fn identifier(scheme: &str) -> String {
    scheme.replace("++", "_plus_plus").replace('-', "_")
}

#[test]
fn ack_cost_varies_under_a_fifth_from_100_to_a_million_packets() {
    let baseline = baseline();
    for (kind, _) in KINDS {
        let counts = WINDOWS.map(|window| baseline[&format!("{kind}.{window}")]);
        let least = counts.iter().min().expect("five windows");
        let most = counts.iter().max().expect("five windows");
        assert!(most * 5 <= least * 6, "{kind}: {counts:?}");
    }
}

#[test]
fn list_cost_grows_with_the_window_while_half_is_missing() {
    let baseline = baseline();
    for (kind, _) in &LISTS[1..] {
        let counts = WINDOWS[..4].iter().map(|window| baseline[&format!("{kind}.{window}")]);
        let counts: Vec<u64> = counts.collect();
        assert!(counts.is_sorted_by(|less, more| 5 * less < *more), "{kind}: {counts:?}");
    }
}

#[test]
fn receiver_cost_at_holes_stays_flat_while_list_cost_grows() {
    let baseline = baseline();
    let counts = |kind: &str| {
        WINDOWS[..4].iter().map(|window| baseline[&format!("{kind}.{window}")]).collect::<Vec<u64>>()
    };
    let list = counts("list_between");
    assert!(list.is_sorted_by(|less, more| 5 * less < *more), "{list:?}");
    for kind in ["receiver_beyond", "receiver_between", "list_beyond"] {
        let counts = counts(kind);
        let (least, most) = (counts.iter().min().expect("four"), counts.iter().max().expect("four"));
        assert!(*most <= 2 * least, "{kind}: {counts:?}");
    }
}

#[test]
fn the_cost_page_matches_the_baseline_for_every_scheme() {
    let page = page(&baseline());
    if std::env::var_os("UPDATE_COSTS").is_some() {
        std::fs::write(format!("{ROOT}docs/evidence/costs.md"), &page)
            .expect("docs/evidence/costs.md can be written");
    }
    assert!(
        page == read("docs/evidence/costs.md"),
        "docs/evidence/costs.md is not the baseline's; `make baseline` writes both"
    );
}

fn page(baseline: &BTreeMap<String, u64>) -> String {
    let measured = read("bench/instructions.csv");
    let measured: Vec<&str> = measured.lines().filter_map(|line| line.strip_prefix("# ")).collect();
    let measured = format!("Of {}.", measured.join(", "));
    let mut page = include_str!("costs/head.md").replace("{MEASURED}", &measured);
    page += "| Scheme | Law | Start-up | Avoidance | State, bytes |\n|---|---|---:|---:|---:|\n";
    for entry in registry::schemes() {
        let name = identifier(entry.name);
        let law = registry::law(entry.law).expect("the default law exists").build();
        let scheme =
            entry.build(Initial { segments: 10, ssthresh: None }, &[]).expect("defaults are allowed");
        let [startup, avoidance] = ["startup", "avoidance"].map(|phase| baseline[&format!("{phase}.{name}")]);
        let state = scheme.state_size(&law);
        writeln!(page, "| `{}` | {} | {startup} | {avoidance} | {state} |", entry.name, entry.law)
            .expect("a string takes all");
    }
    page += include_str!("costs/sender.md");
    page += "| Recovery and moment | 100 | 1 000 | 10 000 | 100 000 | 1 000 000 |\n|---|---:|---:|---:|---:|---:|\n";
    for (kind, title) in KINDS {
        let counts = WINDOWS.map(|window| baseline[&format!("{kind}.{window}")].to_string());
        writeln!(page, "| {title} | {} |", counts.join(" | ")).expect("a string takes all");
    }
    page += include_str!("costs/list.txt");
    page += "| Scoreboard and moment | 100 | 1 000 | 10 000 | 100 000 |\n|---|---:|---:|---:|---:|\n";
    four_windows(&mut page, &LISTS, baseline);
    page += include_str!("costs/queue.txt");
    page += "| Queue and moment | 100 | 1 000 | 10 000 | 100 000 |\n|---|---:|---:|---:|---:|\n";
    four_windows(&mut page, &QUEUES, baseline);
    page
}

fn four_windows(page: &mut String, kinds: &[(&str, &str)], baseline: &BTreeMap<String, u64>) {
    for (kind, title) in kinds {
        let counts = WINDOWS[..4].iter().map(|window| baseline[&format!("{kind}.{window}")].to_string());
        writeln!(page, "| {title} | {} |", counts.collect::<Vec<_>>().join(" | "))
            .expect("a string takes all");
    }
}
