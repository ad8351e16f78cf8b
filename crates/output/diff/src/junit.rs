//! The outcomes of conditions as a JUnit file, which the dashboards of build systems read.

use std::fmt::Write as _;

use crate::outcome::Outcome;

/// Returns the outcomes as JUnit XML: a test case for each scheme of each condition. The file has no times, because conditions take none.
pub fn junit(suite: &str, outcomes: &[Outcome]) -> String {
    let failures = outcomes.iter().filter(|outcome| !outcome.holds).count();
    let counts = format!("tests=\"{}\" failures=\"{failures}\" errors=\"0\"", outcomes.len());
    let mut out = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {counts}>\n  <testsuite name=\"{}\" {counts}>\n",
        escaped(suite)
    );
    for Outcome { condition, scheme, holds, line } in outcomes {
        let name = escaped(condition);
        let class = escaped(scheme);
        // Writing to a string cannot fail.
        let _ = match holds {
            true => writeln!(out, "    <testcase classname=\"{class}\" name=\"{name}\"/>"),
            false => writeln!(
                out,
                "    <testcase classname=\"{class}\" name=\"{name}\">\n      <failure message=\"{}\"/>\n    </testcase>",
                escaped(line)
            ),
        };
    }
    out + "  </testsuite>\n</testsuites>\n"
}

/// Escapes text for an attribute. Characters that XML forbids are replaced.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            '\t' | '\n' | '\r' => out.push(' '),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_outcome_is_a_test_case_and_text_is_escaped() {
        let outcome = |holds| Outcome {
            condition: "cost<=1.6".to_owned(),
            scheme: "a\"b".to_owned(),
            holds,
            line: "a\"b: cost is 2, not <= 1.6\u{1}".to_owned(),
        };
        let xml = junit("race & co", &[outcome(true), outcome(false)]);
        assert!(xml.contains("<testsuite name=\"race &amp; co\" tests=\"2\" failures=\"1\" errors=\"0\">"));
        assert!(xml.contains("<testcase classname=\"a&quot;b\" name=\"cost&lt;=1.6\"/>"));
        assert!(xml.contains("<failure message=\"a&quot;b: cost is 2, not &lt;= 1.6\u{fffd}\"/>"));
    }
}
