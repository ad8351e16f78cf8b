//! Shows text of users and files on one line, of limited length, and without terminal control characters.

use std::path::Path;

use firstflight_trace::in_a_line;

/// The maximum number of characters of a faulty line that are shown.
const LONGEST_EXCERPT: usize = 200;
/// The minimum number of characters of a faulty line that are shown, however narrow the terminal is.
const SHORTEST_EXCERPT: usize = 40;
/// The maximum number of characters of a message.
const LONGEST_MESSAGE: usize = 4_000;

/// Returns the name of a file for messages.
pub(crate) fn name(path: &Path) -> String {
    in_a_line(&path.display().to_string())
}

/// Returns a message as one line. The middle of a long message is left out.
pub(crate) fn message(text: &str) -> String {
    let shown = in_a_line(text);
    let length = shown.chars().count();
    if length <= LONGEST_MESSAGE {
        return shown;
    }
    let half = LONGEST_MESSAGE / 2;
    let begins: String = shown.chars().take(half).collect();
    let ends: String = shown.chars().skip(length - half).collect();
    format!("{begins} … {ends}")
}

/// Returns an excerpt of a line with a fault, the width of the text before the fault in the excerpt, and the width of the fault. Widths are
/// in characters. `room` is the number of terminal columns, if it is known.
pub(crate) fn around(line: &str, column: usize, width: usize, room: Option<usize>) -> (String, usize, usize) {
    let length = line.chars().count();
    let most = room.map_or(LONGEST_EXCERPT, |room| room.clamp(SHORTEST_EXCERPT, LONGEST_EXCERPT));
    // An ellipsis takes a column at each end. Two fifths of the excerpt are before the fault, if there is enough text after it.
    let (most, before) = if length <= most { (most, 0) } else { (most - 2, most * 2 / 5) };
    // If the fault is near the end of the line, more of the excerpt is before it.
    let from = column.saturating_sub(before).min(length.saturating_sub(most));
    let to = length.min(from + most);
    let part = |from: usize, to: usize| -> String {
        // A tab is shown as one space, so that the caret stays aligned.
        let part: String = line.chars().skip(from).take(to.saturating_sub(from)).collect();
        in_a_line(&part.replace('\t', " "))
    };
    let before = part(from, column.min(to));
    let fault = part(column, (column + width).min(to));
    let behind = part(column + width, to);
    let mark = |is_cut: bool| if is_cut { "…" } else { "" };
    let (begins, ends) = (mark(from > 0), mark(to < length));
    // A fault beyond the end of the line is marked by a caret only.
    let beyond = column.saturating_sub(length);
    let columns = begins.chars().count() + before.chars().count() + beyond;
    (format!("{begins}{before}{fault}{behind}{ends}"), columns, fault.chars().count())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_line_is_shown_whole() {
        assert_eq!(around("rate = 0", 7, 1, None), ("rate = 0".to_owned(), 7, 1));
        assert_eq!(around("\trate = 0", 8, 1, None), (" rate = 0".to_owned(), 8, 1));
        assert_eq!(around("rate", 4, 1, None), ("rate".to_owned(), 4, 0));
    }

    #[test]
    fn excerpt_of_a_long_line_shows_only_the_text_around_the_fault() {
        let line = format!("{}here{}", "a".repeat(300_000), "b".repeat(300_000));
        let (shown, column, width) = around(&line, 300_000, 4, None);
        assert_eq!(shown, format!("…{}here{}…", "a".repeat(80), "b".repeat(114)));
        assert_eq!((column, width), (81, 4));
        let (shown, column, width) = around(&line, 0, line.len(), None);
        assert_eq!((shown, column, width), (format!("{}…", "a".repeat(198)), 0, 198));
    }

    #[test]
    fn excerpt_fills_a_narrow_terminal_and_includes_the_fault() {
        let line = format!("{}here{}", "a".repeat(90), "b".repeat(90));
        let (shown, column, width) = around(&line, 90, 4, Some(76));
        assert_eq!((shown.chars().count(), width), (76, 4));
        assert_eq!(shown.chars().skip(column).take(width).collect::<String>(), "here");
        let (shown, column, width) = around(&format!("{}here", "a".repeat(90)), 90, 4, Some(76));
        assert_eq!((shown, column, width), (format!("…{}here", "a".repeat(70)), 71, 4));
        assert_eq!(around("rate = 0", 7, 1, Some(10)), ("rate = 0".to_owned(), 7, 1));
    }

    #[test]
    fn control_characters_are_escaped_and_the_caret_moves_accordingly() {
        let (shown, column, width) = around("a\u{1b}[2Jb\nc", 5, 3, None);
        assert_eq!((shown.as_str(), column, width), ("a\\u{1b}[2Jb\\nc", 10, 4));
        assert_eq!(message("a\u{7}b\rc"), "a\\u{7}b\\rc");
    }

    #[test]
    fn a_message_that_quotes_a_great_deal_is_shortened() {
        let shown = message(&format!("begins {} ends", "x".repeat(400_000)));
        assert_eq!(shown.chars().count(), 4_003);
        assert!(shown.starts_with("begins x") && shown.ends_with("x ends"), "{shown}");
    }
}
