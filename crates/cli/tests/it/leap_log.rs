//! The report of `leap` is about the scheme in the source tree.

use std::fs;
use std::path::Path;

use sha2::{Digest, Sha256};

/// docs/evidence/leap-log.md, rule 3: a change of any byte of the scheme requires a report on other paths.
#[test]
fn the_reports_seed_is_that_of_the_schemes_files() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let read = |path: &str| fs::read(root.join(path)).expect(path);
    let schemes = ["leap.rs", "leap/spread.rs", "leap/trend.rs"];
    let text = schemes.map(|file| read(&format!("crates/library/core/src/schemes/{file}"))).concat();
    let hash = Sha256::digest(text);
    let seed = u32::from_be_bytes(hash[..4].try_into().expect("four bytes"));
    let log = String::from_utf8(read("docs/evidence/leap-log.md")).expect("text");
    assert!(
        log.contains(&format!("**The seed of this report is {seed}.**")),
        "{seed} is not the report's seed"
    );
}
