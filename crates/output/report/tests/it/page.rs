//! The page as a browser gets it: whole, inert, silent.

use crate::synthetic;

/// The page without the inlined library, which is not ours.
fn ours(page: &str) -> String {
    let start = page.find("<script>/**\n* plotly.js").expect("the library is inlined");
    let end = start + page[start..].find("</script>").expect("and ends") + "</script>".len();
    format!("{}{}", &page[..start], &page[end..])
}

#[test]
fn the_page_asks_no_one_for_anything() {
    let page = synthetic::race(3, 3).page();
    assert_eq!(page.matches("plotly.js (basic").count(), 1, "the library is there once");
    assert_eq!(page.matches("<script").count(), 3, "and no mathematics renderer beside it");
    let ours = ours(&page);
    for way in
        ["http://", "https://", " src=", "fetch(", "XMLHttpRequest", "import(", "@import", "url(", "<link"]
    {
        assert!(!ours.contains(way), "the page has {way}");
    }
    for reference in ours.split("href=\"").skip(1) {
        assert!(reference.starts_with('#'), "a link leads out: {}", &reference[..reference.len().min(40)]);
    }
    assert!(ours.contains("default-src 'none'"), "and the browser is told so");
}

#[test]
fn every_element_is_closed_in_order() {
    let page = synthetic::race(3, 3).page();
    let ours = ours(&page);
    let mut open: Vec<String> = Vec::new();
    let mut rest = ours.as_str();
    while let Some(at) = rest.find('<') {
        rest = &rest[at + 1..];
        let name: String = rest.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '/').collect();
        if let Some(closed) = name.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(closed));
        } else if rest.split('>').next().is_some_and(|tag| tag.ends_with('/')) {
            // An element of a drawing that has no content.
        } else if !name.is_empty() && !["meta", "input", "wbr"].contains(&name.as_str()) {
            if ["script", "style"].contains(&name.as_str()) {
                let end = format!("</{name}>");
                rest = &rest[rest.find(&end).expect("a raw element ends") + end.len()..];
            } else {
                open.push(name);
            }
        }
    }
    assert!(open.is_empty(), "left open: {open:?}");
}

#[test]
fn a_hostile_label_stays_text() {
    let synthetic::MadeUp { mut report, mut recordings } = crate::synthetic::race(1, 1);
    let hostile = "</script><script>alert(1)</script><img src=x onerror=alert(1)>\"'&";
    recordings[0].label = hostile.into();
    report.rows[0].insert("label".into(), hostile.into());
    report.title = hostile.into();
    report.command = hostile.into();
    recordings[0].marks[0].text = hostile.into();
    let page = synthetic::MadeUp { report, recordings }.page();
    assert!(!page.contains("<script>alert") && !page.contains("<img"));
    assert_eq!(page.matches("</script>").count(), 3, "data, library, ours");
    let data = page.split_once("id=\"drawing\">").unwrap().1.split_once("</script>").unwrap().0;
    let data: serde_json::Value = serde_json::from_str(data).expect("the data is JSON");
    assert_eq!(data["flows"][0]["label"], hostile);
}

#[test]
fn words_and_numbers_stand_in_the_page_without_its_script() {
    let race = synthetic::race(3, 3);
    let (report, page) = (&race.report, race.page());
    let page = page.replace("&#x2f;", "/").replace("&quot;", "\"");
    for words in [&report.title, &report.command, &report.verdict, &report.scenario_hash] {
        assert!(page.contains(words.as_str()), "{words}");
    }
    assert!(page.contains("seed 7"));
    let throughput = report.rows[1]["throughput_bps"].as_f64().unwrap();
    assert!(page.contains(&format!("{:.1}", throughput / 1e6)), "in the table");
    assert!(page.contains(&throughput.to_string()), "in full");
    assert!(page.contains("Payload delivered in order over the flow"), "with its definition");
}

#[test]
fn eighteen_schemes_over_fifty_seconds_fit_in_three_megabytes() {
    let page = synthetic::race(18, 50).page();
    assert!(page.len() < 3_000_000, "{} bytes", page.len());
    let data = page.split_once("id=\"drawing\">").unwrap().1.split_once("</script>").unwrap().0;
    assert!(data.len() > 600_000, "{} bytes: the room is used", data.len());
}

#[test]
fn the_first_screen_has_a_point_and_a_window_for_each_run() {
    let page = synthetic::race(5, 3).page();
    let start = page.find("id=\"prices\"").expect("the charts");
    assert!(start < page.find("id=\"verdicts\"").unwrap(), "they are before the table");
    assert_eq!(page.matches("class=\"point").count(), 5);
    assert_eq!(page.matches("class=\"product\"").count(), 5, "each window has the bandwidth-delay product");
    assert_eq!(page.matches("class=\"front\"").count(), 1);
    assert!(!page.contains("The same run, drawn once"), "no two runs are the same");
}

#[test]
fn equal_runs_are_drawn_once_and_named_together() {
    let synthetic::MadeUp { mut report, mut recordings } = synthetic::race(2, 2);
    let (mut row, mut run) = (report.rows[0].clone(), recordings[0].clone());
    row.insert("label".into(), "twin".into());
    run.label = "twin".into();
    report.rows.push(row);
    recordings.push(run);
    let page = synthetic::MadeUp { report, recordings }.page();
    assert!(page.contains("The same run, drawn once: slow-start = twin."));
    assert!(page.contains("<small>the same run: twin</small>"));
    let counts = ["<details class=\"panel\"", "class=\"point"].map(|part| page.matches(part).count());
    assert_eq!(counts, [2, 2]);
    assert_eq!(
        page.matches("data-panel=\"0\"").count(),
        5,
        "panel, point, window, and two rows of the table"
    );
}

#[test]
fn a_race_without_recordings_is_a_page_of_tables() {
    let mut race = synthetic::race(2, 1);
    race.recordings.clear();
    race.report.ideal.clear();
    let page = race.page();
    assert!(page.contains("id=\"verdicts\"") && !page.contains("id=\"overview\""));
}
