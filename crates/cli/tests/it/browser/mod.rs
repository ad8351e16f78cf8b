//! The pages that the command writes, in a browser: without network, in light and dark, on a narrow screen, by keyboard, and on paper.
//! Without Chromium the tests are skipped, with a message.

mod chromium;
mod opening;
mod paper;
mod plots;

use std::path::PathBuf;
use std::sync::OnceLock;

use chromium::{Chromium, Look, SCREEN};
use serde_json::{Value, json};

use crate::common::{folder, run, status, stderr, text};

/// The widths and themes in which every page is tested: those of a telephone, of half a screen, and of a wide screen.
const LOOKS: [Look; 8] = [
    SCREEN,
    Look { width: 1280, dark: true },
    Look { width: 390, dark: false },
    Look { width: 390, dark: true },
    Look { width: 1000, dark: false },
    Look { width: 1000, dark: true },
    Look { width: 1600, dark: false },
    Look { width: 1600, dark: true },
];

/// Few paths, so that there are intervals and some runs that are given up.
const SWEEP: &str = "paths = 20\nseed = 7\npart = 5\ngive-up = 8\nschemes = [\"slow-start,paced,vegas\"]\n[path]\n\
    rate = { log-uniform = [\"1mbit\", \"10mbit\"] }\nrtt = { log-uniform = [\"10ms\", \"200ms\"] }\n\
    queue = { log-uniform = [\"0.1bdp\", \"2bdp\"] }\nsize = { log-uniform = [\"30kB\", \"300kB\"] }\n\
    cross = { one-of = [\"none\", \"tcp:1\"] }\nloss = { one-of = [\"0\", \"3%\"] }\n";

/// Returns the pages: a race with losses, parameters, a label and undefined numbers; means of runs; a captured race; the score of a sweep.
fn pages() -> &'static [PathBuf] {
    static PAGES: OnceLock<Vec<PathBuf>> = OnceLock::new();
    PAGES.get_or_init(|| {
        let place = folder("browser-pages");
        let write = |arguments: &[&str], name: &str| {
            let page = place.join(name);
            let output = run(&[arguments, &["--report", text(&page)]].concat());
            assert_eq!(status(&output), 0, "{}", stderr(&output));
            page
        };
        let path = ["race", "--rate", "20mbit", "--rtt", "40ms", "--size", "500kB", "--queue", "20p"];
        let pcap = place.join("pcap");
        let few = ["--schemes", "slow-start,paced:first=4,as=mine,quick-start", "--pcap", text(&pcap)];
        let race = write(&[&path[..], &few[..]].concat(), "race.html");
        let means = write(
            &[
                &path[..],
                &["--cross", "tcp:1", "--loss", "1%", "--runs", "3", "--schemes", "hystart,adaptive"],
            ]
            .concat(),
            "means.html",
        );
        let [one, other] = ["slow-start-client.pcapng", "mine-server.pcapng"].map(|name| pcap.join(name));
        let captured = write(&["inspect", text(&one), text(&other)], "captured.html");
        let (sweep, out) = (place.join("sweep.toml"), place.join("sweep"));
        std::fs::write(&sweep, SWEEP).expect("written");
        let output = run(&["sweep", text(&sweep), "--out", text(&out)]);
        assert_eq!(status(&output), 0, "{}", stderr(&output));
        let scored = write(&["score", text(&out)], "scored.html");
        vec![race, means, captured, scored]
    })
}

#[test]
fn a_page_asks_nobody_for_anything_and_has_nothing_to_complain_of() {
    let Some(mut browser) = Chromium::start("offline") else { return };
    for page in pages() {
        browser.open(page, SCREEN);
        assert_eq!(browser.complaints(), "", "{}", page.display());
        assert_eq!(browser.requests(page), Vec::<String>::new());
        // The page makes no requests even without its policy.
        let source = std::fs::read_to_string(page).expect("UTF-8");
        let policy = source.find("<meta http-equiv=\"Content-Security-Policy\"").expect("it has a policy");
        let end = policy + source[policy..].find('>').expect("a whole tag") + 1;
        let free = page.with_extension("free.html");
        std::fs::write(&free, format!("{}{}", &source[..policy], &source[end..])).expect("written");
        browser.open(&free, SCREEN);
        assert_eq!((browser.complaints(), browser.requests(&free)), (String::new(), Vec::new()));
    }
}

