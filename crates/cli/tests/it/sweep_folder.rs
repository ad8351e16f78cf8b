//! The folder of a sweep: files that earlier builds, links and killed processes left in it.
#![cfg(target_os = "linux")]

use std::path::{Path, PathBuf};
use std::process::Output;

use firstflight_export::part;
use serde_json::Value;

use crate::common::{folder, names, refused, run, status, stderr, stdout, text};

/// Four parts of one path each. Over each path a start-up counts more than ACKs.
const SWEEP: &str = "part = 1\nseed = 5\ngive-up = 20\nschemes = [\"slow-start\", \"hystart++\"]\n[path]\n\
    rate = \"100mbit\"\nrtt = \"40ms\"\nqueue = \"4bdp\"\nsize = [\"200kB\", \"240kB\", \"280kB\", \"320kB\"]\n";

/// Returns the file of a sweep, and the folder of its complete parts.
fn swept(test: &str) -> (PathBuf, PathBuf) {
    let place = folder(test);
    let file = place.join("sweep.toml");
    std::fs::write(&file, SWEEP).expect("a file");
    let out = place.join("out");
    let output = sweep(&file, &out, &[]);
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    (file, out)
}

fn sweep(file: &Path, out: &Path, more: &[&str]) -> Output {
    run(&[&["sweep", text(file), "--out", text(out)], more].concat())
}

fn bytes(out: &Path) -> Vec<Vec<u8>> {
    names(out).iter().map(|name| std::fs::read(out.join(name)).expect("a file")).collect()
}

#[test]
fn a_part_that_an_interrupted_earlier_build_wrote_is_raced_again() {
    let (file, out) = swept("interrupted-before");
    let whole = bytes(&out);
    // When the interrupt came, the path in progress had neither field, or one of its schemes had not.
    for (number, lacking) in [(1, 0..2), (2, 1..2)] {
        let part = out.join(format!("part-{number:06}.parquet"));
        let (label, mut records) = part::from_bytes(std::fs::read(&part).expect("a file")).expect("a part");
        assert!(records.iter().all(|record| record["bytes_raced"] == 1), "{records:?}");
        for record in &mut records[lacking] {
            record.insert("bytes_raced".to_owned(), 0.into());
            record.insert("bytes_cost".to_owned(), Value::Null);
        }
        let before = part::by_build(firstflight_lab::BUILD, &label, records).expect("a part");
        std::fs::write(&part, before).expect("a file");
    }
    let line = refused(&["score", text(&out)]);
    assert!(line.contains("part-000001.parquet: its path 1 lacks slow start that counts bytes"), "{line}");
    assert!(line.ends_with("; `firstflight sweep` into this folder races it again"), "{line}");
    let missing = sweep(&file, &out, &["--missing"]);
    assert_eq!((status(&missing), stdout(&missing)), (0, "1\n2\n".to_owned()));
    let again = sweep(&file, &out, &[]);
    assert_eq!(status(&again), 0, "{}", stderr(&again));
    assert!(stderr(&again).contains("part-000002.parquet is to be raced again: its path 2 lacks"));
    assert!(stdout(&again).contains("; 2 were raced now"), "{}", stdout(&again));
    assert!(bytes(&out) == whole);
    assert_eq!(status(&run(&["score", text(&out)])), 0);
}

#[test]
fn a_linked_part_is_read_and_never_written_through_its_link() {
    let (file, out) = swept("linked");
    let whole = bytes(&out);
    let kept = out.with_file_name("kept");
    std::fs::create_dir(&kept).expect("a folder");
    let move_to = |number: u32, to: &Path| {
        let part = out.join(format!("part-{number:06}.parquet"));
        std::fs::rename(&part, to).or_else(|_| std::fs::remove_file(&part)).expect("moved");
        std::os::unix::fs::symlink(to, &part).expect("a link");
    };
    move_to(0, &kept.join("zero"));
    assert_eq!(stdout(&sweep(&file, &out, &["--missing"])), "");
    assert_eq!(status(&run(&["score", text(&out)])), 0);
    // Links to an invalid file of another name, and to nothing.
    move_to(1, &kept.join("one"));
    std::fs::write(kept.join("one"), "of somebody else").expect("a file");
    move_to(2, &kept.join("none").join("two"));
    let line = refused(&["score", text(&out)]);
    assert!(line.contains("part-000001.parquet: "), "{line}");
    let again = sweep(&file, &out, &[]);
    assert_eq!(status(&again), 0, "{}", stderr(&again));
    assert!(bytes(&out) == whole);
    assert_eq!(std::fs::read_to_string(kept.join("one")).expect("UTF-8"), "of somebody else");
    assert_eq!(names(&kept), ["one", "zero"]);
    // A link to itself is no part, and nothing waits for it.
    let part = out.join("part-000003.parquet");
    std::fs::remove_file(&part).expect("removed");
    std::os::unix::fs::symlink(&part, &part).expect("a link");
    for arguments in [vec!["score", text(&out)], vec!["sweep", text(&file), "--out", text(&out)]] {
        assert!(refused(&arguments).contains("part-000003.parquet"), "{arguments:?}");
    }
}

#[test]
fn a_score_of_another_build_is_noted_and_of_another_version_refused() {
    let (_, out) = swept("other-build");
    assert_eq!(stderr(&run(&["score", text(&out)])), "");
    for number in 0..4 {
        let part = out.join(format!("part-{number:06}.parquet"));
        let (label, records) = part::from_bytes(std::fs::read(&part).expect("a file")).expect("a part");
        let other = part::by_build("0123456789abcdef", &label, records).expect("a part");
        std::fs::write(&part, other).expect("a file");
    }
    let scored = run(&["score", text(&out), "--json"]);
    let said = format!(
        "the rows are of another program, build 0123456789abcdef; this is build {}\n",
        firstflight_lab::BUILD
    );
    assert_eq!((status(&scored), stderr(&scored)), (0, said));
    let manifest = out.join("sweep.json");
    let mut other: Value = serde_json::from_slice(&std::fs::read(&manifest).expect("a file")).expect("JSON");
    other["version"] = "0.0.9".into();
    std::fs::write(&manifest, other.to_string()).expect("a file");
    let line = refused(&["score", text(&out)]);
    assert!(line.contains("version 0.0.9 raced ") && line.contains("score it with that one"), "{line}");
}
