//! The report of `leap` is about the scheme in the source tree.

use std::path::Path;
use std::{fs, iter};

use sha2::{Digest, Sha256};

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