#[test]
fn a_page_that_does_ask_is_seen_to() {
    let Some(mut browser) = Chromium::start("asking") else { return };
    let page = folder("browser-asking").join("asks.html");
    let asks = "<!doctype html><link rel=stylesheet href=https://a.example/a.css><img src=http://127.0.0.1:8765/b.png>\
                <style>body { background: url(http://c.example/c.png) }</style><body><script>\
                fetch('https://d.example/').catch(() => 0); new WebSocket('ws://e.example/');</script>";
    std::fs::write(&page, asks).expect("written");
    browser.open(&page, SCREEN);
    let wanted = [
        "CONNECT a.example:443",
        "GET http://127.0.0.1:8765/b.png",
        "GET http://c.example/c.png",
        "CONNECT d.example:443",
        "CONNECT e.example:80",
    ];
    let mut requests = String::new();
    for _ in 0..30 {
        requests = browser.requests(&page).join("\n");
        if wanted.iter().all(|one| requests.contains(one)) {
            break;
        }
    }
    for one in wanted {
        assert!(requests.contains(one), "{one} in {requests}");
    }
    assert!(browser.complaints().contains("ERR_"), "what fails is complained of");
}

#[test]
fn every_word_and_line_stands_out_and_none_is_cut_off() {
    let Some(mut browser) = Chromium::start("contrast") else { return };
    for page in pages() {
        browser.open(page, SCREEN);
        browser.evaluate(OPEN_ALL);
        for look in LOOKS {
            browser.look(look);
            let found = browser.evaluate(&format!("({})()", include_str!("contrast.js")));
            let name =
                format!("{} at {} {}", page.display(), look.width, if look.dark { "dark" } else { "light" });
            assert_eq!(found["faint"], json!([]), "{name}");
            for kind in ["drawn", "cell", "legend", "text"] {
                assert!(found["tested"][kind].as_u64() > Some(1), "{name}: {kind} in {}", found["tested"]);
            }
            // A table may be wider than the screen and then scrolls itself; the page does not scroll.
            let width = "document.documentElement.scrollWidth <= document.documentElement.clientWidth";
            assert_eq!(browser.evaluate(width), true, "{name}");
            assert_eq!(browser.evaluate(CUT_OFF), json!([]), "{name}");
            assert_eq!(browser.evaluate(UNDRAWN), json!([]), "{name}");
            assert_eq!(browser.evaluate(RUN_TOGETHER), json!([]), "{name}");
        }
    }
}

#[test]
fn page_checks_detect_low_contrast_cut_text_missing_focus_and_excess_width() {
    let Some(mut browser) = Chromium::start("bad") else { return };
    let page = &pages()[0];
    browser.open(page, SCREEN);
    browser.evaluate(
        "document.querySelector('.verdict').style.color = '#8a8a8a'; document.querySelector('.legend line').style.stroke = '#ccc'; \
         document.querySelector('.main-svg text').setAttribute('transform', 'translate(-500)'); \
         document.styleSheets[0].insertRule(':focus-visible { outline: none !important }', 0); \
         document.body.style.minWidth = '1400px';",
    );
    // A space at the end of an inline block is not visible.
    browser.evaluate("document.querySelector('td').innerHTML = '<span style=display:inline-block>±0, </span><span>56/60</span>'");
    assert_eq!(browser.evaluate(RUN_TOGETHER), json!(["±0, 56/60 | ±0,56/60"]));
    let faint = browser.evaluate(&format!("({})().faint", include_str!("contrast.js")));
    let faint: Vec<String> = serde_json::from_value(faint).expect("words");
    assert!(faint.len() == 2 && faint[0].starts_with("3.45 of 4.5: \"Best"), "{faint:?}");
    assert_eq!(browser.evaluate(CUT_OFF).as_array().map(Vec::len), Some(1));
    browser.evaluate(CONTROLS);
    browser.press("Tab");
    let focus = browser.evaluate(&format!("({})().faults", include_str!("focus.js")));
    assert_eq!(focus.as_array().map(Vec::len), Some(1), "{focus}");
    if paper::can_read() {
        browser.evaluate("document.styleSheets[0].insertRule('@page { margin: 4mm }', document.styleSheets[0].cssRules.length)");
        let file = page.with_extension("bad.pdf");
        browser.print(&file);
        assert_ne!(paper::outside(&file), Vec::<String>::new());
    }
}

