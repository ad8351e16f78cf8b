//! The files of `vectors/` are what the scripts give, the scripts are lawful, and independent references agree with the files.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use firstflight_conformance::Conformance;
use firstflight_vectors::all;

/// The folders of which `vectors/toys` has a reference, and its file.
const REFERENCES: [(&str, &str); 6] = [
    ("careful-resume", "careful_resume.py"),
    ("cubic", "cubic.py"),
    ("hystart-linux", "hystart_linux.py"),
    ("hystartpp", "hystartpp.py"),
    ("leap", "leap.py"),
    ("slow-start", "slow_start.py"),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors")
}

/// Returns the entries of a folder.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut entries: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    entries.sort();
    entries
}

/// Returns the vectors in a folder of `vectors/`.
fn files(folder: &Path) -> Vec<PathBuf> {
    let ends = |path: &PathBuf| path.extension().is_some_and(|end| end == "json");
    entries(folder).into_iter().filter(ends).collect()
}

/// Returns whether python3 runs these words. If it does not, the test says that it is skipped.
fn has_python(test: &str, words: &[&str]) -> bool {
    let runs = Command::new("python3").args(words).output().is_ok_and(|output| output.status.success());
    if !runs {
        eprintln!("{test}: skipped; `python3 {}` does not run here", words.join(" "));
    }
    runs
}

/// Runs vectors with a reference of `vectors/toys`.
fn run(vectors: Vec<PathBuf>, toy: &str, words: &[&str]) -> Output {
    let mut command = Command::new("python3");
    command.arg("-B").arg(root().join("run.py")).args(vectors);
    command.args(["--", "python3", "-B"]).arg(root().join("toys").join(toy)).args(words);
    command.output().expect("python3")
}

#[test]
fn the_files_are_what_the_scripts_give() {
    let write = std::env::var_os("WRITE_VECTORS").is_some();
    let mut names = BTreeSet::new();
    for (folder, script) in all() {
        let vector = script.vector;
        let path = root().join(folder).join(format!("{}.json", vector.name));
        assert!(names.insert(path.clone()), "{}: two scripts have this name", path.display());
        if write {
            fs::create_dir_all(root().join(folder)).expect("a folder");
            fs::write(&path, vector.text()).expect("a file");
        }
        let found = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        assert!(found == vector.text(), "{}: WRITE_VECTORS=1 writes what the script gives", path.display());
    }
    let folders = entries(&root()).into_iter().filter(|path| path.is_dir());
    let found: BTreeSet<PathBuf> = folders.flat_map(|folder| files(&folder)).collect();
    assert_eq!(found, names, "every file has a script");
}

#[test]
fn every_script_keeps_the_laws_of_hosts() {
    let mut breaches = Vec::new();
    for (folder, script) in all() {
        let mut host = Conformance::new();
        for (call, record) in script.records.iter().enumerate() {
            host.check_record(call + 1, record);
        }
        let found = host.finish();
        breaches
            .extend(found.listed().iter().map(|breach| format!("{folder}/{}: {breach}", script.vector.name)));
    }
    assert!(breaches.is_empty(), "{}", breaches.join("\n"));
}

#[test]
fn every_file_is_of_the_schema() {
    if !has_python("every_file_is_of_the_schema", &["-c", "import jsonschema"]) {
        return;
    }
    let program = "import json, sys, jsonschema\n\
                   schema = json.load(open(sys.argv[1]))\n\
                   jsonschema.Draft202012Validator.check_schema(schema)\n\
                   check = jsonschema.Draft202012Validator(schema)\n\
                   for name in sys.argv[2:]: check.validate(json.load(open(name)))";
    let folders = entries(&root()).into_iter().filter(|path| path.is_dir());
    let files: Vec<PathBuf> = folders.flat_map(|folder| files(&folder)).collect();
    let mut command = Command::new("python3");
    command.args(["-c", program]).arg(root().join("schema.json")).args(files);
    let output = command.output().expect("python3");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn independent_references_agree_with_every_vector() {
    if !has_python("independent_references_agree_with_every_vector", &["-V"]) {
        return;
    }
    for (folder, toy) in REFERENCES {
        let vectors = files(&root().join(folder));
        let count = vectors.len();
        let output = run(vectors, toy, &[]);
        let printed = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{printed}{}", String::from_utf8_lossy(&output.stderr));
        assert!(printed.ends_with(&format!("{count} of {count} vectors agree\n")), "{printed}");
    }
}

#[test]
fn a_wrong_threshold_fails_at_a_named_step() {
    if !has_python("a_wrong_threshold_fails_at_a_named_step", &["-V"]) {
        return;
    }
    let output = run(files(&root().join("hystartpp")), "hystartpp.py", &["MIN_RTT_THRESH=3000"]);
    assert_eq!(output.status.code(), Some(1));
    let printed = String::from_utf8_lossy(&output.stdout);
    let says = "threshold-low.json: step 39 of 86, acked at 51.999 ms: cwnd_bytes is 33900, and must be 34800\n    \
                RFC 9406 sections 4.2 and 4.3: MIN_RTT_THRESH: a rise of less than 4 ms is none\n";
    assert!(printed.contains(says), "{printed}");
    assert!(printed.ends_with("14 of 15 vectors agree\n"), "{printed}");
}

#[test]
fn each_constant_of_rfc_9406_has_a_vector_that_fails_without_it() {
    if !has_python("each_constant_of_rfc_9406_has_a_vector_that_fails_without_it", &["-V"]) {
        return;
    }
    let wrong = [
        ("MIN_RTT_THRESH=3999", "threshold-low"),
        ("MIN_RTT_THRESH=4001", "threshold-low"),
        ("MAX_RTT_THRESH=15999", "threshold-high"),
        ("MAX_RTT_THRESH=16001", "threshold-high"),
        ("MIN_RTT_DIVISOR=7", "threshold-eighth"),
        ("MIN_RTT_DIVISOR=9", "threshold-eighth"),
        ("N_RTT_SAMPLE=7", "seven-samples"),
        ("N_RTT_SAMPLE=9", "css-growth"),
        ("CSS_GROWTH_DIVISOR=3", "css-growth"),
        ("CSS_GROWTH_DIVISOR=5", "css-growth"),
        ("CSS_ROUNDS=4", "css-rounds"),
        ("CSS_ROUNDS=6", "css-rounds"),
    ];
    for (constant, vector) in wrong {
        let file = root().join("hystartpp").join(format!("{vector}.json"));
        let output = run(vec![file], "hystartpp.py", &[constant]);
        let printed = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(1), "{constant} passes {vector}: {printed}");
        assert!(printed.contains(" and must be "), "{constant} gives no wrong value in {vector}: {printed}");
    }
}

#[test]
fn the_runner_names_a_program_that_gives_no_decision() {
    if !has_python("the_runner_names_a_program_that_gives_no_decision", &["-V"]) {
        return;
    }
    let mut command = Command::new("python3");
    command
        .arg("-B")
        .arg(root().join("run.py"))
        .arg(root().join("slow-start/doubling.json"))
        .args(["--", "true"]);
    let output = command.output().expect("python3");
    assert_eq!(output.status.code(), Some(1));
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(printed.contains("the program gives no decision"), "{printed}");
}
