//! A sweep: killed, resumed, split, on full disks; the final rows are the same, to the byte.
#![cfg(target_os = "linux")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use firstflight_export::part;

use crate::common::{firstflight, folder, names, refused, run, status, stderr, stdout, text};

const SWEEP: &str = "paths = 30\nseed = 3\npart = 4\ngive-up = 20\nschemes = [\"slow-start\", \"paced\"]\n[path]\n\
    rate = { log-uniform = [\"2mbit\", \"30mbit\"] }\nrtt = { log-uniform = [\"5ms\", \"80ms\"] }\n\
    queue = { log-uniform = [\"0.2bdp\", \"2bdp\"] }\nsize = { log-uniform = [\"30kB\", \"600kB\"] }\n\
    cross = { one-of = [\"none\", { cbr = { uniform = [\"0%\", \"80%\"] } }, \"tcp:1\"] }\n";

/// Creates the sweep's file in a new folder. Returns it with the folder of its parts.
fn place(test: &str, sweep: &str) -> (PathBuf, PathBuf) {
    let place = folder(test);
    let file = place.join("sweep.toml");
    std::fs::write(&file, sweep).expect("a file");
    (file, place.join("out"))
}

fn sweep(file: &Path, out: &Path, more: &[&str]) -> Output {
    run(&[&["sweep", text(file), "--out", text(out)], more].concat())
}

/// Returns names and bytes of the files in a folder, except hidden ones.
fn whole(out: &Path) -> Vec<(String, Vec<u8>)> {
    if !out.exists() {
        return Vec::new();
    }
    let seen = names(out).into_iter().filter(|name| !name.starts_with('.'));
    seen.map(|name| (name.clone(), std::fs::read(out.join(name)).expect("a file"))).collect()
}

/// Returns the files that an undisturbed process on one thread writes.
fn undisturbed(test: &str) -> Vec<(String, Vec<u8>)> {
    let (file, out) = place(&format!("{test}-undisturbed"), SWEEP);
    let output = sweep(&file, &out, &["--jobs", "1"]);
    assert_eq!((status(&output), stderr(&output)), (0, String::new()));
    assert_eq!(stdout(&output).lines().count(), 1, "one line when piped: {}", stdout(&output));
    whole(&out)
}

#[test]
fn a_sweep_writes_a_manifest_and_whole_parts_whatever_the_jobs() {
    let one = undisturbed("jobs");
    let names: Vec<&str> = one.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names.len(), 9);
    assert_eq!((names[0], names[7], names[8]), ("part-000000.parquet", "part-000007.parquet", "sweep.json"));
    let (file, out) = place("jobs", SWEEP);
    let output = sweep(&file, &out, &["--jobs", "3"]);
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    assert!(whole(&out) == one);
    let again = sweep(&file, &out, &[]);
    assert!(stdout(&again).contains("; 0 were raced now"), "{}", stdout(&again));
    assert!(whole(&out) == one);
}

#[test]
fn the_shards_of_any_number_write_the_same_parts() {
    let one = undisturbed("shards");
    for of in [3, 20] {
        let (file, out) = place(&format!("shards-{of}"), SWEEP);
        // All shards run at once, into one folder.
        let shards: Vec<_> = (1..=of)
            .map(|index| {
                firstflight()
                    .args(["sweep", text(&file), "--out", text(&out), "--shard", &format!("{index}/{of}")])
                    .stdout(Stdio::piped())
                    .stderr(Stdio::piped())
                    .spawn()
                    .expect("the command runs")
            })
            .collect();
        for shard in shards {
            let output = shard.wait_with_output().expect("it ends");
            assert_eq!((status(&output), stderr(&output)), (0, String::new()));
        }
        assert!(whole(&out) == one, "{of} shards");
    }
}