/// Opens everything that can be folded away.
const OPEN_ALL: &str = "document.querySelectorAll('details').forEach((one) => { one.open = true; })";

/// Words of drawings that leave their drawing, and words of the page that leave the screen where nothing scrolls.
const CUT_OFF: &str = "[...document.querySelectorAll('.main-svg text, .chart text')].filter((text) => {
    const own = text.getBoundingClientRect(), all = text.closest('svg').getBoundingClientRect();
    return own.width && (own.left < all.left - 1 || own.right > all.right + 1 || own.top < all.top - 1 || own.bottom > all.bottom + 1);
  }).map((text) => text.textContent)";

/// Panels without a drawing, and drawings that leave their panel.
const UNDRAWN: &str = "[...document.querySelectorAll('.plot')].filter((plot) => {
    const own = plot.getBoundingClientRect(), all = [...plot.querySelectorAll('.main-svg')].map((one) => one.getBoundingClientRect());
    return !all.some((one) => one.width > 200 && one.height > 100) || all.some((one) => one.right > own.right + 1);
  }).map((plot) => plot.id)";

/// Cells whose words are displayed closer together than they were written.
const RUN_TOGETHER: &str = "[...document.querySelectorAll('th, td, dt, dd')].filter((cell) => cell.checkVisibility() && cell.innerText)
  .map((cell) => [cell.textContent, cell.innerText].map((text) => text.trim().split(/\\s+/).join(' ')))
  .filter(([written, seen]) => written !== seen && written.replace(/ /g, '') === seen.replace(/[ ▲▼]/g, '')).map((both) => both.join(' | '))";

/// The controls of a page, in its order.
const CONTROLS: &str = "window.controls = () => [...document.querySelectorAll('a[href], button, input, summary, [tabindex=\"0\"]')]
    .filter((one) => one.checkVisibility() && one.getClientRects().length); controls().length";

#[test]
fn tab_key_reaches_every_control_in_order_with_visible_focus() {
    let Some(mut browser) = Chromium::start("tab") else { return };
    for (page, look) in pages().iter().zip([SCREEN, Look { width: 390, dark: true }, SCREEN, LOOKS[2]]) {
        browser.open(page, look);
        let count = browser.evaluate(CONTROLS).as_u64().expect("a count");
        assert!(count > 12, "{count} controls");
        let mut reached = Vec::new();
        for _ in 0..count + 5 {
            browser.press("Tab");
            let focus = browser.evaluate(&format!("({})()", include_str!("focus.js")));
            if focus.is_null() {
                break;
            }
            assert_eq!(focus["faults"], json!([]), "{}", focus["what"]);
            // A box that scrolls is a tab stop of the browser itself.
            if let Some(at) = focus["at"].as_u64() {
                reached.push(at);
            }
        }
        assert_eq!(reached, (0..count).collect::<Vec<_>>(), "{}", page.display());
    }
}

/// The sort keys of the rows in column `at`, and the texts of the heads.
const KEYS: &str =
    "[...document.querySelectorAll('#verdicts tbody tr')].map((row) => row.cells[window.at].dataset.key)";
const SAID: &str =
    "[...document.querySelectorAll('#verdicts thead th')].map((head) => head.getAttribute('aria-sort'))";

