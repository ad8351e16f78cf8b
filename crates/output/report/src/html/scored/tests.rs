use super::*;
use crate::score::tests::judged_rows;
use firstflight_lab::score::{distributions, score};

fn page(rows: usize) -> String {
    let rows: Vec<_> = judged_rows().into_iter().take(rows).collect();
    render(&Scored {
        version: "0.0.0".into(),
        command: "firstflight score grid --report <script>.html".into(),
        missing: Some("Not the whole sweep: 1 of 2 parts are missing; 2 of 4 paths are scored.".into()),
        facts: vec![("paths", "2".into())],
        give_up: Some(20),
        groups: score(&rows),
        distributions: distributions(&rows),
    })
    .expect("renders")
}

/// Returns the texts of the elements in each row of a table.
fn rows(page: &str, id: &str) -> Vec<Vec<String>> {
    let table = page.split_once(&format!("id=\"{id}\"")).expect(id).1.split_once("</table>").expect("ends").0;
    let body = table.split_once("<tbody>").expect("a body").1;
    let text = |cell: &str| {
        let mut text = String::new();
        let mut is_tag = false;
        for c in cell.chars() {
            match c {
                '<' => is_tag = true,
                '>' => is_tag = false,
                c if !is_tag => text.push(c),
                _ => {}
            }
        }
        text.replace("&gt;", ">")
    };
    body.split("</tr>")
        .map(|row| row.split("data-key=").skip(1).map(|cell| text(&format!("<{cell}"))).collect())
        .filter(|row: &Vec<String>| !row.is_empty())
        .collect()
}

#[test]
fn the_cost_table_has_every_scheme_and_counts_unfinished_runs() {
    let page = page(4);
    let rows = rows(&page, "costs");
    // Each row has the scheme, its law, the share, and the count.
    assert_eq!(
        rows,
        [
            [
                "paced reno",
                "2",
                "50.0 1",
                "1.50",
                "&gt;20",
                "&gt;20",
                "0",
                "50.0 1",
                "0",
                "50.0 1",
                "1.00",
                "never",
                "never",
                "–",
                "–"
            ],
            [
                "slow-start reno",
                "2",
                "0",
                "2.00",
                "3.00",
                "3.00",
                "0",
                "50.0 1",
                "0",
                "50.0 1",
                "1.00",
                "1.33",
                "1.33",
                "50.0 1",
                "50.0 1"
            ],
        ]
        .map(|row| row.map(|cell| cell.replace("&gt;", ">")).to_vec())
    );
    assert!(page.contains("Not the whole sweep"), "what is missing is said");
    assert!(!page.contains("finished by no scheme"), "each race was finished by some scheme");
    assert!(
        page.contains("<summary>Every number of cbr 30-60 %: 1 race</summary>"),
        "each class has all numbers"
    );
}

#[test]
fn the_page_of_a_score_asks_for_nothing_and_holds_its_definitions() {
    let page = page(4);
    for way in
        ["http://", "https://", " src=", "fetch(", "XMLHttpRequest", "import(", "@import", "url(", "<link"]
    {
        assert!(!page.contains(way), "the page has {way}");
    }
    assert!(
        page.contains("default-src 'none'") && !page.contains("<script>.html"),
        "a hostile name stays text"
    );
    assert_eq!(page.matches("<script").count(), 2);
    let text =
        page.replace("&#x27;", "'").replace("&quot;", "\"").replace("&#x2f;", "/").replace("&lt;", "<");
    for (name, meaning) in MEASURES {
        assert!(text.contains(&format!("<dt>{name}</dt><dd>{}</dd>", meaning.replace('`', ""))), "{name}");
    }
    assert!(LIMITS.iter().all(|limit| text.contains(&limit.replace('`', ""))));
    assert!(page.len() < 200_000, "{} bytes", page.len());
}

#[test]
fn the_heat_map_has_the_ratio_to_the_lowest_median_of_each_class() {
    let page = page(4);
    let table = page.split_once("class=\"heat\"").expect("a map").1.split_once("</table>").expect("ends").0;
    // Paced has the lowest median over all paths; slow-start has 2.00 over 1.50.
    let all = table.split_once("<tbody>").expect("a body").1.split_once("</tr>").expect("a row").0;
    for part in [
        ">1.00</td>",
        ">1.33</td>",
        "all paths. slow-start: median cost 2.00, 1.33 × the lowest;",
        "heat-0",
        "heat-3",
    ] {
        assert!(all.contains(part), "{part} in {all}");
    }
    assert!(table.contains("cbr 30-60 %"), "{table}");
}

#[test]
fn steps_end_at_the_share_that_finished() {
    let one = |value| Weighted { value, weight: 1.0 };
    let steps = Steps::new(&[1.0, 1.5, 4.0].map(one), 4.0);
    assert_eq!((steps.x, steps.y), (vec![1.0, 1.5, 4.0], vec![0.25, 0.5, 0.75]));
    let many: Vec<Weighted> = (0..100_001).map(f64::from).map(one).collect();
    let steps = Steps::new(&many, 200_002.0);
    assert!(steps.x.len() <= MAX_STEPS + 1 && steps.x.is_sorted() && steps.y.is_sorted());
    assert_eq!((steps.x.last(), steps.y.last()), (Some(&100_000.0), Some(&0.5)));
    // At each step, the curve has the share of values at or below it.
    for (x, y) in steps.x.iter().zip(&steps.y) {
        assert!((y - (x + 1.0) / 200_002.0).abs() < 1e-6, "{x} {y}");
    }
}
