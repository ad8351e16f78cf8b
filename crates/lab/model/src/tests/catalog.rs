use std::collections::BTreeSet;

use crate::{MODELS, Model, ModelError, Settings, Sweep, object};

fn model(name: &str) -> &'static Model {
    MODELS.iter().find(|model| model.name == name).unwrap()
}

fn set(name: &str, values: &[(&str, &str)]) -> Result<Settings, ModelError> {
    let mut settings = Settings::of(model(name).parameters)?;
    for (parameter, text) in values {
        settings.set(parameter, text)?;
    }
    Ok(settings)
}

fn row(name: &str, values: &[(&str, &str)]) -> serde_json::Map<String, serde_json::Value> {
    let (settings, rows) = model(name).evaluate(&set(name, values).unwrap()).unwrap();
    assert_eq!(rows.len(), 1);
    object(model(name), &settings, &rows[0])
}

#[test]
fn every_model_answers_for_its_defaults_with_fields_of_different_names() {
    for model in &MODELS {
        let (settings, rows) = model.evaluate(&Settings::of(model.parameters).unwrap()).unwrap();
        for row in &rows {
            let names: BTreeSet<_> = row
                .iter()
                .map(|cell| cell.name.to_owned())
                .chain(settings.iter().map(|(one, _)| one.column()))
                .collect();
            assert_eq!(names.len(), row.len() + settings.iter().count(), "{}", model.name);
            assert!(row.iter().any(|cell| cell.main), "{}", model.name);
            let object = object(model, &settings, row);
            assert_eq!(object["model"], model.name);
            assert!(settings.iter().all(|(one, _)| !object[&one.column()].is_null()), "{object:?}");
        }
    }
}

#[test]
fn segment_and_packet_follow_from_each_other() {
    let sizes = |values| {
        let row = row("slow-start", values);
        (row["mss_bytes"].as_u64().unwrap(), row["packet_bytes"].as_u64().unwrap())
    };
    assert_eq!(sizes(&[]), (1460, 1500));
    assert_eq!(sizes(&[("mss", "536B")]), (536, 576));
    assert_eq!(sizes(&[("packet", "1000B")]), (960, 1000));
    assert_eq!(sizes(&[("mss", "1452B"), ("packet", "1500B")]), (1452, 1500));
    let settings = set("slow-start", &[("packet", "40B")]).unwrap();
    assert_eq!(model("slow-start").evaluate(&settings).unwrap_err().parameter(), "packet");
}

/// 80 ms divided by 8/7 of 80 us is 875, and as a quotient of doubles slightly less.
#[test]
fn a_whole_number_window_is_not_rounded_down() {
    for (available, window, ideal) in [("100%", 875, 1000), ("75%", 875, 750), ("25%", 400, 250)] {
        let row = row("paced", &[("available", available)]);
        assert_eq!((&row["window_packets"], &row["ideal_window_packets"]), (&window.into(), &ideal.into()));
    }
}

#[test]
fn shares_are_swept_in_steps_of_a_twentieth_or_in_twenty() {
    let count = |range: &str| {
        let sweep = Sweep::parse(model("quick-start-probability"), &format!("threshold={range}"), None);
        sweep.unwrap().points.iter().map(|point| point.number()).collect::<Vec<_>>()
    };
    assert_eq!((count("0.05..1").len(), count("0..1").len(), count("0.01..1").len()), (20, 21, 21));
    assert!((count("0..1")[1] - 0.05).abs() < 1e-12 && (count("0.5..1")[1] - 0.55).abs() < 1e-12);
    assert!((count("0.01..1")[1] - 0.0595).abs() < 1e-12);
}

#[test]
fn arrivals_follow_from_load_and_size_unless_given() {
    assert_eq!(row("quick-start-probability", &[])["arrivals_per_s"], 10.0);
    assert_eq!(row("quick-start-probability", &[("load", "40%"), ("size", "1MB")])["arrivals_per_s"], 5.0);
    assert_eq!(row("quick-start-probability", &[("arrivals", "7.5/s")])["arrivals_per_s"], 7.5);
}

#[test]
fn the_default_request_is_the_highest_rate_code_within_the_path_rate() {
    let request = |rate| row("quick-start", &[("rate", rate)])["request_bps"].as_u64();
    for (rate, code) in
        [("10mbit", 5_120_000), ("5.12mbit", 5_120_000), ("1mbit", 640_000), ("10gbit", 1_310_720_000)]
    {
        assert_eq!(request(rate), Some(code), "{rate}");
    }
    let settings = set("quick-start", &[("rate", "79kbit")]).unwrap();
    assert_eq!(model("quick-start").evaluate(&settings).unwrap_err().parameter(), "rate");
}

