//! Puts the objects of `kernel/objects` into the library, one line for each.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../objects");
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut objects: Vec<PathBuf> = Vec::new();
    if folder.is_dir() {
        for entry in fs::read_dir(&folder)? {
            objects.push(entry?.path().canonicalize()?);
        }
    }
    objects.retain(|path| path.extension().is_some_and(|extension| extension == "o"));
    objects.sort();
    let mut table = String::from("&[\n");
    for path in objects {
        let scheme = path.file_stem().unwrap_or_default().to_string_lossy();
        let path = path.to_string_lossy();
        writeln!(table, "    ({scheme:?}, include_bytes!({path:?})),").map_err(io::Error::other)?;
    }
    table += "]\n";
    let out = env::var_os("OUT_DIR").map(PathBuf::from).unwrap_or_default();
    fs::write(out.join("objects.rs"), table)
}