#[test]
fn a_sweep_that_is_killed_again_and_again_loses_and_doubles_nothing() {
    let one = undisturbed("killed");
    let (file, out) = place("killed", SWEEP);
    let (mut kills, mut wait) = (0, 20);
    loop {
        let mut child = firstflight()
            .args(["sweep", text(&file), "--out", text(&out), "--jobs", "2"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the command runs");
        std::thread::sleep(Duration::from_millis(wait));
        // The time grows, so that the sweep ends on a slow machine too.
        wait += 7;
        if child.try_wait().expect("it can be asked").is_some_and(|status| status.success()) {
            break;
        }
        child.kill().expect("SIGKILL");
        child.wait().expect("it ends");
        kills += 1;
        assert!(kills < 1000, "it never ends");
        for (name, bytes) in whole(&out) {
            assert!(one.contains(&(name.clone(), bytes)), "{name} is not whole after {kills} kills");
        }
    }
    assert!(kills > 1, "it was too fast to be killed");
    assert!(whole(&out) == one);
}

#[test]
fn an_interrupted_sweep_keeps_whole_parts_says_how_many_and_goes_on() {
    let many = SWEEP.replace("paths = 30", "paths = 4000");
    let (file, out) = place("interrupted-sweep", &many);
    let child = firstflight()
        .args(["sweep", text(&file), "--out", text(&out)])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command runs");
    while !out.join("part-000001.parquet").exists() {
        std::thread::sleep(Duration::from_millis(10));
    }
    let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(kill.expect("kill runs").success());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!((status(&output), stdout(&output)), (130, String::new()));
    let parts = names(&out).len() - 1;
    assert!(parts > 0);
    let said = stderr(&output);
    assert!(said.starts_with(&format!("error: interrupted; {parts} of 1000 parts are whole in ")), "{said}");
    assert_eq!(said.lines().count(), 1);
    assert!(names(&out).iter().all(|name| !name.starts_with('.')), "{:?}", names(&out));
}

/// A sweep that was started to ignore an interrupt, as by `nohup`, runs to its end.
#[test]
fn a_signal_that_was_ignored_from_the_beginning_stays_ignored() {
    let one = undisturbed("ignored-signal");
    let (file, out) = place("ignored-signal", SWEEP);
    let mut child = Command::new("sh")
        .args(["-c", "trap '' HUP INT; exec \"$0\" sweep \"$1\" --out \"$2\" --jobs 1"])
        .args([env!("CARGO_BIN_EXE_firstflight"), text(&file), text(&out)])
        .stdout(Stdio::null())
        .spawn()
        .expect("sh runs");
    // When the program is at work, the shell has set its traps.
    while !out.join("sweep.json").exists() && child.try_wait().expect("it is ours").is_none() {
        std::thread::sleep(Duration::from_millis(1));
    }
    let mut signals = 0;
    while child.try_wait().expect("it is ours").is_none() {
        for signal in ["-HUP", "-INT"] {
            let kill =
                Command::new("kill").args([signal, &child.id().to_string()]).stderr(Stdio::null()).status();
            signals += u32::from(kill.expect("kill runs").success());
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    assert!(signals > 2, "it was too fast to be disturbed");
    assert!(child.wait().expect("it ends").success());
    assert_eq!(whole(&out), one);
}

#[test]
fn another_sweep_in_the_folder_is_refused_by_what_differs() {
    let (file, out) = place("another", SWEEP);
    assert_eq!(status(&sweep(&file, &out, &["--shard", "1/8"])), 0);
    let before = whole(&out);
    for (from, to, says) in [
        ("paths = 30", "paths = 31", "its `paths` is 30 and this one's is 31"),
        (
            "\"paced\"",
            "\"vegas\"",
            "its `schemes` is \"slow-start,paced\" and this one's is \"slow-start,vegas\"",
        ),
        ("80ms", "90ms", "its paths, or their weights or names, are others"),
    ] {
        std::fs::write(&file, SWEEP.replace(from, to)).expect("a file");
        let line = refused(&["sweep", text(&file), "--out", text(&out)]);
        assert!(line.contains("--out: ") && line.contains(text(&out)) && line.contains(says), "{line}");
    }
    std::fs::write(&file, format!("# in other words\n{SWEEP}")).expect("a file");
    assert_eq!(status(&sweep(&file, &out, &["--shard", "1/8"])), 0);
    assert!(whole(&out) == before);
    std::fs::write(out.join("sweep.json"), "{").expect("a file");
    assert!(refused(&["sweep", text(&file), "--out", text(&out)]).contains("no manifest of a sweep"));
}

#[test]
fn a_damaged_part_is_rerun_and_a_misplaced_part_is_refused() {
    let (file, out) = place("damaged", SWEEP);
    assert_eq!(status(&sweep(&file, &out, &["--shard", "1/4"])), 0);
    let before = whole(&out);
    assert_eq!(before.len(), 3);
    std::fs::write(out.join("part-000000.parquet"), &before[0].1[..before[0].1.len() / 2]).expect("a file");
    let output = sweep(&file, &out, &["--shard", "1/4"]);
    assert_eq!(status(&output), 0);
    assert!(
        stderr(&output).contains("part-000000.parquet is not whole and is to be raced again"),
        "{}",
        stderr(&output)
    );
    assert!(whole(&out) == before);
    std::fs::copy(out.join("part-000000.parquet"), out.join("part-000001.parquet")).expect("a copy");
    let line = refused(&["sweep", text(&file), "--out", text(&out)]);
    assert!(line.contains("part-000001.parquet is part 0"), "{line}");
}

#[test]
fn invalid_sweeps_are_refused_in_one_line_before_any_write() {
    let (file, out) = place("refused-sweep", SWEEP);
    for shard in ["0/3", "4/3", "1", "1/0", "a/b", "-1/3", "1/3/3"] {
        let line = refused(&["sweep", text(&file), "--out", text(&out), "--shard", shard]);
        assert!(line.contains("--shard") && line.contains("as in `2/8`"), "{line}");
    }
    assert!(refused(&["sweep", text(&file)]).contains("--out"));
    assert!(refused(&["sweep", text(&file), "--show", "30"]).contains("a path from 0 to 29"));
    assert!(refused(&["sweep", "/nowhere.toml", "--out", text(&out)]).contains("cannot read /nowhere.toml"));
    let there = file.with_file_name("file");
    std::fs::write(&there, "x").expect("a file");
    assert!(refused(&["sweep", text(&file), "--out", text(&there)]).contains("cannot write into"));
    for (from, to, says) in [
        ("queue = {", "quue = {", "is `queue` meant?"),
        ("\"2mbit\"", "\"2mb\"", "`2mb`"),
        ("\"0.2bdp\"", "\"0bdp\"", "zero"),
        ("\"tcp:1\"", "\"web:20%\"", "give-up needs a size"),
        ("give-up = 20", "give-up = 0", "give-up: allowed is a whole number from 1"),
    ] {
        std::fs::write(&file, SWEEP.replace(from, to)).expect("a file");
        let line = refused(&["sweep", text(&file), "--out", text(&out)]);
        assert!(line.contains("sweep.toml: ") && line.contains(says), "{to}: {line}");
    }
    assert!(!out.exists());
}

#[test]
fn a_full_disk_is_exit_3_with_one_line_and_whole_parts() {
    let (file, out) = place("full-sweep", SWEEP);
    std::fs::create_dir(&out).expect("a folder");
    let script = "mount -t tmpfs -o size=150k none \"$2\" && \"$0\" sweep \"$1\" --out \"$2\" --jobs 1; code=$?; \
        ls -A \"$2\"; exit $code";
    let may = Command::new("unshare").args(["-rm", "mount", "-t", "tmpfs", "none", "/mnt"]).output();
    if !may.is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: full-sweep: file systems cannot be mounted here");
        return;
    }
    let arguments = ["-rm", "sh", "-c", script, env!("CARGO_BIN_EXE_firstflight"), text(&file), text(&out)];
    let output = Command::new("unshare").args(arguments).output().expect("sh runs");
    assert_eq!(status(&output), 3, "{}", stderr(&output));
    let said = stderr(&output);
    assert!(said.starts_with("error: cannot write ") && said.contains("No space left on device"), "{said}");
    assert_eq!(said.lines().count(), 1);
    let left = stdout(&output);
    assert!(left.contains("part-000000.parquet") && !left.contains(".tmp"), "{left}");
}

#[test]
fn missing_names_the_parts_that_are_not_whole_and_races_nothing() {
    let (file, out) = place("missing", SWEEP);
    let missing = |more: &[&str]| {
        let output = sweep(&file, &out, &[&["--missing"], more].concat());
        assert_eq!(status(&output), 0, "{}", stderr(&output));
        stdout(&output).lines().map(|line| line.parse().expect("a number")).collect::<Vec<u64>>()
    };
    assert_eq!(missing(&[]), (0..8).collect::<Vec<u64>>());
    assert_eq!(names(&out), ["sweep.json"]);
    assert_eq!(status(&sweep(&file, &out, &["--shard", "2/3"])), 0);
    assert_eq!(missing(&[]), [0, 2, 3, 5, 6]);
    assert_eq!(missing(&["--shard", "1/3"]), [0, 3, 6]);
    let part = out.join("part-000004.parquet");
    let half = std::fs::read(&part).expect("a part");
    std::fs::write(&part, &half[..half.len() / 2]).expect("a file");
    assert_eq!(missing(&[]), [0, 2, 3, 4, 5, 6]);
    assert_eq!(status(&sweep(&file, &out, &[])), 0);
    assert_eq!(missing(&[]), [0_u64; 0]);
}

/// The value of a line `#SBATCH --KEY=VALUE`.
fn sbatch<'a>(script: &'a str, key: &str) -> &'a str {
    let prefix = format!("#SBATCH --{key}=");
    script.lines().find_map(|line| line.strip_prefix(&prefix)).unwrap_or_else(|| panic!("{key} in {script}"))
}

/// Runs one task of an array, as Slurm does: the script from another folder, with the task's number.
fn task(script: &Path, index: u64) -> Output {
    let mut command = Command::new("sh");
    command.arg(script).env("SLURM_ARRAY_TASK_ID", index.to_string()).current_dir("/");
    command.output().expect("sh runs")
}

#[test]
fn slurm_array_tasks_write_the_same_parts_in_any_order() {
    let one = undisturbed("slurm");
    // Quotes and spaces in names reach the program unchanged.
    let place = folder("slurm it's a $HOME");
    let file = place.join("my sweep.toml");
    std::fs::write(&file, SWEEP).expect("a file");
    let out = place.join("out of it");
    let output = firstflight()
        .args(["sweep", "my sweep.toml", "--out", "out of it", "--slurm", "5", "--jobs", "2"])
        .current_dir(&place)
        .output()
        .expect("the command runs");
    assert_eq!((status(&output), stderr(&output)), (0, String::new()));
    let script = stdout(&output);
    assert!(script.starts_with("#!/bin/sh\n#SBATCH "), "{script}");
    assert_eq!(sbatch(&script, "job-name"), "firstflight-my-sweep");
    assert_eq!(sbatch(&script, "ntasks"), "1");
    assert_eq!(sbatch(&script, "cpus-per-task"), "2");
    let (first, last) = sbatch(&script, "array").split_once('-').expect("a range");
    let tasks: Vec<u64> = (first.parse().expect("a number")..=last.parse().expect("a number")).collect();
    assert_eq!(tasks, [1, 2, 3, 4, 5]);
    assert!(whole(&out).len() == 1, "the folder is the sweep's before a task begins");
    let handed_in = place.join("handed-in");
    std::fs::write(&handed_in, &script).expect("a file");
    for index in tasks.iter().rev() {
        let output = task(&handed_in, *index);
        assert_eq!((status(&output), stderr(&output)), (0, String::new()));
        assert!(stdout(&output).contains(&format!("(shard {index}/5)")), "{}", stdout(&output));
    }
    assert!(whole(&out) == one);
    // A node was lost in the middle of the array, and the script is submitted again.
    std::fs::remove_file(out.join("part-000002.parquet")).expect("a part");
    let again: String = tasks.iter().map(|index| stdout(&task(&handed_in, *index))).collect();
    assert_eq!(again.matches("; 1 was raced now").count(), 1, "{again}");
    assert_eq!(again.matches("; 0 were raced now").count(), 4, "{again}");
    assert!(whole(&out) == one);
    // If the script is run by hand there is no task.
    let by_hand = Command::new("sh").arg(&handed_in).output().expect("sh runs");
    assert_ne!(status(&by_hand), 0);
    assert!(stderr(&by_hand).contains("SLURM_ARRAY_TASK_ID"), "{}", stderr(&by_hand));
}

#[test]
fn an_invalid_slurm_array_is_refused_before_a_script_is_written() {
    let (file, out) = place("refused-slurm", SWEEP);
    for tasks in ["0", "9", "-1", "many", "1.5"] {
        let line = refused(&["sweep", text(&file), "--out", text(&out), "--slurm", tasks]);
        assert!(line.contains("--slurm: ") && line.contains("from 1 to 8"), "{line}");
    }
    assert!(!out.exists());
    for more in [["--shard", "1/2"], ["--show", "1"]] {
        refused(&["sweep", text(&file), "--out", text(&out), "--slurm", "2", more[0], more[1]]);
    }
    refused(&["sweep", text(&file), "--slurm", "2"]);
    assert_eq!(status(&sweep(&file, &out, &["--slurm", "2"])), 0);
    std::fs::write(&file, SWEEP.replace("seed = 3", "seed = 4")).expect("a file");
    assert!(
        refused(&["sweep", text(&file), "--out", text(&out), "--slurm", "2"]).contains("its `seed` is 3")
    );
}

#[test]
fn show_prints_the_command_that_makes_the_rows_of_a_path() {
    let (file, _) = place("show", SWEEP);
    let command = stdout(&run(&["sweep", text(&file), "--show", "5"]));
    let words: Vec<&str> = command.split_whitespace().skip(1).chain(["--json"]).collect();
    let output = run(&words);
    assert_eq!((status(&output), stdout(&output).lines().count()), (0, 2), "{command}: {}", stderr(&output));
}

#[test]
fn the_standard_grid_is_a_sweep_of_ten_thousand_paths() {
    let grid = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/grid.toml");
    for path in ["0", "9999"] {
        let output = run(&["sweep", grid, "--show", path]);
        assert_eq!(status(&output), 0, "{}", stderr(&output));
        assert!(stdout(&output).starts_with("firstflight race --rate "));
    }
    assert!(refused(&["sweep", grid, "--show", "10000"]).contains("9999"));
}

#[test]
fn a_complete_sweep_is_scored_and_a_partial_one_only_on_request() {
    let (file, out) = place("scored", SWEEP);
    assert!(refused(&["score", text(&out)]).contains("sweep.json"));
    assert_eq!(status(&sweep(&file, &out, &["--shard", "1/2"])), 0);
    let line = refused(&["score", text(&out)]);
    assert!(line.contains("4 of 8 parts are missing") && line.contains(": 1, 3, 5, 7; "), "{line}");
    let output = run(&["score", text(&out), "--partial"]);
    // The message does not depend on the output: a table of records has no title that could state it.
    let said = "not the whole sweep: 4 of 8 parts are missing; 16 of 30 paths are scored\n";
    assert_eq!((status(&output), stderr(&output)), (0, said.to_owned()));
    for records in ["--json", "--csv"] {
        assert_eq!(stderr(&run(&["score", text(&out), "--partial", records])), said);
    }
    assert!(
        stdout(&output).contains("4 of 8 parts") && stdout(&output).contains(": 16 of 30 paths"),
        "{}",
        stdout(&output)
    );
    let page = out.with_extension("html");
    assert_eq!(status(&run(&["score", text(&out), "--partial", "--report", text(&page)])), 0);
    let partial = std::fs::read_to_string(&page).expect("UTF-8");
    assert!(partial.contains("Not the whole sweep: 4 of 8 parts are missing; 16 of 30 paths are scored."));
    assert!(
        refused(&["score", text(&out), "--partial", "--report", text(&out.join("no/page.html"))])
            .contains("--report")
    );
    assert_eq!(status(&sweep(&file, &out, &[])), 0);
    let summary = stdout(&run(&["score", text(&out)]));
    assert!(summary.starts_with("Best by median cost: ") && summary.lines().count() <= 30, "{summary}");
    let full = stdout(&run(&["score", text(&out), "--full"]));
    assert!(full.starts_with(summary.lines().next().expect("a verdict")), "{full}");
    for word in ["paced", "slow-start", "Who wins where", "Cost by cross traffic"] {
        assert!(full.contains(word), "{word} in {full}");
    }
    let chosen = stdout(&run(&["score", text(&out), "--columns", "cost_p90,harm_per_byte"]));
    assert!(chosen.contains("\nscheme") && chosen.contains("cost_p90"), "{chosen}");
    let line = refused(&["score", text(&out), "--columns", "cost_p91"]);
    assert!(line.contains("there is no column `cost_p91`; is `cost_p9"), "{line}");
    let json = stdout(&run(&["score", text(&out), "--json"]));
    let all: Vec<serde_json::Value> =
        json.lines().map(|line| serde_json::from_str(line).expect("an object")).collect();
    assert!(
        all.iter().take(2).all(|record| record["class"] == "all paths" && record["rows"] == 30),
        "{json}"
    );
    assert_eq!(stdout(&run(&["score", text(&out), "--csv"])).lines().count(), all.len() + 1);
    let output = run(&["score", text(&out), "--json", "--report", text(&page)]);
    assert_eq!((stdout(&output), stderr(&output)), (json, format!("wrote {}\n", page.display())));
    let whole = std::fs::read_to_string(&page).expect("UTF-8");
    assert!(whole.contains("<h1>2 schemes on 30 paths</h1>") && !whole.contains("Not the whole sweep"));

    std::fs::copy(out.join("part-000000.parquet"), out.join("part-000001.parquet")).expect("a copy");
    assert!(refused(&["score", text(&out)]).contains("part-000001.parquet: it is part 0"));
    std::fs::write(out.join("part-000001.parquet"), "PAR1").expect("a file");
    assert!(refused(&["score", text(&out)]).contains("part-000001.parquet: "));
}

#[test]
fn a_score_shows_what_stands_to_the_bound_and_scores_crossed_classes() {
    let (file, out) = place("crossed", SWEEP);
    assert_eq!(status(&sweep(&file, &out, &[])), 0);
    let bound = stdout(&run(&["score", text(&out), "--bound"]));
    for word in [
        "The ideal that knows the path after one round trip costs 1.",
        "over bound",
        "behind",
        "rate found",
        "queue",
    ] {
        assert!(bound.contains(word), "{word} in {bound}");
    }
    let all = |more: &[&str]| -> Vec<serde_json::Value> {
        let json = stdout(&run(&[&["score", text(&out), "--json"], more].concat()));
        let records =
            json.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).expect("an object"));
        records.filter(|record| record["class"] == "all paths").collect()
    };
    let rows =
        |more: &[&str]| all(more).first().map_or(0, |record| record["rows"].as_u64().expect("a number"));
    let kinds = ["cross=none", "cross=cbr", "cross=tcp"].map(|kind| rows(&["--where", kind]));
    assert!(kinds.iter().all(|rows| *rows > 0) && kinds.iter().sum::<u64>() == rows(&[]), "{kinds:?}");
    let (fast, slow) =
        (rows(&["--where", "cross=none,rate>=8mbit"]), rows(&["--where", "cross=none,rate<8mbit"]));
    assert_eq!(fast + slow, kinds[0]);
    assert!(all(&[])[0]["over_bound_median"].as_f64().expect("a median") >= 1.0);
    let text_of = stdout(&run(&["score", text(&out), "--where", "loss<=0.1%, cross=none"]));
    assert!(text_of.contains("(those with loss<=0.1%, cross=none)"), "{text_of}");
    assert!(refused(&["score", text(&out), "--where", "loss>1%"]).contains("no path of"));
    assert!(refused(&["score", text(&out), "--where", "lossy=1%"]).contains("there is no fact `lossy`"));
    assert!(refused(&["score", text(&out), "--where", "loss<fast"]).contains("`fast`"));
}

