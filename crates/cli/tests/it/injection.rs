//! A signal, an I/O error or a full disk at each call on files in turn, injected by the library of `tests/inject.c`.
//!
//! After each disturbance, every file under its name is complete, one line states the fault, and the same command run again produces the
//! bytes of the undisturbed one. `FIRSTFLIGHT_INJECT=1` tries every disturbance at every call; otherwise each call gets one of them.
#![cfg(target_os = "linux")]

use std::collections::BTreeMap;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::Output;

use crate::common::inject::{DISTURBANCES, disturbed, is_large};
use crate::common::{firstflight, folder, stderr, text};

/// A command, and the folder in which it reads and writes.
struct Place {
    folder: PathBuf,
    /// Files that exist before the command.
    before: Vec<(&'static str, Vec<u8>)>,
    words: Vec<String>,
}

type Files = BTreeMap<PathBuf, Vec<u8>>;

impl Place {
    /// Returns a command of these words, in which `{}` is the folder.
    fn new(name: &str, before: Vec<(&'static str, Vec<u8>)>, words: &str) -> Self {
        let folder = folder(&format!("inject-{name}"));
        let words = words.split_whitespace().map(|word| word.replace("{}", text(&folder))).collect();
        Self { folder, before, words }
    }

    /// Leaves only the files from before the command in the folder.
    fn clear(&self) {
        std::fs::remove_dir_all(&self.folder).expect("the folder goes away");
        std::fs::create_dir_all(&self.folder).expect("a folder");
        for (name, bytes) in &self.before {
            let file = self.folder.join(name);
            std::fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
            std::fs::write(file, bytes).expect("a file");
        }
    }

    fn run(&self) -> Output {
        firstflight().args(&self.words).output().expect("the command runs")
    }

    /// Runs the command with a disturbance at a call. Also returns the number of calls.
    fn disturbed(&self, at: usize, what: &str) -> Option<(Output, usize)> {
        let mut command = firstflight();
        command.args(&self.words);
        disturbed(command, &self.folder, (at, what))
    }

    /// Returns all files, and separately the names of hidden ones.
    fn files(&self) -> (Files, Vec<String>) {
        let (mut files, mut hidden, mut folders) = (Files::new(), Vec::new(), vec![self.folder.clone()]);
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).expect("a folder") {
                let path = entry.expect("an entry").path();
                let name = path.file_name().expect("a name").to_string_lossy().into_owned();
                if path.is_dir() {
                    folders.push(path);
                } else if name.starts_with('.') {
                    hidden.push(name);
                } else {
                    files.insert(path.clone(), std::fs::read(path).expect("a file"));
                }
            }
        }
        (files, hidden)
    }
}

/// Disturbs a command at each call on files of its folder whose number is a multiple of `step`; with `FIRSTFLIGHT_INJECT` at all of them.
fn disturb(place: &Place, calls_at_least: usize, step: usize) {
    place.clear();
    let (before, _) = place.files();
    let Some((undisturbed, calls)) = place.disturbed(0, "") else { return };
    assert_eq!(undisturbed.status.code(), Some(0), "{}", stderr(&undisturbed));
    let (whole, hidden) = place.files();
    assert!(hidden.is_empty() && whole != before, "{hidden:?}");
    assert!(calls >= calls_at_least, "{calls} calls are too few");
    for call in (0..calls).step_by(if is_large() { 1 } else { step }) {
        let one = &DISTURBANCES[call % DISTURBANCES.len()..][..1];
        for what in if is_large() { &DISTURBANCES[..] } else { one } {
            let of = format!("{what} at call {call} of {}", place.words.join(" "));
            place.clear();
            let (output, _) = place.disturbed(call, what).expect("a library");
            judge(&output, (what, &of), (&before, &whole), &place.files().0);
            let again = place.run();
            assert_eq!(again.status.code(), Some(0), "{of}, again: {}", stderr(&again));
            let (files, hidden) = place.files();
            assert!(files == whole, "{of}: other bytes in the end");
            assert_eq!(hidden, Vec::<String>::new(), "{of}");
        }
    }
}

/// Judges the exit of a disturbed command, and the files that it left.
fn judge(output: &Output, (what, of): (&str, &str), (before, whole): (&Files, &Files), files: &Files) {
    for (path, bytes) in files {
        let is_one = [before, whole].iter().any(|files| files.get(path) == Some(bytes));
        assert!(is_one, "{of}: {} is not whole", path.display());
    }
    let said = stderr(output);
    let errors = said.lines().filter(|line| line.starts_with("error: ")).count();
    match (output.status.code(), what) {
        // A failure that has no effect, and a signal that came too late.
        (Some(0), _) => assert!(files == whole && errors == 0, "{of}: {said}"),
        (Some(130), "INT" | "TERM") | (Some(2 | 3), "EIO" | "ENOSPC") => {
            assert!(errors == 1, "{of}: {said}");
        }
        (None, "KILL") => assert_eq!(output.status.signal(), Some(9), "{of}"),
        (code, _) => panic!("{of}: it ended with {code:?}: {said}"),
    }
}

