//! The population of a sweep as a text: a CSV file, or M-Lab's percentiles of a territory.

use std::path::Path;

use firstflight::registry::Registry;
use firstflight_scenario::{quantity, read_text};

use super::mlab;
use super::path_list::PathList;

/// Returns the list of paths that a text names: `mlab:…`, which is drawn with the `seed`, or a CSV file.
///
/// # Errors
/// Returns what is wrong in one line: a territory or month without data, a file that cannot be read, or a wrong line of it.
pub(super) fn named(registry: Registry, text: &str, seed: u64) -> Result<PathList, String> {
    if let Some(of) = text.strip_prefix("mlab:") {
        return mlab::draw(of, seed).map_err(|error| format!("`{}`: {error}", quantity::in_a_line(text)));
    }
    let name = quantity::in_a_line(text);
    let content = read_text(Path::new(text)).map_err(|error| {
        format!("cannot read {name}: {error}; allowed are a CSV file, and `mlab:DE` with a territory's code")
    })?;
    let list =
        PathList::parse(registry, &content).map_err(|(line, message)| format!("{name}:{line}: {message}"))?;
    Ok(PathList { source: text.to_owned(), ..list })
}