#[test]
fn the_families_are_sweeps_of_two_thousand_paths_with_a_trouble_each() {
    for (family, option) in [
        ("jitter", " --jitter "),
        ("aggregation", " --ack-aggregation "),
        ("aqm", "del:"),
        ("way-back", " --reverse-rate "),
        ("policers", " --policer "),
        ("departures", " --pacing-timer "),
        ("departures", " --gso "),
    ] {
        let file = format!("{}/../../scenarios/grid-{family}.toml", env!("CARGO_MANIFEST_DIR"));
        let shown = |path: u32| {
            let output = run(&["sweep", &file, "--show", &path.to_string()]);
            assert_eq!(status(&output), 0, "{}", stderr(&output));
            stdout(&output)
        };
        // Some paths of a family do not have its difficulty.
        let with = (0..20).filter(|path| shown(*path).contains(option)).count();
        assert!(with >= 8, "{family}: {with} of 20");
        shown(1999);
        assert!(refused(&["sweep", &file, "--show", "2000"]).contains("1999"));
    }
}

/// A constant rate as high as the bottleneck's leaves nothing, a watch has no completion time, and neither has a cost.
#[test]
fn paths_without_an_ideal_are_left_out_of_scores_with_a_note() {
    let of = |path: &str| {
        format!(
            "part = 4\nschemes = [\"slow-start\", \"paced\"]\n[path]\nrate = \"4mbit\"\nrtt = \"20ms\"\n{path}\n"
        )
    };
    let (file, out) =
        place("some-ideals", &of("size = [\"30kB\", \"40kB\"]\ncross = [\"none\", \"4mbit\", \"1mbit\"]"));
    assert_eq!(status(&sweep(&file, &out, &[])), 0);
    let page = out.with_extension("html");
    let output = run(&["score", text(&out), "--report", text(&page)]);
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    let left_out = "2 of 6 paths are left out, for they have no ideal to compare with; the first is path 1";
    assert_eq!(stderr(&output), format!("{left_out}\nwrote {}\n", page.display()));
    assert!(stdout(&output).contains(": 4 of 6 paths"), "{}", stdout(&output));
    let drawn = std::fs::read_to_string(&page).expect("UTF-8");
    assert!(drawn.contains(left_out) && drawn.contains("<h1>2 schemes on 4 paths</h1>"));
    let output = run(&["score", text(&out), "--json"]);
    assert_eq!((status(&output), stderr(&output)), (0, format!("{left_out}\n")));
    let all: serde_json::Value =
        serde_json::from_str(stdout(&output).lines().next().expect("a line")).expect("an object");
    assert_eq!((&all["paths"], &all["rows"], &all["unfinished"]), (&4.into(), &4.into(), &0.into()));

    for (test, path) in
        [("no-ideals", "size = \"30kB\"\ncross = \"4mbit\""), ("no-sizes", "duration = \"100ms\"")]
    {
        let (file, out) = place(test, &of(path));
        assert_eq!(status(&sweep(&file, &out, &[])), 0);
        let line = refused(&["score", text(&out)]);
        assert!(line.contains("no path of ") && line.contains("a score needs transfers of a size"), "{line}");
    }
}

