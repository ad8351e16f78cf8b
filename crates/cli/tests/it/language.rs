//! The language of comments and pages: none has a word of the list in CONTRIBUTING.md.

use std::fs;
use std::path::{Path, PathBuf};

/// Folders and files that are not ours, are built, or are a history.
const LEFT_OUT: [&str; 6] = ["target", "out", ".git", "node_modules", "log.md", "objects"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A row of the list.
struct Rule {
    words: Vec<String>,
    instead: String,
    allowed: Vec<String>,
}

/// Reads the table of CONTRIBUTING.md: words, replacement, allowed phrases. Words and phrases are in code spans.
fn rules() -> Vec<Rule> {
    let page = fs::read_to_string(root().join("CONTRIBUTING.md")).expect("a page");
    let rows = page.lines().skip_while(|line| !line.starts_with("| Avoid |")).skip(2);
    let spans = |cell: &str| cell.split('`').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>();
    let rule = |row: &str| {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let [words, instead, allowed] = cells[..] else { panic!("three cells: {row}") };
        Rule { words: spans(words), instead: instead.to_owned(), allowed: spans(allowed) }
    };
    rows.take_while(|line| line.starts_with('|')).map(rule).collect()
}

/// Lines of prose that belong together, with the number of the first one.
type Block = (usize, Vec<String>);

fn gathered(lines: impl Iterator<Item = Option<String>>) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut goes_on = false;
    for (number, line) in (1..).zip(lines) {
        match line {
            Some(line) if goes_on => blocks.last_mut().expect("a block").1.push(line),
            Some(line) => blocks.push((number, vec![line])),
            None => {
                goes_on = false;
                continue;
            }
        }
        goes_on = true;
    }
    blocks
}

/// Returns the comments of Rust source.
fn comments(source: &str) -> Vec<Block> {
    let comment = |line: &str| {
        let alone = line.trim_start().strip_prefix("//");
        let text = alone.or_else(|| {
            let (code, text) = line.rsplit_once(" //")?;
            code.trim_end().ends_with([';', '{', '}', ')', ',']).then_some(text)
        })?;
        Some(text.trim_start_matches(['/', '!']).to_owned())
    };
    gathered(source.lines().map(comment))
}

/// Returns the paragraphs, items and tables of a page without its fenced blocks.
fn paragraphs(page: &str) -> Vec<Block> {
    let mut fenced = false;
    gathered(page.lines().map(move |line| {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        (!fenced && !fence && !line.trim().is_empty() && !line.starts_with("    ")).then(|| line.to_owned())
    }))
}

/// Returns `text` without what stands between two quote characters. A quote character without a second one hides nothing.
fn without(text: &str, quote: char) -> String {
    let parts: Vec<&str> = text.split(quote).collect();
    let is_open = parts.len().is_multiple_of(2);
    let kept =
        parts.iter().enumerate().filter(|(at, _)| at.is_multiple_of(2) || (is_open && at + 1 == parts.len()));
    kept.map(|(_, part)| *part).collect::<Vec<_>>().join(" \u{b7} ")
}

/// Returns a block in lower case and in single spaces, without code spans, quotations and the targets of links.
fn plain(lines: &[String]) -> String {
    let text = lines.join(" ");
    let text = without(&without(&text, '`'), '"').to_lowercase();
    let text = text.split("](").enumerate().map(|(index, part)| match part.split_once(')') {
        Some((_, rest)) if index > 0 => rest,
        _ => part,
    });
    text.collect::<Vec<_>>().join(" ").split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns whether `text` has `phrase` as whole words.
fn has(text: &str, phrase: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    text.match_indices(phrase)
        .any(|(at, _)| !text[..at].ends_with(is_word) && !text[at + phrase.len()..].starts_with(is_word))
}

/// Returns the words of the list in a block, each with its replacement.
fn found(rules: &[Rule], lines: &[String]) -> Vec<String> {
    let text = plain(lines);
    let of = |rule: &Rule| {
        let text = rule.allowed.iter().fold(text.clone(), |text, allowed| text.replace(allowed, "\u{b7}"));
        let words = rule.words.iter().filter(|word| has(&text, word));
        words.map(|word| format!("{word} -> {}", rule.instead)).collect::<Vec<_>>()
    };
    rules.iter().flat_map(of).collect()
}

/// All Rust sources and pages.
fn files() -> Vec<PathBuf> {
    let (mut files, mut folders) = (Vec::new(), vec![root()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder can be read") {
            let path = entry.expect("an entry can be read").path();
            let is_left_out = LEFT_OUT.iter().any(|name| path.file_name().is_some_and(|file| file == *name));
            if is_left_out {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs" || extension == "md") {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

#[test]
fn comments_and_pages_have_no_word_of_the_list() {
    let rules = rules();
    assert!(rules.len() > 30, "the list was found");
    let mut wrong = Vec::new();
    for path in files() {
        let text = fs::read_to_string(&path).expect("a file");
        let is_page = path.extension().is_some_and(|extension| extension == "md");
        for (line, block) in if is_page { paragraphs(&text) } else { comments(&text) } {
            let name = path.strip_prefix(root()).expect("below the root").display();
            wrong.extend(found(&rules, &block).into_iter().map(|word| format!("{name}:{line}: {word}")));
        }
    }
    assert!(wrong.is_empty(), "{} words of the list in CONTRIBUTING.md:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn words_count_across_lines_and_not_in_code_or_quotations() {
    let rules = rules();
    let in_block =
        |lines: &[&str]| found(&rules, &lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>());
    assert_eq!(in_block(&["three in a", "row"]).len(), 1);
    assert_eq!(in_block(&["`told` and \"told\", [a page](told.md)"]), [""; 0]);
    assert_eq!(in_block(&["an open \" hides nothing that is told"]).len(), 1);
    assert_eq!(in_block(&["at least 4, the least of them"]).len(), 1);
    assert_eq!(in_block(&["retold, told_of, told-like"]), [""; 0]);
}