/// Two parts, with byte-counting slow start.
const SWEEP: &str = "part = 1\nseed = 5\ngive-up = 20\nschemes = [\"slow-start\", \"hystart++\"]\n[path]\n\
    rate = \"10mbit\"\nrtt = \"40ms\"\nqueue = \"1bdp\"\nsize = [\"40kB\", \"60kB\"]\n";

#[test]
fn a_disturbed_sweep_ends_with_the_same_bytes() {
    let sweep = vec![("sweep.toml", SWEEP.into())];
    disturb(&Place::new("sweep", sweep, "sweep {}/sweep.toml --out {}/out --jobs 1"), 15, 1);
}

#[test]
fn a_disturbed_score_has_a_whole_page_or_none() {
    let place = folder("inject-scored");
    let file = place.join("sweep.toml");
    std::fs::write(&file, SWEEP).expect("a file");
    let swept = firstflight().args(["sweep", text(&file), "--out", text(&place)]).output().expect("it runs");
    assert_eq!(swept.status.code(), Some(0), "{}", stderr(&swept));
    let read = |name| std::fs::read(place.join(name)).expect("a file");
    let names = ["sweep.json", "part-000000.parquet", "part-000001.parquet"];
    let mut before: Vec<_> = names.map(|name| (name, read(name))).into();
    before.push(("page.html", "an older page".into()));
    disturb(&Place::new("score", before, "score {} --report {}/page.html"), 10, 1);
}

#[test]
fn a_disturbed_race_has_whole_outputs_or_none() {
    let outputs = "--report {}/r.html --figure {}/r.svg --parquet {}/r.parquet --series {}/s.csv --pcap {}/logs \
                   --events {}/logs --qlog {}/logs";
    let race = "race --rate 10mbit --rtt 40ms --size 20kB --schemes slow-start --jobs 1 --json";
    let before = vec![("r.html", "older".into()), ("s.csv", "older".into())];
    disturb(&Place::new("race", before, &format!("{race} {outputs}")), 40, 3);
}

#[test]
fn disturbed_flows_and_trains_have_whole_outputs_or_none() {
    let hosts = "race --rate 10mbit --rtt 40ms --topology dumbbell:hosts=2 --flows 2 --size 20kB --schemes slow-start";
    let outputs = "--jobs 1 --json --report {}/r.html --parquet {}/r.parquet";
    disturb(&Place::new("flows", Vec::new(), &format!("{hosts} {outputs} --series {{}}/s.parquet")), 15, 7);
    let trains = "probe --rate 10mbit --rtt 20ms --jobs 1 --json --parquet {}/p.parquet --figure {}/p.svg";
    disturb(&Place::new("trains", Vec::new(), trains), 10, 2);
}

/// A figure of a paper with one claim.
const FIGURE: &str = "title = 't'\nsection = '1'\nfigure = 'f'\nsetup = 'ns-2'\n[scenario]\nrate = '10mbit'\nrtt = '40ms'\n\
    size = '20kB'\nschemes = ['slow-start']\n[[claim]]\nid = 'c'\nsays = 's'\nsource = 'text'\nmeasured = 'fct_s[slow-start]'\n\
    expected = '>= 0'\ntolerance = 'n'\nstatus = 'holds'\n";

#[test]
fn a_disturbed_check_of_papers_has_whole_files_or_none() {
    let ledger = vec![("ledger/past/f.toml", FIGURE.into()), ("record/past.json", "older".into())];
    let check = "paper check --ledger {}/ledger --jobs 1 --report {}/p.html --record {}/record";
    disturb(&Place::new("paper", ledger, check), 15, 1);
}

#[test]
fn a_disturbed_capture_is_read_whole_or_not_at_all() {
    let place = folder("inject-captured");
    let race =
        ["race", "--rate", "10mbit", "--rtt", "40ms", "--size", "40kB", "--schemes", "slow-start", "--pcap"];
    let raced = firstflight().args(race).arg(&place).output().expect("it runs");
    assert_eq!(raced.status.code(), Some(0), "{}", stderr(&raced));
    // Names like those of pieces of one capture, which are examined before they are read.
    let read = |end| std::fs::read(place.join(format!("slow-start-{end}.pcapng"))).expect("a capture");
    let captures = vec![("c1.pcapng", read("client")), ("c2.pcapng", read("server"))];
    let inspect = "inspect {}/c1.pcapng {}/c2.pcapng --json --report {}/i.html --parquet {}/i.parquet";
    disturb(&Place::new("inspect", captures, inspect), 20, 1);
}