#[test]
fn a_part_with_missing_or_extra_schemes_is_refused() {
    for (test, raced, says, wanted) in [
        ("scheme-lacks", "\"slow-start\"", "slow-start,paced:as=other", "path 0 has 0 of 1 rows of `other`"),
        (
            "scheme-more",
            "\"slow-start\", \"paced\"",
            "slow-start",
            "path 0 has `paced`, which is no scheme of the sweep",
        ),
    ] {
        let (file, out) = place(
            test,
            &SWEEP.replace("\"slow-start\", \"paced\"", raced).replace("paths = 30", "paths = 4"),
        );
        assert_eq!(status(&sweep(&file, &out, &[])), 0);
        assert_eq!(status(&run(&["score", text(&out)])), 0);
        let manifest = out.join("sweep.json");
        let whole = std::fs::read_to_string(&manifest).expect("UTF-8");
        let raced = format!("\"{}\"", raced.replace("\", \"", ",").trim_matches('"'));
        let other = whole.replace(&raced, &format!("\"{says}\""));
        assert_ne!(other, whole);
        std::fs::write(&manifest, other).expect("a file");
        let line = refused(&["score", text(&out)]);
        assert!(line.contains("part-000000.parquet: ") && line.contains(wanted), "{line}");
    }
}

/// Otherwise a part would be left out, or paths would be treated as copies of others, without any message.
#[test]
fn a_manifest_with_inconsistent_parts_or_draws_is_refused() {
    let (file, out) = place("manifest-parts", &SWEEP.replace("paths = 30", "paths = 4"));
    assert_eq!(status(&sweep(&file, &out, &[])), 0);
    let manifest = out.join("sweep.json");
    let whole: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(&manifest).expect("UTF-8")).expect("JSON");
    for (key, value) in [("parts", 7), ("part", 0), ("draws", 3), ("draws", 0), ("paths", 400)] {
        let mut other = whole.clone();
        other[key] = value.into();
        std::fs::write(&manifest, other.to_string()).expect("a file");
        let line = refused(&["score", text(&out)]);
        assert!(line.contains("sweep.json is no manifest of a sweep: "), "{key}: {line}");
    }
}

