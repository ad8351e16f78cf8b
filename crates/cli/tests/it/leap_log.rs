//! The report of `leap` is about the scheme in the source tree, and leap does in the built-in race and in a crowd what its page says.

use std::path::Path;
use std::{fs, iter};

use sha2::{Digest, Sha256};

use crate::common::{run, stdout};

/// docs/evidence/leap-log.md, rule 3: a change of any byte of the scheme requires a report on other paths.
#[test]
fn the_reports_seed_is_that_of_the_schemes_files() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let read = |path: &str| fs::read(root.join(path)).expect(path);
    let folder = "crates/library/core/src/schemes";
    let mut parts: Vec<String> = fs::read_dir(root.join(folder).join("leap"))
        .expect("the scheme's folder")
        .map(|file| format!("{folder}/leap/{}", file.expect("a file").file_name().display()))
        .collect();
    parts.sort_unstable();
    let text = iter::once(format!("{folder}/leap.rs"))
        .chain(parts)
        .map(|file| read(&file))
        .collect::<Vec<_>>()
        .concat();
    let hash = Sha256::digest(text);
    let seed = u32::from_be_bytes(hash[..4].try_into().expect("four bytes"));
    let log = String::from_utf8(read("docs/evidence/leap-log.md")).expect("text");
    assert!(
        log.contains(&format!("**The seed of this report is {seed}.**")),
        "{seed} is not the report's seed"
    );
}

fn records(output: &str) -> Vec<serde_json::Value> {
    output.lines().map(|line| serde_json::from_str(line).expect("an object")).collect()
}

#[test]
fn over_the_built_in_path_under_reno_leap_exits_with_the_pipe_and_no_packet_is_lost() {
    let schemes = "leap,leap:profile=alone,as=alone,leap-saved,leap-saved:profile=alone,as=alone-saved";
    let rows = records(&stdout(&run(&["race", "--avoidance", "reno", "--schemes", schemes, "--json"])));
    assert_eq!(rows.len(), 4);
    for row in rows {
        let number = |name: &str| row[name].as_f64().expect(name);
        assert!(number("exit_cwnd_over_bdp") <= 1.05, "{row}");
        assert_eq!((number("packets_lost"), number("cross_lost_packets")), (0.0, 0.0), "{row}");
        assert!(number("time_to_90pct_s") <= 1.0, "{row}");
    }
}

#[test]
fn a_hundred_flows_of_leap_that_start_together_lose_no_more_and_take_no_longer_than_slow_starts() {
    let crowd = [
        "race",
        "--rate",
        "1gbit",
        "--arrivals",
        "every:1ms",
        "--rtt",
        "40ms",
        "--topology",
        "dumbbell:hosts=10",
    ];
    let of =
        ["--flows", "100", "--size", "1MB", "--schemes", "leap,slow-start", "--avoidance", "reno", "--json"];
    let rows = records(&stdout(&run(&[&crowd[..], &of[..]].concat())));
    let of = |scheme: &str, name: &str| {
        let row = rows.iter().find(|row| row["scheme"] == scheme).expect(scheme);
        row[name].as_f64().expect(name)
    };
    for name in ["loss", "fct_mean_s"] {
        assert!(of("leap", name) <= of("slow-start", name), "{name}: {rows:?}");
    }
}
