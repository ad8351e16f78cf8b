//! Every file of the fuzzers' corpora keeps the laws, on stable.

use std::fs;
use std::path::Path;

use firstflight_fuzz_bodies::TARGETS;

#[test]
fn every_file_of_the_corpora_keeps_the_laws() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    for (name, body) in TARGETS {
        let folder = root.join(name);
        let files = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        let mut count = 0;
        for file in files {
            let path = file.expect("it is listed").path();
            let data = fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            println!("{}", path.display());
            body(&data);
            count += 1;
        }
        assert!(count > 0, "{name} has no corpus");
    }
}

#[test]
fn every_target_has_a_fuzzer_and_every_fuzzer_is_a_target() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/fuzz_targets");
    let files = fs::read_dir(&root).unwrap_or_else(|error| panic!("{}: {error}", root.display()));
    let mut fuzzers: Vec<String> = files
        .map(|file| file.expect("it is listed").path())
        .map(|path| path.file_stem().expect("a name").to_string_lossy().into_owned())
        .collect();
    fuzzers.sort();
    let mut targets = TARGETS.map(|(name, _)| name.to_owned());
    targets.sort();
    assert_eq!(fuzzers, targets);
}