#[test]
fn a_score_without_give_up_states_the_limit_for_runs() {
    let text_of =
        SWEEP.replace("give-up = 20\n", "").replace("paths = 30", "paths = 4") + "limit = \"50ms\"\n";
    let (file, out) = place("limit-scored", &text_of);
    assert_eq!(status(&sweep(&file, &out, &[])), 0);
    let page = out.with_extension("html");
    let output = run(&["score", text(&out), "--report", text(&page)]);
    let said = "a run is given up at its path's `limit`, whatever its ideal, and counts as worse than all that ended";
    assert!(stdout(&output).contains(said), "{}", stdout(&output));
    let page = std::fs::read_to_string(&page).expect("UTF-8");
    assert!(
        page.contains("at its path's limit, whatever its ideal".replace('\'', "&#x27;").as_str()),
        "{page}"
    );
}

#[test]
fn special_files_in_place_of_sweep_files_are_refused_without_waiting() {
    let (file, out) = place("no-plain-part", SWEEP);
    assert_eq!(status(&sweep(&file, &out, &[])), 0);
    let limited = |arguments: &[&str]| {
        let program = env!("CARGO_BIN_EXE_firstflight");
        Command::new("timeout").arg("60").arg(program).args(arguments).output().expect("it runs")
    };
    for name in ["part-000003.parquet", "sweep.json"] {
        let (at, kept) = (out.join(name), out.join("kept"));
        std::fs::rename(&at, &kept).expect("renamed");
        assert!(Command::new("mkfifo").arg(&at).status().expect("mkfifo runs").success());
        for arguments in [vec!["sweep", text(&file), "--out", text(&out)], vec!["score", text(&out)]] {
            let output = limited(&arguments);
            let said = stderr(&output);
            assert_eq!((status(&output), said.lines().next().is_some()), (2, true), "{arguments:?}: {said}");
            assert!(said.contains(name) && said.contains("it is no plain file"), "{arguments:?}: {said}");
        }
        std::fs::remove_file(&at).expect("removed");
        std::fs::rename(&kept, &at).expect("renamed");
    }
}

