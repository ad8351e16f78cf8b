//! The first screen of a race's page, and the ways from it to the details: pointer, keyboard, address and clipboard.

use serde_json::json;

use super::chromium::{Chromium, Look, SCREEN};
use crate::browser::pages;

/// A window of a common size, and that of a telephone.
const WINDOW: Look = Look { width: 1400, dark: false };
const NARROW: Look = Look { width: 390, dark: false };

/// The lower ends of the verdict and of the chart, in pixels.
const ENDS: &str = "['.verdict', '.tradeoff .chart'].map((one) => document.querySelector(one).getBoundingClientRect().bottom)";

#[test]
fn the_first_screen_has_the_verdict_and_the_prices_of_all_schemes() {
    let Some(mut browser) = Chromium::start("first-screen") else { return };
    for (look, height) in [(WINDOW, 800.0), (NARROW, 844.0)] {
        browser.open(&pages()[0], look);
        let ends: Vec<f64> = serde_json::from_value(browser.evaluate(ENDS)).expect("numbers");
        assert!(ends.iter().all(|end| *end < height), "{ends:?} at {}", look.width);
        let names = "[...document.querySelectorAll('.tradeoff .point')].map((point) => point.dataset.says.split(':')[0])";
        assert_eq!(browser.evaluate(names).as_array().map(Vec::len), Some(3));
    }
}

#[test]
fn a_point_is_read_by_keyboard_and_opens_its_panel() {
    let Some(mut browser) = Chromium::start("points") else { return };
    browser.open(&pages()[0], SCREEN);
    browser.evaluate("document.querySelector('.tradeoff').focus()");
    browser.press("ArrowRight");
    browser.press("ArrowRight");
    let read = "document.querySelector('.tradeoff .readout').textContent === document.querySelectorAll('.tradeoff .point')[1].dataset.says";
    assert_eq!(browser.evaluate(read), true);
    browser.press("Enter");
    let open = "[...document.querySelectorAll('details.panel')].map((one) => one.open)";
    assert_eq!(browser.evaluate(open), json!([false, true, false]), "one panel at a time");
    assert_eq!(browser.evaluate("location.hash.startsWith('#scheme=')"), true);
}

#[test]
fn an_address_opens_a_scheme_and_a_span_of_time() {
    let Some(mut browser) = Chromium::start("address") else { return };
    browser.open(&pages()[0], SCREEN);
    browser.evaluate(
        "location.hash = '#scheme=slow-start&t=0.1..0.3'; new Promise((done) => setTimeout(done, 300))",
    );
    let open = "(() => { const panel = document.querySelector('details.panel[open]'); return [panel.querySelector('h2').textContent, panel.querySelector('.js-plotly-plot').layout.xaxis.range]; })()";
    assert_eq!(browser.evaluate(open), json!(["slow-start", [0.1, 0.3]]));
    browser.evaluate(
        "location.hash = '#scheme=slow-start,mine&t=0..0.3'; new Promise((done) => setTimeout(done, 300))",
    );
    let shown = "[[...document.querySelectorAll('#legend [aria-pressed=true]')].map((one) => one.textContent).sort(), document.querySelector('#overview .js-plotly-plot').layout.xaxis.range]";
    assert_eq!(browser.evaluate(shown), json!([["mine", "slow-start"], [0, 0.3]]));
    assert_eq!(browser.complaints(), "");
}

#[test]
fn tables_are_copied_and_numbers_are_saved() {
    let Some(mut browser) = Chromium::start("copies") else { return };
    browser.open(&pages()[0], SCREEN);
    browser.evaluate(
        "window.copied = []; navigator.clipboard.writeText = async (text) => { copied.push(text); }",
    );
    browser.evaluate("document.querySelectorAll('.copies button').forEach((one) => { if (one.textContent.startsWith('Copy')) one.click(); })");
    let copied: Vec<String> = serde_json::from_value(browser.evaluate("copied")).expect("texts");
    assert_eq!(copied.len(), 2);
    assert_eq!(copied[0].lines().count(), 4, "a head and three schemes: {}", copied[0]);
    assert!(copied[0].starts_with("scheme,law,"), "{}", copied[0]);
    assert!(copied[1].lines().nth(1).is_some_and(|line| line.starts_with("| --- |")), "{}", copied[1]);
    // What would be saved, kept in place of a file.
    browser.evaluate("window.saved = []; URL.createObjectURL = (blob) => { saved.push(blob); return '#'; }; document.querySelector('[data-numbers]').click(); document.querySelector('[data-points]').click();");
    let saved: Vec<String> =
        serde_json::from_value(browser.evaluate("Promise.all(saved.map((blob) => blob.text()))"))
            .expect("texts");
    assert_eq!(saved[0].lines().count(), 4, "{:.300}", saved[0]);
    let fields = |line: &str| line.split(',').count();
    let head = saved[0].lines().next().expect("a head");
    assert!(head.contains("fct_s") && fields(head) > 20, "{head}");
    assert!(
        saved[1].lines().count() > 1000 && saved[1].lines().all(|line| fields(line) == 5),
        "{:.300}",
        saved[1]
    );
}

#[test]
fn a_cell_of_the_heat_map_is_read_by_pointer_and_keyboard() {
    let Some(mut browser) = Chromium::start("heat") else { return };
    browser.open(&pages()[3], SCREEN);
    let says = "document.getElementById('heat-says').textContent";
    browser.evaluate("document.querySelector('.heat').parentElement.focus()");
    browser.press("ArrowRight");
    let first = browser.evaluate(says);
    assert!(
        first.as_str().is_some_and(|words| words.starts_with("all paths. ") && words.contains("median cost")),
        "{first}"
    );
    browser.press("ArrowRight");
    assert_ne!(browser.evaluate(says), first);
    browser.evaluate(
        "document.querySelector('.heat td').dispatchEvent(new MouseEvent('mousemove', { bubbles: true }))",
    );
    assert_eq!(browser.evaluate(says), first);
}
