//! The formats of output files. A file name extension may promise a format.

use std::path::Path;

/// For each option, the extensions that promise the format it writes. The first is the usual extension of the format.
const OUTPUTS: &[(&str, &[&str])] = &[
    ("--report", &["html", "htm"]),
    ("--figure", &["svg", "png", "pdf"]),
    ("--svg", &["svg"]),
    ("--parquet", &["parquet", "pq"]),
    ("--series", &["parquet", "pq", "csv"]),
    ("--openmetrics", &["prom", "txt", "om"]),
    ("--log", &["pcapng"]),
    ("--junit", &["xml"]),
];

/// The maximum length of an extension. A longer one is treated as part of the name.
const ENDING: usize = 8;

/// Refuses a file whose name promises another format than the option writes. An extension promises a format if it starts with a letter, has
/// only letters and digits, and is at most eight characters long.
///
/// # Errors
/// Returns the text of the error for the user.
pub(crate) fn check_ending(option: &str, path: &Path) -> Result<(), String> {
    let Some((_, endings)) = OUTPUTS.iter().find(|(name, _)| *name == option) else { return Ok(()) };
    let Some(ending) = path.extension().map(|ending| ending.to_string_lossy().to_lowercase()) else {
        return Ok(());
    };
    let is_promise = ending.len() <= ENDING
        && ending.starts_with(|letter: char| letter.is_ascii_alphabetic())
        && ending.chars().all(|letter| letter.is_ascii_alphanumeric());
    if !is_promise || endings.contains(&ending.as_str()) {
        return Ok(());
    }
    let allowed: Vec<String> = endings.iter().map(|ending| format!("`.{ending}`")).collect();
    Err(format!(
        "{} promises another format than this option writes; a name that ends with {} is wanted",
        path.display(),
        allowed.join(" or ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_promises_another_format_is_refused() {
        for (option, name) in [
            ("--figure", "x.eps"),
            ("--figure", "x.JPG"),
            ("--series", "s.json"),
            ("--parquet", "rows.csv"),
            ("--report", "page.svg"),
            ("--log", "capture.parquet"),
            ("--log", "capture.pcap"),
            ("--figure", "x.svgz"),
            ("--series", "s.sqlite"),
            ("--report", "r.mhtml"),
        ] {
            let error = check_ending(option, Path::new(name)).expect_err(name);
            assert!(error.starts_with(name) && error.contains(" is wanted"), "{error}");
        }
        for (option, name) in [
            ("--figure", "x.svg"),
            ("--figure", "x.pdf"),
            ("--figure", "x.PNG"),
            ("--figure", "x"),
            ("--figure", "/dev/stdout"),
            ("--report", "index.HTM"),
            ("--series", "s.csv"),
            ("--parquet", "rows.2026"),
            ("--record", "papers/past.json"),
        ] {
            assert_eq!(check_ending(option, Path::new(name)), Ok(()), "{name}");
        }
    }
}