#[test]
fn rows_and_manifest_carry_the_build_and_mixed_builds_are_reported() {
    let (file, out) = place("builds", SWEEP);
    let clean = sweep(&file, &out, &[]);
    assert_eq!((status(&clean), stderr(&clean)), (0, String::new()));
    let manifest: serde_json::Value =
        serde_json::from_slice(&std::fs::read(out.join("sweep.json")).expect("a file")).expect("JSON");
    assert_eq!(manifest["build"], firstflight_lab::BUILD);
    assert_eq!(firstflight_lab::BUILD.len(), 16);
    let part = out.join("part-000002.parquet");
    let (label, records) = part::from_bytes(std::fs::read(&part).expect("a file")).expect("a part");
    assert!(records.iter().all(|record| record["build"] == firstflight_lab::BUILD));
    let scored = run(&["score", text(&out)]);
    assert_eq!((status(&scored), stderr(&scored)), (0, String::new()));
    // The same part by another program.
    let bytes = part::by_build("0123456789abcdef", &label, records).expect("a part");
    std::fs::write(&part, bytes).expect("written");
    let again = sweep(&file, &out, &[]);
    assert_eq!(status(&again), 0);
    assert!(stderr(&again).contains("were raced by build 0123456789abcdef"), "{}", stderr(&again));
    let scored = run(&["score", text(&out)]);
    assert_eq!(status(&scored), 0);
    assert!(stderr(&scored).contains("the rows are of several programs"), "{}", stderr(&scored));
}

