//! Quotation of text from other sources.

/// Checks whether a character is shown as itself and does not change the text around it. The result is false for control characters,
/// directional marks, zero-width characters, line separators and unassigned code points.
pub fn is_printable(c: char) -> bool {
    match c {
        ' '..='~' | '\u{a0}' => true,
        c if c.is_ascii() => false,
        // Grapheme joiner, fillers and variation selectors are letters or marks without width.
        '\u{34f}'
        | '\u{115f}'..='\u{1160}'
        | '\u{180b}'..='\u{180f}'
        | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}'
        | '\u{ffa0}'
        | '\u{e0100}'..='\u{e01ef}' => false,
        // Asks the standard library's table. It accepts a combining mark only after a letter.
        c => String::from_iter(['a', c]).escape_debug().nth(1) == Some(c),
    }
}

/// Quotes a text on one line: characters that are not printable are shown as Rust escapes.
pub fn in_a_line(text: &str) -> String {
    if text.chars().all(is_printable) {
        return text.to_owned();
    }
    let mut line = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_printable(c) { line.push(c) } else { line.extend(c.escape_default()) }
    }
    line
}

/// Quotes a text of several lines. Keeps its line ends, and shows other characters that are not printable as Rust escapes.
pub fn in_lines(text: &str) -> String {
    if text.chars().all(|c| c == '\n' || is_printable(c)) {
        return text.to_owned();
    }
    text.split('\n').map(in_a_line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_any_script_stays_and_what_changes_other_text_is_escaped() {
        for text in ["a 'b' \"c\" \\ %", "Grüße, 北京, naïve, אבג, ٣, ☃, 10 µs ± 3"] {
            assert_eq!(in_a_line(text), text);
        }
        assert_eq!(in_a_line("e\u{301}"), "e\u{301}", "a mark belongs to its letter");
        assert_eq!(in_lines("a\nb\n"), "a\nb\n");
        assert_eq!(in_lines("a\n\rb\n"), "a\n\\rb\n");
        assert_eq!(
            in_a_line("a\u{1b}[2J\u{7}\r\n\tb\u{7f}\u{9b}"),
            "a\\u{1b}[2J\\u{7}\\r\\n\\tb\\u{7f}\\u{9b}"
        );
    }

    #[test]
    fn direction_marks_and_zero_width_characters_are_escaped() {
        let ranges = [
            '\0'..='\u{1f}',
            '\u{7f}'..='\u{9f}',
            '\u{ad}'..='\u{ad}',
            '\u{61c}'..='\u{61c}',
            '\u{180e}'..='\u{180e}',
            '\u{200b}'..='\u{200f}',
            '\u{2028}'..='\u{202e}',
            '\u{2060}'..='\u{206f}',
            '\u{3164}'..='\u{3164}',
            '\u{fe00}'..='\u{fe0f}',
            '\u{feff}'..='\u{feff}',
            '\u{fff9}'..='\u{fffb}',
            '\u{e0000}'..='\u{e007f}',
        ];
        for c in ranges.into_iter().flatten() {
            let shown = in_a_line(&c.to_string());
            assert!(shown.starts_with('\\') && shown.is_ascii(), "{:x} is shown as {shown}", u32::from(c));
        }
    }
}
