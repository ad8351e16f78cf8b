//! Puts the objects of `kernel/objects` into the library, one line for each scheme: its object, and that for kernels before 6.10.

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
        let old = path.with_file_name("6.1").join(path.file_name().unwrap_or_default());
        let (path, old) = (path.to_string_lossy(), old.to_string_lossy());
        writeln!(table, "    ({scheme:?}, include_bytes!({path:?}), include_bytes!({old:?})),")
            .map_err(io::Error::other)?;
    }
    table += "]\n";
    let out = env::var_os("OUT_DIR").map(PathBuf::from).unwrap_or_default();
    fs::write(out.join("objects.rs"), table)
}
