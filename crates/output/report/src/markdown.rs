//! Tables and text in GitHub's Markdown.

/// Returns a table. Columns of numbers are aligned on the right. Text is escaped as [`text`] does.
pub fn table(heads: &[String], is_numbers: &[bool], rows: &[Vec<String>]) -> String {
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let rule = is_numbers.iter().map(|is| if *is { "---:" } else { "---" }.to_owned()).collect();
    let escaped = |cells: &[String]| line(cells.iter().map(|cell| text(cell)).collect());
    escaped(heads) + &line(rule) + &rows.iter().map(|row| escaped(row)).collect::<String>()
}

/// Escapes the characters that have a meaning within a line of GitHub's Markdown, so that no text ends a cell, becomes markup or a link, or
/// notifies a person. The caller's own text begins each line.
pub fn text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '<' => out.push_str("&lt;"),
            '&' => out.push_str("&amp;"),
            // A comment between the sign and a name keeps it from being a mention.
            '@' if rest.peek().is_some_and(|next| next.is_alphanumeric()) => out.push_str("@<!-- -->"),
            '|' | '*' | '_' | '`' | '[' | ']' | '\\' | '#' | '~' | '$' => out.extend(['\\', c]),
            // The same keeps an address from being a link.
            ':' if rest.peek() == Some(&'/') => out.push_str(":<!-- -->"),
            '.' if out.ends_with("www") => out.push_str("<!-- -->."),
            '\n' | '\r' => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_cell_of_a_table_becomes_markup() {
        let table = table(
            &["a|b".to_owned(), "n".to_owned()],
            &[false, true],
            &[vec!["<img src=x>\n@team".to_owned(), "*1*".to_owned()]],
        );
        assert_eq!(table, "| a\\|b | n |\n| --- | ---: |\n| &lt;img src=x> @<!-- -->team | \\*1\\* |\n");
    }
}
