//! Puts the objects of `kernel/objects` into the library: one line per scheme with its object and the object for kernels before 6.10, and
//! the objects of Quick-Start at hosts and routers, of rollouts and of `watch`, which serve all kernels.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// The objects that are no congestion control.
const OTHERS: [&str; 4] = ["quick-start", "rollout", "router", "watch"];

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
    let mut others = String::from("&[\n");
    for path in objects {
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let old = path.with_file_name("6.1").join(path.file_name().unwrap_or_default());
        let (path, old) = (path.to_string_lossy(), old.to_string_lossy());
        if OTHERS.contains(&&*name) {
            writeln!(others, "    ({name:?}, include_bytes!({path:?})),").map_err(io::Error::other)?;
            continue;
        }
        writeln!(table, "    ({name:?}, include_bytes!({path:?}), include_bytes!({old:?})),")
            .map_err(io::Error::other)?;
    }
    others += "]\n";
    table += "]\n";
    let out = env::var_os("OUT_DIR").map(PathBuf::from).unwrap_or_default();
    fs::write(out.join("others.rs"), others)?;
    fs::write(out.join("objects.rs"), table)
}
