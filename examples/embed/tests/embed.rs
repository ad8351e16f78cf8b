//! The example runs, and `docs/guide/embedding.md` shows its source and its output.

use std::process::Command;

#[test]
fn the_page_shows_the_example_and_its_output() {
    let page = include_str!("../../../docs/guide/embedding.md");
    let source = include_str!("../src/main.rs");
    assert!(source.lines().count() <= 100, "an example is two screens");
    assert!(page.contains(&format!("```rust\n{source}```\n")), "the page shows another main.rs");
    let output = Command::new(env!("CARGO_BIN_EXE_embed")).output().expect("the example runs");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(output.status.success() && text.contains("loss at"), "{text}");
    assert!(page.contains(&format!("```text\n{text}```\n")), "the page shows another output than {text}");
}
