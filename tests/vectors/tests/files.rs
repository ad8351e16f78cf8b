//! The files of `vectors/` are what the scripts give, and the scripts are lawful.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use firstflight::registry::Registry;
use firstflight_conformance::Conformance;
use firstflight_vectors::all;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors")
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
    let mut files = BTreeSet::new();
    for folder in fs::read_dir(root()).expect("a folder").map(|entry| entry.expect("an entry").path()) {
        if folder.is_dir() {
            let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
            files.extend(entries.filter(|path| path.extension().is_some_and(|end| end == "json")));
        }
    }
    assert_eq!(files, names, "every file has a script");
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
        breaches.extend(found.listed().iter().map(|breach| format!("{folder}/{}: {breach}", script.vector.name)));
    }
    assert!(breaches.is_empty(), "{}", breaches.join("\n"));
    let _ = (Registry::builtin(), Command::new("python3"));
}