#[test]
fn text_that_is_no_quantity_is_refused_by_name_in_one_line() {
    for (name, parameter, text) in [
        ("slow-start", "size", "0B"),
        ("slow-start", "rate", "-10mbit"),
        ("slow-start", "rtt", "nan"),
        ("slow-start", "iw", "0p"),
        ("slow-start", "segments-per-ack", "1001"),
        ("quick-start", "request", "inf"),
        ("quick-start", "small", "maybe"),
        ("quick-start-probability", "threshold", "1.5"),
        ("quick-start-probability", "threshold", "101%"),
        ("quick-start-probability", "arrivals", "-1/s"),
        ("quick-start-probability", "arrivals", "NaN"),
        ("quick-start-probability", "halvings", "15"),
        ("quick-start-probability", "halvings", "1.5"),
        ("ring-buffer", "interval", "0ms"),
        ("paced", "available", "-0.1"),
        ("limited", "window", "5000x"),
        ("limited", "division", "round"),
    ] {
        let error = set(name, &[(parameter, text)]).unwrap_err();
        assert_eq!((error.parameter(), error.found()), (parameter, text));
        let line = error.to_string();
        assert!(line.starts_with(parameter) && line.contains(text) && !line.contains('\n'), "{line}");
    }
}

#[test]
fn a_value_outside_the_domain_is_refused_by_name() {
    for (name, parameter, text) in [
        ("slow-start", "segments-per-ack", "0"),
        ("slow-start", "mss", "1600B"),
        ("quick-start", "request", "20mbit"),
        ("quick-start-probability", "deviation", "0"),
        ("paced", "available", "0"),
        ("limited", "max-ssthresh", "1p"),
    ] {
        let settings = set(name, &[(parameter, text), ("packet", "1500B")]).unwrap();
        let error = model(name).evaluate(&settings).unwrap_err();
        assert_eq!(error.parameter(), parameter, "{error}");
    }
}

fn points(name: &str, text: &str, count: Option<u64>) -> Vec<String> {
    let sweep = Sweep::parse(model(name), text, count).unwrap();
    sweep.points.iter().map(ToString::to_string).collect()
}

#[test]
fn a_sweep_has_ten_points_a_decade_or_steps_of_a_twentieth() {
    let sizes = points("slow-start", "size=1kB..10MB", None);
    assert_eq!(sizes.len(), 41);
    assert_eq!((sizes[0].as_str(), sizes[1].as_str(), sizes[40].as_str()), ("1kB", "1259B", "10MB"));
    let shares = points("quick-start-probability", "threshold=0.05..1", None);
    assert_eq!(shares.len(), 20);
    assert_eq!((shares[2].as_str(), shares[19].as_str()), ("0.15", "1"));
    assert_eq!(points("slow-start", "iw=1p..4p", None), ["1p", "2p", "3p", "4p"]);
    assert_eq!(points("slow-start", "rtt=10ms,100ms", None), ["10ms", "100ms"]);
    assert_eq!(points("slow-start", "rate=1mbit..100mbit", Some(3)), ["1mbit", "10mbit", "100mbit"]);
    assert_eq!(points("limited", "division=carry,truncate", None), ["carry", "truncate"]);
    assert_eq!(points("slow-start", "segments-per-ack=1..3", Some(2)), ["1", "3"]);
    assert_eq!(points("quick-start-probability", "arrivals=0/s..10/s", Some(3)), ["0/s", "5/s", "10/s"]);
}

#[test]
fn a_sweep_that_cannot_be_read_is_refused_in_one_line() {
    for (text, count, words) in [
        ("size", None, "`size` names no values"),
        ("sise=1kB..1MB", None, "`sise` is not a parameter of slow-start"),
        ("size=1MB..1kB", None, "does not rise"),
        ("size=1kB..1kB", None, "does not rise"),
        ("size=1kB..", None, "size: ``"),
        ("size=0B..1MB", None, "`0B` is zero"),
        ("size=1kB..1MB", Some(1), "1 points are not allowed"),
        ("size=1kB..1MB", Some(10_001), "10001 points"),
        ("size=1kB,1MB", Some(5), "is a list"),
    ] {
        let line = Sweep::parse(model("slow-start"), text, count).unwrap_err().to_string();
        assert!(line.contains(words) && !line.contains('\n'), "{text}: {line}");
    }
    let line = Sweep::parse(model("limited"), "division=carry..truncate", None).unwrap_err().to_string();
    assert!(line.contains("takes words"), "{line}");
}

#[test]
fn a_sweep_gives_a_row_a_point_with_what_was_swept() {
    let model = model("quick-start");
    let sweep = Sweep::parse(model, "size=10kB,250kB", None).unwrap();
    let answers = sweep.run(model, &Settings::of(model.parameters).unwrap()).unwrap();
    let objects: Vec<_> = answers.iter().map(|(settings, rows)| object(model, settings, &rows[0])).collect();
    assert_eq!((&objects[0]["size_bytes"], &objects[1]["size_bytes"]), (&10_000.into(), &250_000.into()));
    assert_eq!(objects[1]["transfer_s"], row("quick-start", &[])["transfer_s"]);
    let sweep = Sweep::parse(model, "request=5.12mbit,10.24mbit", None).unwrap();
    assert_eq!(
        sweep.run(model, &Settings::of(model.parameters).unwrap()).unwrap_err().parameter(),
        "request"
    );
}
