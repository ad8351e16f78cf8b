use proptest::prelude::*;

use super::*;

fn column(field: &str, cells: Cells, rank: u8, texts: &[&str]) -> Column {
    let texts = texts.iter().map(|text| (*text).to_owned()).collect();
    Column { field: field.to_owned(), head: vec![field.to_owned()], cells, rank, texts }
}

fn race(name: &str) -> Vec<Column> {
    vec![
        column("scheme", Cells::Names, 0, &[name]),
        column("law", Cells::Words, 9, &["cubic"]),
        column("cost", Cells::Numbers, 1, &["2.06±0.41, 56/60"]),
        column("throughput", Cells::Numbers, 6, &["59.9±0.41"]),
        column("su_loss", Cells::Numbers, 2, &["14.2±0.68"]),
        column("exit_cause", Cells::Words, 3, &["loss 12/20 @ 0.471±0.055"]),
    ]
}

#[test]
fn a_narrow_grid_keeps_important_columns_and_names_omitted_ones() {
    let grid = Grid::new(race("paced"), Some(79));
    assert_eq!(grid.left_out(), ["law"]);
    let text = grid.plain(Some(79));
    assert!(
        text.contains("\nNot shown for want of width: law; --wide shows all, --columns chooses.\n"),
        "{text}"
    );
    let grid = Grid::new(race("paced"), Some(67));
    assert_eq!(grid.left_out(), ["law", "throughput"]);
    assert!(Grid::new(race("paced"), None).left_out().is_empty());
}

#[test]
fn a_long_name_is_shortened_in_its_parameters_and_told_whole_below() {
    let name = "paced:profile=paper,train=8,first=4,most=1000";
    let text = Grid::new(race(name), Some(80)).plain(Some(80));
    let short = text.lines().nth(1).unwrap().split("  ").next().unwrap();
    assert!(short.starts_with("paced:") && short.contains('…') && short.ends_with("000"), "{text}");
    assert!(text.contains(&format!("{short} is {name}")), "{text}");
    assert!(Grid::new(race(name), None).plain(None).contains(name));
}

#[test]
fn two_names_that_differ_are_never_shown_alike() {
    let names: Vec<String> =
        (0..12).map(|at| format!("paced:profile=paper,train={at},first=4,least=16,most=1000")).collect();
    for most in 14..40 {
        let short = shortened(&names, most);
        let different: BTreeSet<_> = short.iter().collect();
        assert_eq!(different.len(), names.len(), "{short:?}");
        assert!(short.iter().all(|name| name.width() <= most), "{most}: {short:?}");
    }
    let same = [names[0].clone(), names[1].clone(), names[1].clone()];
    let short = shortened(&same, 20);
    assert!(short[1] == short[2] && short[0] != short[1], "{short:?}");
}

#[test]
fn sentences_take_as_many_lines_as_they_need() {
    let columns = vec![
        column("name", Cells::Words, 0, &["size", "rtt"]),
        column(
            "what",
            Cells::Sentences,
            0,
            &["the payload that is to be transferred, in bytes", "round trip"],
        ),
    ];
    let text = Grid::new(columns, Some(30)).plain(Some(30));
    assert_eq!(
        text,
        "name  what\nsize  the payload that is to\n      be transferred, in bytes\nrtt   round trip\n"
    );
}

#[test]
fn columns_line_up_with_wide_letters() {
    let columns = vec![
        column("scheme", Cells::Names, 0, &["提速方案", "paced"]),
        column("cost", Cells::Numbers, 1, &["1.00", "12.5"]),
    ];
    let grid = Grid::new(columns, Some(80));
    let width = |row| grid.row(row, &|_, cell| cell)[0].width();
    assert_eq!(width(0), width(1));
}

proptest! {
    #[test]
    fn from_eighty_columns_on_a_race_of_means_fits(
        names in proptest::collection::vec("[a-z]{3,16}(:[a-z]{2,9}=[0-9]{1,4}(,[a-z]{2,9}=[0-9]{1,4}){0,6})?", 1..8),
        width in 80_usize..260
    ) {
        let mut columns = race("");
        for column in &mut columns {
            column.texts = if column.field == "scheme" { names.clone() } else { vec![column.texts[0].clone(); names.len()] };
        }
        let grid = Grid::new(columns, Some(width));
        for row in 0..names.len() {
            for line in grid.row(row, &|_, cell| cell) {
                prop_assert!(line.width() <= width, "{}", line);
            }
        }
        for essential in ["cost", "su_loss", "exit_cause"] {
            prop_assert!(!grid.left_out().iter().any(|field| field == essential));
        }
    }
}
