//! Checks for BPF that `kernel/build` cannot make: every scheme is built for BPF, and no other part of the library computes
//! in 128 bits.

use std::fs;
use std::path::{Path, PathBuf};

use firstflight::registry;

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

macro_rules! names {
    ($($name:literal: $word:ident, $entry:ident, $scheme:ty;)+) => { [$($name),+] };
}

#[test]
fn every_scheme_has_entry_points_for_bpf() {
    let mut names = firstflight::for_each_plain_scheme!(names).to_vec();
    // kernel/bpf/src/lib.rs has the scheme that is built around another by itself.
    names.push("quick-start");
    let schemes: Vec<&str> = registry::schemes().iter().map(|entry| entry.name).collect();
    assert_eq!(names, schemes);
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