#[test]
fn enter_and_space_sort_a_table_and_say_so() {
    let Some(mut browser) = Chromium::start("sort") else { return };
    browser.open(&pages()[0], SCREEN);
    let columns = browser.evaluate(SAID).as_array().expect("a list").len();
    let mut undefined = 0;
    for column in 0..columns {
        browser.evaluate(&format!(
            "window.at = {column}; document.querySelectorAll('#verdicts thead button')[{column}].focus()"
        ));
        for (key, wanted) in [("Enter", "ascending"), (" ", "descending"), ("Enter", "ascending")] {
            browser.press(key);
            let said = browser.evaluate(SAID);
            for (at, said) in said.as_array().expect("a list").iter().enumerate() {
                assert_eq!(
                    *said,
                    if at == column { json!(wanted) } else { Value::Null },
                    "column {at} of {said}"
                );
            }
            let keys: Vec<String> = serde_json::from_value(browser.evaluate(KEYS)).expect("words");
            let (defined, none): (Vec<_>, Vec<_>) = keys.iter().partition(|key| !key.is_empty());
            assert_eq!(
                keys.iter().take(defined.len()).collect::<Vec<_>>(),
                defined,
                "what is undefined comes last"
            );
            undefined += none.len();
            let numbers: Option<Vec<f64>> = defined.iter().map(|key| key.parse().ok()).collect();
            let is_sorted = match numbers {
                Some(numbers) if wanted == "ascending" => numbers.is_sorted(),
                Some(numbers) => numbers.iter().rev().is_sorted(),
                None if wanted == "ascending" => defined.is_sorted(),
                None => defined.iter().rev().is_sorted(),
            };
            assert!(is_sorted, "column {column}, {wanted}: {keys:?}");
        }
    }
    assert!(undefined > 0, "a column must have an undefined number, or that is not tested");
}

/// The text of the first panel's readout, and the time range of its plot.
const READ: &str = "document.querySelector('.panel .readout').textContent";
const ENDS: &str = "document.querySelector('.panel .js-plotly-plot').layout.xaxis.range";

#[test]
fn a_plot_is_read_zoomed_and_saved_by_keyboard() {
    let Some(mut browser) = Chromium::start("plot") else { return };
    let saved = folder("browser-saved");
    browser.open(&pages()[0], SCREEN);
    let lines = "document.querySelectorAll('#overview .js-line').length";
    assert_eq!(browser.evaluate(lines), 7, "two lines of three schemes, and the bandwidth-delay product");
    browser.evaluate("document.querySelector('#legend button').focus()");
    browser.press(" ");
    assert_eq!(browser.evaluate("document.activeElement.getAttribute('aria-pressed')"), "false");
    assert_eq!(browser.evaluate(lines), 5, "a name hides its lines");
    browser.press("Enter");
    assert_eq!(browser.evaluate(lines), 7);

    browser.evaluate("document.querySelector('.panel .plot').focus()");
    assert!(browser.evaluate(READ).as_str().is_some_and(|words| words.contains("recorded points")));
    browser.press("ArrowRight");
    let read = browser.evaluate(READ);
    assert!(
        ["cwnd", "in flight", "RTT", "queue"].iter().all(|name| read.as_str().expect("words").contains(name)),
        "{read}"
    );
    assert_eq!(
        browser.evaluate("document.querySelector('.panel .readout').getAttribute('aria-live')"),
        "polite"
    );
    let length = |ends: &Value| ends[1].as_f64().expect("an end") - ends[0].as_f64().expect("an end");
    let before = browser.evaluate(ENDS);
    browser.press("+");
    let after = browser.evaluate(ENDS);
    assert!((length(&after) - length(&before) / 2.0).abs() < 1e-9, "{before} {after}");
    browser.press("Escape");
    assert!(browser.evaluate(READ).as_str().is_some_and(|words| words.contains("recorded points")));

    browser.save_into(&saved);
    browser.evaluate("document.querySelector('.panel [data-save]').focus()");
    browser.press("Enter");
    let file = saved.join("slow-start.svg");
    for _ in 0..200 {
        if file.is_file() {
            break;
        }
        browser.evaluate("new Promise((done) => setTimeout(done, 50))");
    }
    let name = browser.evaluate("document.querySelector('.panel h2').textContent");
    let svg = std::fs::read_to_string(saved.join(format!("{}.svg", name.as_str().expect("a name"))))
        .expect("it is saved");
    assert!(
        svg.starts_with("<svg") && svg.contains("Bottleneck queue") && svg.contains("<path"),
        "{svg:.100}"
    );
    assert_eq!(browser.complaints(), "");
}

