//! The first impression of a report: complete tables, buttons that show the selection, units, words at their lines.

use std::path::Path;

use serde_json::json;

use super::chromium::{Chromium, Look, SCREEN};
use crate::browser::{OPEN_ALL, pages};
use crate::common::{folder, run, status, stderr, text};

/// A window of a common size.
const WINDOW: Look = Look { width: 1400, dark: false };

#[test]
fn the_widest_tables_fit_a_window_of_1400_pixels() {
    let Some(mut browser) = Chromium::start("wide") else { return };
    let place = folder("browser-wide");
    let path = ["race", "--rate", "20mbit", "--rtt", "150ms", "--size", "500kB", "--packet", "1500B"];
    // All existing columns, with all schemes; means, whose intervals are below them; rounds of replies, with policies that have many
    // settings.
    let marked = ["--queue", "codel:100p,ecn", "--ecn", "--cross", "tcp:1"];
    let restart = "rbp-rate/scale=100%/rounding=nearest/rtt=latest/after=cut";
    let rounds = ["--rounds", "2", "--idle", "5s", "--runs", "2", "--schemes", "vegas", "--restart", restart];
    for (name, more) in
        [("all", &marked[..]), ("means", &["--cross", "tcp:1", "--runs", "2"]), ("rounds", &rounds)]
    {
        let page = place.join(name).with_extension("html");
        let output = run(&[&path[..], more, &["--report", text(&page)]].concat());
        assert_eq!(status(&output), 0, "{}", stderr(&output));
        browser.open(&page, WINDOW);
        let table = "[...document.querySelectorAll('#verdicts thead th')].length";
        let columns = browser.evaluate(table).as_u64().expect("a count");
        let wanted = [("all", 18), ("means", 17), ("rounds", 11)];
        assert!(wanted.contains(&(name, columns)), "{name}: {columns} columns");
        let over = "(() => { const box = document.querySelector('#verdicts').parentElement; return box.scrollWidth - box.clientWidth; })()";
        assert_eq!(browser.evaluate(over), 0, "{name}");
        // Lines break between words, not within.
        let heads = "[...document.querySelectorAll('#verdicts thead span')].every((one) => one.children.length || one.getClientRects().length === 1)";
        assert_eq!(browser.evaluate(heads), true, "{name}");
    }
}

/// The pressed ones among the buttons for all plots.
const PRESSED: &str = "[...document.querySelectorAll('[data-all]')].filter((one) => one.getAttribute('aria-pressed') === 'true')
    .map((one) => one.dataset.all)";

#[test]
fn the_buttons_of_all_plots_say_what_all_plots_show() {
    let Some(mut browser) = Chromium::start("all-plots") else { return };
    browser.open(&pages()[0], SCREEN);
    assert_eq!(browser.evaluate(PRESSED), json!(["startup"]));
    for window in ["whole", "first", "startup"] {
        browser.evaluate(&format!("document.querySelector('[data-all={window}]').focus()"));
        browser.press("Enter");
        assert_eq!(browser.evaluate(PRESSED), json!([window]));
        let fill = "new Set([...document.querySelectorAll('[data-all]')].map((one) => getComputedStyle(one).backgroundColor)).size";
        assert_eq!(browser.evaluate(fill), 2, "one looks pressed");
    }
    // One plot shows another window, and then the common one again.
    browser.evaluate("document.querySelector('.panel [data-window=whole]').click()");
    assert_eq!(browser.evaluate(PRESSED), json!([]));
    browser.evaluate("document.querySelector('.panel [data-window=startup]').click()");
    assert_eq!(browser.evaluate(PRESSED), json!(["startup"]));
    browser.evaluate("document.querySelector('#overview').focus()");
    browser.press("+");
    assert_eq!(browser.evaluate(PRESSED), json!([]));
}

/// The texts of plots and tables in which a digit touches a unit. Settings are written like this, and are in small print below their names.
const UNSPACED: &str =
    "[...document.querySelectorAll('.main-svg text, .tradeoff text, .multiples small, h1, .verdict, .facts dd, #verdicts td, .readout')]
    .map((one) => one.textContent).filter((text) => /\\d(%|[kMG]?(B|bit)|[mµn]?s)\\b/.test(text))";

