//! Describes the build of this program, for `firstflight --version --verbose`.

use std::fmt::Write as _;

/// The commit, if the build recorded it. `.ci/dist` does; other builds may be of changed sources.
const COMMIT: Option<&str> = option_env!("FIRSTFLIGHT_COMMIT");

/// The features that change what the program can do.
const FEATURES: [(&str, bool); 2] =
    [("kernel", cfg!(feature = "kernel")), ("static", cfg!(feature = "static"))];

/// Returns a line for each fact of the build: commit, target, features, BPF objects, compiler.
pub(crate) fn described() -> String {
    let features: Vec<_> = FEATURES.iter().filter(|(_, is_on)| *is_on).map(|(name, _)| *name).collect();
    let features = if features.is_empty() { "none".to_owned() } else { features.join(", ") };
    let commit = COMMIT.filter(|commit| !commit.is_empty()).unwrap_or("not recorded in this build");
    let lines = [
        ("commit", commit.to_owned()),
        ("target", env!("BUILD_TARGET").to_owned()),
        ("features", features),
        ("objects", objects()),
        ("rustc", env!("BUILD_COMPILER").to_owned()),
    ];
    lines.iter().fold(String::new(), |mut text, (name, value)| {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{name:<9} {value}");
        text
    })
}

/// Returns the number of BPF objects in the program, and the SHA-256 of their list. The list is the output of `sha256sum *.o 6.1/*.o` in
/// `kernel/objects`.
#[cfg(all(feature = "kernel", target_os = "linux"))]
fn objects() -> String {
    use sha2::{Digest, Sha256};

    let hexadecimal = |bytes: &[u8]| {
        bytes.iter().fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })
    };
    let mut lines: Vec<_> = firstflight_kernel::objects()
        .map(|(name, object)| (name.contains('/'), name, hexadecimal(&Sha256::digest(object))))
        .collect();
    lines.sort();
    let listed = lines.iter().fold(String::new(), |mut text, (_, name, hash)| {
        let _ = writeln!(text, "{hash}  {name}");
        text
    });
    format!("{}, sha256 {}", lines.len(), hexadecimal(&Sha256::digest(listed)))
}

#[cfg(not(all(feature = "kernel", target_os = "linux")))]
fn objects() -> String {
    "none; they need the feature kernel".to_owned()
}