#[test]
fn a_finger_on_a_plot_scrolls_the_page() {
    let Some(mut browser) = Chromium::start("finger") else { return };
    browser.take_the_mouse_away();
    browser.open(&pages()[0], LOOKS[2]);
    browser.evaluate("document.querySelector('#overview').scrollIntoView({ block: 'start' })");
    let is_plot = browser.evaluate("document.elementFromPoint(200, 300).closest('.nsewdrag') !== null");
    assert_eq!(is_plot, true, "the finger is on the plot");
    let before = browser.evaluate("scrollY").as_f64().expect("a number");
    browser.swipe_up([200, 300], 200);
    let after = browser.evaluate("scrollY").as_f64().expect("a number");
    assert!(after - before > 100.0, "from {before} to {after}");
}

#[test]
fn a_report_of_all_schemes_fits_in_three_megabytes_and_draws_all() {
    let place = folder("browser-all");
    let page = place.join("all.html");
    let output = run(&["race", "--schemes", "all", "--report", text(&page)]);
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    let source = std::fs::read_to_string(&page).expect("UTF-8");
    assert!(source.len() < 3_000_000, "{} bytes", source.len());
    assert_eq!(source.matches("plotly.js (basic").count(), 1, "the script is there once");
    let data =
        source.split_once("id=\"drawing\">").expect("data").1.split_once("</script>").expect("which ends").0;
    assert!(data.len() > 800_000, "{} bytes: the room is there to be used", data.len());
    let Some(mut browser) = Chromium::start("all") else { return };
    browser.open(&page, SCREEN);
    let drawn = "document.querySelectorAll('.panel .js-plotly-plot .main-svg').length > 0 && document.querySelectorAll('.panel .js-plotly-plot').length";
    assert_eq!(browser.evaluate(drawn), 1, "details are drawn on demand");
    browser.evaluate(OPEN_ALL);
    browser.look(Look { width: 1000, dark: false });
    // Slow start and SEARCH are the same run on this path.
    assert_eq!(browser.evaluate(drawn), 17);
    assert_eq!((browser.complaints(), browser.requests(&page)), (String::new(), Vec::new()));
}

/// Returns a text without its blanks, because lines break differently on paper.
fn squeezed(text: &str) -> String {
    text.split_whitespace().collect()
}

/// The words of the tables, cell by cell and line by line, without those of every number, which are folded away and not printed.
const CELLS: &str =
    "[...document.querySelectorAll('table.results :is(td, tbody th a, thead button span), #costs tbody th')]
    .filter((one) => !one.closest('details:not(.printed)'))
    .flatMap((one) => [...one.childNodes].map((node) => node.textContent))";

#[test]
fn printed_page_has_every_row_and_heading_uncut_on_a_light_background() {
    if !paper::can_read() {
        println!("skipped: pdftotext and pdftoppm are not installed, so no page was printed");
        return;
    }
    let Some(mut browser) = Chromium::start("paper") else { return };
    for page in pages() {
        browser.open(page, Look { width: 1280, dark: true });
        let heads: Vec<String> = serde_json::from_value(
            browser.evaluate("[...document.querySelectorAll('h1, h2, .multiples strong')].filter((one) => !one.closest('details.panel:not([open])'))
                    .map((one) => one.textContent)"),
        )
        .expect("words");
        let cells: Vec<String> = serde_json::from_value(browser.evaluate(CELLS)).expect("words");
        let file = page.with_extension("pdf");
        browser.print(&file);
        let printed = squeezed(&paper::text(&file));
        for head in heads {
            assert!(printed.contains(&squeezed(&head)), "{head} in {}", file.display());
        }
        assert!(cells.len() > 20, "{cells:?}");
        for cell in cells {
            assert!(printed.contains(&squeezed(&cell)), "{cell} in {}", file.display());
        }
        // Parts that are folded away on the screen cannot be opened on paper.
        let last = if page == &pages()[3] { "orderstatistics" } else { "drawnpoints" };
        assert!(printed.contains("Definitions") && printed.contains(last), "{}", file.display());
        assert_eq!(paper::outside(&file), Vec::<String>::new(), "{}", file.display());
        paper::is_light(&file);
        // Back on the screen, everything is as before.
        assert_eq!(browser.evaluate("document.documentElement.className"), "");
    }
}
