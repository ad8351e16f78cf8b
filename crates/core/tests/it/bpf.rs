//! What `.ci/bpf` cannot see or has no toolchain for: that every scheme is built for BPF, and that no other part of the library
//! computes in 128 bits.

use std::fs;
use std::path::{Path, PathBuf};

use firstflight::registry;

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn every_scheme_has_entry_points_for_bpf() {
    let source = read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bpf/src/lib.rs"));
    let (_, list) = source.rsplit_once("entry_points! {").expect("the list of entry points");
    let names: Vec<&str> =
        list.lines().filter_map(|line| line.trim().strip_prefix('"')?.split('"').next()).collect();
    let schemes: Vec<&str> = registry::schemes().iter().map(|entry| entry.name).collect();
    assert_eq!(names, schemes, "bpf/src/lib.rs against the registry");
}

#[test]
fn no_other_module_than_wide_computes_in_128_bits() {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
    let mut files: Vec<PathBuf> = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder of sources") {
            let path = entry.expect("it is listed").path();
            if path.is_dir() { folders.push(path) } else { files.push(path) }
        }
    }
    assert!(files.len() > 30, "{files:?}");
    for file in files.iter().filter(|file| !file.ends_with("wide/native.rs")) {
        let source = read(file);
        let program = source.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
        for word in ["u128", "i128", "checked_mul", "overflowing_mul"] {
            assert!(!program.contains(word), "{} has {word}", file.display());
        }
    }
}