#[test]
fn a_list_by_hand_writes_the_same_parts_as_the_population_that_printed_it() {
    const SHARED: &str = "part = 5\nschemes = [\"slow-start\", \"suss\"]\n[path]\nsize = \"100kB\"\n";
    let (file, drawn) = place("population", SHARED);
    let of_mlab = ["--population", "mlab:IN,paths=12,rank-correlation=0.5"];
    let output = sweep(&file, &drawn, &of_mlab);
    assert_eq!((status(&output), stderr(&output)), (0, String::new()));
    let listed = run(&[&["sweep", text(&file)], &of_mlab[..], &["--list"]].concat());
    assert_eq!((status(&listed), stdout(&listed).lines().count()), (0, 13));
    let csv = file.with_file_name("by-hand.csv");
    std::fs::write(&csv, stdout(&listed)).expect("a file");
    let by_hand = file.with_file_name("by-hand");
    assert_eq!(status(&sweep(&file, &by_hand, &["--population", text(&csv)])), 0);
    // Only the manifest says where the paths come from.
    let parts =
        |out: &Path| whole(out).into_iter().filter(|(name, _)| name != "sweep.json").collect::<Vec<_>>();
    assert!(parts(&by_hand) == parts(&drawn), "the same bytes");
    // Each path is a sample, so that the score has intervals and tests.
    let score = stdout(&run(&["score", text(&by_hand), "--json"]));
    assert_eq!(score, stdout(&run(&["score", text(&drawn), "--json"])));
    let manifest = std::fs::read_to_string(drawn.join("sweep.json")).expect("a manifest");
    assert!(manifest.contains("\"population\": \"mlab:IN,paths=12,rank-correlation=0.5\""), "{manifest}");
    // A part may replace neither the sweep's file nor the population's.
    let inside = by_hand.join("part-000000.parquet");
    std::fs::copy(&csv, &inside).expect("a copy");
    let line = refused(&["sweep", text(&file), "--out", text(&by_hand), "--population", text(&inside)]);
    assert!(line.contains("would overwrite the population"), "{line}");
    assert!(score.contains("\"draws\":12,") && score.contains("\"weight\":12,"), "{score}");
}

