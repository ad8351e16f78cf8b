//! The pages: every relative link leads to an existing file and heading, `docs/SUMMARY.md`, the contents of the book, lists every page of
//! `docs` once, and each scheme of the registry has its page.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

use firstflight::registry;

/// Folders whose pages belong to others, or are generated.
const LEFT_OUT: [&str; 4] = ["target", "out", ".git", "node_modules"];

fn root() -> PathBuf {
    plain(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."))
}

/// Returns the path without `..` and `.`, so that different spellings compare equal.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            part => plain.push(part),
        }
    }
    plain
}

/// All files that end in `.md` under a folder.
fn pages(folder: &Path) -> Vec<PathBuf> {
    let mut pages = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder can be read") {
            let path = entry.expect("an entry can be read").path();
            if path.is_dir() {
                if !path.file_name().is_some_and(|name| LEFT_OUT.iter().any(|left_out| name == *left_out)) {
                    folders.push(path);
                }
            } else if path.extension().is_some_and(|extension| extension == "md") {
                pages.push(path);
            }
        }
    }
    pages.sort();
    pages
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The lines of a page that are not in a fenced block.
fn prose(page: &str) -> impl Iterator<Item = &str> {
    let mut fenced = false;
    page.lines().filter(move |line| {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        !fenced && !fence
    })
}

/// Returns the targets of a line's links, except those inside code.
fn links(line: &str) -> Vec<String> {
    let without_code: String = line.split('`').step_by(2).collect::<Vec<_>>().join("`");
    let after = without_code.split("](").skip(1);
    after.filter_map(|rest| Some(rest.split_once(')')?.0.to_owned())).collect()
}

/// Returns the name by which a link finds a heading, as GitHub makes it.
fn anchor(heading: &str) -> String {
    let kept = heading.to_lowercase();
    let kept = kept.chars().filter(|letter| letter.is_alphanumeric() || [' ', '-', '_'].contains(letter));
    kept.map(|letter| if letter == ' ' { '-' } else { letter }).collect()
}

fn anchors(page: &str) -> BTreeSet<String> {
    let headings = prose(page).filter(|line| line.starts_with('#'));
    headings.map(|line| anchor(line.trim_start_matches('#').trim())).collect()
}

/// Returns the fault of a page's link, if it has any.
fn fault(page: &Path, link: &str) -> Option<String> {
    if link.contains("://") || link.starts_with("mailto:") {
        return None;
    }
    let (file, anchor) = link.split_once('#').map_or((link, None), |(file, anchor)| (file, Some(anchor)));
    let target =
        if file.is_empty() { page.to_owned() } else { plain(&page.parent().unwrap_or(page).join(file)) };
    if !target.exists() {
        return Some(format!("{}: {link}: there is no such file", page.display()));
    }
    let anchor = anchor.filter(|_| target.extension().is_some_and(|extension| extension == "md"))?;
    (!anchors(&read(&target)).contains(anchor))
        .then(|| format!("{}: {link}: there is no such heading", page.display()))
}

#[test]
fn every_link_of_a_page_leads_somewhere() {
    let pages = pages(&root());
    assert!(pages.len() > 40, "pages are found: {}", pages.len());
    let mut faults = Vec::new();
    for page in &pages {
        let text = read(page);
        faults.extend(prose(&text).flat_map(links).filter_map(|link| fault(page, &link)));
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Returns the pages that the contents of the book list, each as often as it is listed.
fn listed() -> Vec<PathBuf> {
    let docs = root().join("docs");
    let summary = read(&docs.join("SUMMARY.md"));
    prose(&summary).flat_map(links).map(|link| plain(&docs.join(link))).collect()
}

#[test]
fn the_contents_of_the_book_list_every_page_once() {
    let docs = root().join("docs");
    let mut listed = listed();
    listed.sort();
    let pages: Vec<PathBuf> =
        pages(&docs).into_iter().filter(|page| *page != docs.join("SUMMARY.md")).collect();
    let missing: Vec<_> = pages.iter().filter(|page| !listed.contains(page)).collect();
    assert!(missing.is_empty(), "docs/SUMMARY.md does not list {missing:?}");
    let twice: Vec<_> = listed.windows(2).filter(|pair| pair[0] == pair[1]).collect();
    assert!(twice.is_empty(), "docs/SUMMARY.md lists twice {twice:?}");
    assert_eq!(listed, pages);
}

#[test]
fn the_book_has_four_parts() {
    let summary = read(&root().join("docs/SUMMARY.md"));
    let parts: Vec<&str> = summary.lines().filter_map(|line| line.strip_prefix("# ")).skip(1).collect();
    assert_eq!(parts, ["Start here", "Guides", "Concepts", "Reference"]);
}

/// Returns the names in the title of a page: `slow-start` and `slow-start-paced` of `# slow-start, slow-start-paced`.
fn titled(page: &str) -> Vec<String> {
    let title = page.lines().next().unwrap_or_default().trim_start_matches("# ");
    let names = title.split_once(": ").map_or(title, |(names, _)| names);
    names.split(", ").map(str::to_owned).collect()
}

#[test]
fn each_scheme_and_restart_policy_has_its_name_in_the_title_of_one_page() {
    let pages = pages(&root().join("docs/schemes"));
    let titles: Vec<(PathBuf, Vec<String>)> =
        pages.into_iter().map(|page| (page.clone(), titled(&read(&page)))).collect();
    let schemes = registry::schemes().iter().map(|entry| entry.name);
    let restarts = registry::restarts().iter().map(|entry| entry.name);
    let names: BTreeSet<&str> = schemes.chain(restarts).collect();
    for name in &names {
        let count = titles.iter().filter(|(_, titles)| titles.iter().any(|title| title == name)).count();
        assert_eq!(count, 1, "{count} pages of docs/schemes have {name} in their title");
    }
    for (page, titles) in &titles {
        let unknown: Vec<_> = titles.iter().filter(|title| !names.contains(title.as_str())).collect();
        assert!(unknown.is_empty(), "{}: {unknown:?} is in no registry", page.display());
        let file = page.file_stem().expect("a name").to_string_lossy();
        assert!(file == "restart" || titles[0] == file, "{} is the page of {titles:?}", page.display());
    }
}

#[test]
fn a_broken_link_is_found() {
    let page = root().join("README.md");
    assert_eq!(fault(&page, "docs/README.md#the-four-parts"), None);
    assert!(fault(&page, "docs/nowhere.md").is_some());
    assert!(fault(&page, "docs/README.md#nowhere").is_some());
    assert_eq!(links("[a](b.md) and `[c](d.md)` and [`e`](f.md#g)"), ["b.md", "f.md#g"]);
    assert_eq!(anchor("Hosts (`conformance`)"), "hosts-conformance");
}