#[test]
fn a_number_and_its_unit_have_a_space_between_them() {
    let Some(mut browser) = Chromium::start("units") else { return };
    for page in &pages()[..3] {
        browser.open(page, SCREEN);
        for window in ["first", "startup", "whole"] {
            browser.evaluate(&format!("document.querySelector('[data-all={window}]').click()"));
            assert_eq!(browser.evaluate(UNSPACED), json!([]), "{} {window}", page.display());
            let ticks = "[...document.querySelectorAll('.panel .ytick text')].map((one) => one.textContent)";
            let ticks: Vec<String> = serde_json::from_value(browser.evaluate(ticks)).expect("words");
            assert!(ticks.len() > 2 && ticks[0] == "0", "{ticks:?}");
            assert!(ticks[1..].iter().all(|tick| tick.ends_with(" kB") || tick.ends_with(" B")), "{ticks:?}");
        }
    }
}

/// Returns the words over the panels that describe exits and restarts, in the window of the whole run.
fn flags(browser: &mut Chromium, page: &Path) -> Vec<String> {
    browser.open(page, SCREEN);
    browser.evaluate("document.querySelector('[data-all=whole]').click()");
    let words = "[...document.querySelectorAll('.panel .annotation-text')].map((one) => one.textContent)
        .filter((text) => /exit by|left by|data again/.test(text))";
    serde_json::from_value(browser.evaluate(words)).expect("words")
}

#[test]
fn restarts_have_their_words_at_their_lines() {
    let Some(mut browser) = Chromium::start("restarts") else { return };
    let place = folder("browser-restarts");
    let page = place.join("rounds.html");
    let rounds =
        ["race", "--rate", "5mbit", "--rtt", "40ms", "--size", "50kB", "--rounds", "3", "--idle", "4s"];
    let of =
        ["--schemes", "slow-start", "--restart", "nssr", "--pcap", text(&place), "--report", text(&page)];
    let output = run(&[&rounds[..], &of].concat());
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    let said = flags(&mut browser, &page);
    assert!(said.iter().any(|words| words.starts_with("restart left by")), "{said:?}");
    assert!(said.iter().all(|words| !words.contains("exit by restart")), "{said:?}");
    // A sender that never idles is not drawn together with one that does.
    assert_eq!(browser.evaluate("document.querySelectorAll('#legend button').length"), 1);
    let capture = place.join("slow-start-client.pcapng");
    let inspected = place.join("inspected.html");
    let output = run(&["inspect", text(&capture), "--report", text(&inspected)]);
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    let said = flags(&mut browser, &inspected);
    assert_eq!(said.iter().filter(|words| words.starts_with("data again after ")).count(), 2, "{said:?}");
}

/// The texts of the panels under the pointer wherever they describe a mark, with their faults: words that are cut off, or a plot that moved
/// since the pointer first touched it.
const POINTED: &str = "[...document.querySelectorAll('.panel .plot')].flatMap((plot) => {
    const surface = plot.querySelector('.surface'), readout = plot.querySelector('.readout'), said = new Set();
    const top = () => Math.round(surface.getBoundingClientRect().top + scrollY);
    const { left, width } = surface.getBoundingClientRect(), before = top();
    for (let x = left; x < left + width; x += 3) {
      surface.dispatchEvent(new MouseEvent('mousemove', { clientX: x }));
      if (!readout.querySelector('.mark')) continue;
      const boxes = [readout, ...readout.children];
      const isCut = boxes.some((one) => one.scrollHeight > one.clientHeight + 1 || one.scrollWidth > one.clientWidth + 1);
      said.add((isCut ? 'cut: ' : top() !== before ? 'moved: ' : '') + readout.querySelector('.mark').textContent);
    }
    return [...said];
  })";

#[test]
fn plot_readouts_are_complete_and_move_nothing() {
    let Some(mut browser) = Chromium::start("readouts") else { return };
    for page in &pages()[..3] {
        browser.open(page, SCREEN);
        browser.evaluate(OPEN_ALL);
        for width in [1280, 700, 390] {
            browser.look(Look { width, dark: false });
            let said: Vec<String> = serde_json::from_value(browser.evaluate(POINTED)).expect("words");
            assert!(!said.is_empty(), "{} has marks", page.display());
            let faults: Vec<_> =
                said.iter().filter(|one| one.starts_with("cut: ") || one.starts_with("moved: ")).collect();
            assert!(faults.is_empty(), "{} at {width}: {faults:?}", page.display());
        }
    }
}