#[test]
fn weights_of_a_population_change_its_score_and_not_its_runs() {
    let paths = |weight: u32| {
        format!("rate,rtt,size,weight\n2mbit,20ms,100kB,{weight}\n50mbit,80ms,500kB,1\n20mbit,40ms,1MB,1\n")
    };
    let medians = [1, 5].map(|weight| {
        let (csv, out) = place(&format!("weights-{weight}"), &paths(weight));
        assert_eq!(status(&run(&["sweep", "--population", text(&csv), "--out", text(&out)])), 0);
        let score = run(&["score", text(&out), "--csv"]);
        let lines: Vec<String> = stdout(&score).lines().map(str::to_owned).collect();
        let at = lines[0].split(',').position(|field| field == "cost_median").expect("a median");
        lines[1].split(',').nth(at).expect("a cell").parse::<f64>().expect("a number")
    });
    assert!(
        medians[1] < medians[0],
        "the slow path, which costs little, has five of seven weights: {medians:?}"
    );
}

#[test]
fn a_population_that_cannot_be_read_is_refused_with_its_line_before_any_write() {
    for (name, content, says) in [
        ("column", "rate,rat\n1mbit,2\n", ":1: there is no column `rat`; is `rate` meant?"),
        ("value", "rate,rtt\n1mbit,40ms\n2mbit,40\n", ":3: rtt: `40`"),
        ("weight", "rate,weight\n1mbit,-1\n", ":2: weight: `-1` is not allowed"),
        ("empty", "rate\n", ":2: there is no path below the columns"),
    ] {
        let (csv, out) = place(&format!("population-{name}"), content);
        let output = run(&["sweep", "--population", text(&csv), "--out", text(&out)]);
        assert!(status(&output) == 2 && stderr(&output).contains(says), "{name}: {}", stderr(&output));
        assert!(!out.exists(), "{name}: nothing is written");
    }
    let output = run(&["sweep", "--population", "mlab:XX", "--list"]);
    assert!(status(&output) == 2 && stderr(&output).contains("no data of the territory `XX`"));
}
