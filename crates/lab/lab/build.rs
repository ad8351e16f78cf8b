//! The build of the program, as rows of a sweep name it: a digest of everything that affects a row. That is the source of this crate and of
//! the workspace crates that it uses, and the versions of the libraries.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// The crates of this workspace that a row is made by.
const CRATES: [&str; 7] =
    ["lab/lab", "lab/measure", "lab/scenario", "lab/sim", "library/core", "stack/tcp", "stack/trace"];

fn main() -> io::Result<()> {
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let root = here.join("../../..");
    let mut files = Vec::new();
    for name in CRATES {
        let sources = root.join("crates").join(name).join("src");
        println!("cargo::rerun-if-changed={}", sources.display());
        collect(&sources, &mut files)?;
    }
    let lock = root.join("Cargo.lock");
    println!("cargo::rerun-if-changed={}", lock.display());
    files.push(lock);
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for file in files {
        let name = file.strip_prefix(&root).unwrap_or(&file).to_string_lossy().replace('\\', "/");
        for part in [name.as_bytes(), &fs::read(&file)?] {
            hash = fnv_1a(hash, &(part.len() as u64).to_le_bytes());
            hash = fnv_1a(hash, part);
        }
    }
    println!("cargo::rustc-env=FIRSTFLIGHT_BUILD={hash:016x}");
    Ok(())
}

/// Collects the files below a folder, in order of their names, so that every machine has the same order.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    let mut entries: Vec<PathBuf> =
        fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<_>>()?;
    entries.sort();
    for entry in entries {
        if entry.is_dir() {
            collect(&entry, files)?;
        } else if entry.extension().is_some_and(|extension| extension == "rs") {
            files.push(entry);
        }
    }
    Ok(())
}

/// FNV-1a of 64 bits (RFC 9923), from the hash of what came before.
fn fnv_1a(hash: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(hash, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3))
}
