//! Embeds the files of the ledger in the library, so that the command needs no folder.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let variable = |name| env::var_os(name).ok_or_else(|| io::Error::other(format!("{name} is unset")));
    let root = PathBuf::from(variable("CARGO_MANIFEST_DIR")?).join("../../..");
    let out = PathBuf::from(variable("OUT_DIR")?);
    fs::write(out.join("ledger.rs"), table("LEDGER", &root.join("papers"), "toml")?)?;
    fs::write(out.join("golden.rs"), table("GOLDEN", &root.join("golden/papers"), "json")?)
}

/// Returns a Rust table of the names under `folder` and the texts of the files that end in `extension`.
fn table(name: &str, folder: &Path, extension: &str) -> io::Result<String> {
    println!("cargo:rerun-if-changed={}", folder.display());
    let mut files = Vec::new();
    find(folder, extension, &mut files)?;
    files.sort();
    let mut source = format!("pub(crate) static {name}: &[(&str, &str)] = &[\n");
    for file in files {
        let path = file.canonicalize()?.to_string_lossy().into_owned();
        let inside: Vec<_> = file
            .strip_prefix(folder)
            .map_err(io::Error::other)?
            .iter()
            .map(|part| part.to_string_lossy())
            .collect();
        writeln!(source, "    ({:?}, include_str!({:?})),", inside.join("/"), path)
            .map_err(io::Error::other)?;
    }
    Ok(source + "];\n")
}

fn find(folder: &Path, extension: &str, files: &mut Vec<PathBuf>) -> io::Result<()> {
    if !folder.is_dir() {
        return Ok(());
    }
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            println!("cargo:rerun-if-changed={}", path.display());
            find(&path, extension, files)?;
        } else if path.extension().is_some_and(|found| found == extension) {
            files.push(path);
        }
    }
    Ok(())
}
