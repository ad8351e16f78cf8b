use super::*;

#[test]
fn every_queue_reads_back_as_what_it_shows() {
    for text in [
        "1000p",
        "0.3bdp",
        "red:100p",
        "red:100p,min=10p,max=30p,p=0.05,ecn",
        "red:64kB,min=5kB",
        "codel:1000p",
        "codel:1bdp,target=10ms,interval=200ms,ecn",
        "fq-codel:10000p,flows=16,quantum=300B",
        "pie:500p,target=20ms,ecn",
    ] {
        let (limit, aqm) = queue(text).expect(text);
        assert_eq!(show_queue(limit, aqm.as_ref()), text);
    }
    let (limit, aqm) = queue("codel:1000p,ecn").expect("a queue");
    let aqm = aqm.expect("managed");
    assert_eq!(
        (limit, aqm.kind, aqm.ecn, aqm.target),
        (QueueSize::Packets(1000), AqmKind::CoDel, true, None)
    );
}

#[test]
fn queues_that_make_no_sense_are_refused_with_what_is_allowed() {
    for (text, why) in [
        ("codel", Why::NoLimit),
        ("droptail:100p", Why::UnknownWord),
        ("codle:100p", Why::UnknownWord),
        ("codel:0p", Why::Zero),
        ("codel:100p,target", Why::UnknownWord),
        ("codel:100p,min=3p", Why::UnknownWord),
        ("codel:100p,target=0ms", Why::Zero),
        ("codel:100p,ecn=yes", Why::UnknownWord),
        ("fq-codel:100p,flows=65537", Why::TooLarge),
        ("red:100p,min=5kB", Why::Conflict),
        ("red:100p,min=5p,min=6p", Why::Conflict),
        ("codel:100p,ecn,ecn", Why::Conflict),
        ("red:100p,p=0", Why::Zero),
        ("12x", Why::UnknownUnit("x".into())),
    ] {
        assert_eq!(queue(text).expect_err(text).why, why, "{text}");
    }
    for (text, says) in [
        ("fq_codel", "`fq_codel` has no limit; write it behind, as in `fq-codel:1000p`"),
        (
            "pfifo",
            "`pfifo` is not known; write the limit alone for a drop-tail queue, as in `1000p` or `64kB`",
        ),
        ("tail_drop:100p", "`tail_drop` is not known; write the limit alone for a drop-tail queue"),
        ("codle:100p", "`codle` is not known; is `codel` meant?"),
        ("cake", "`cake` is not known; write `fq-codel:1000p`, the nearest queue here"),
        ("fq_codel:1000", "`1000` has no unit; a queue is"),
    ] {
        let error = queue(text).expect_err(text).to_string();
        assert!(error.starts_with(says), "{error}");
    }
    assert_eq!(queue("FQ_CoDel:1000p"), queue("fq-codel:1000p"));
    let error = queue("pie:10p,interval=1s").expect_err("no such setting").to_string();
    assert!(error == "`interval=1s` is not known; pie takes target, ecn", "{error}");
    let error = queue("red:10p,mim=1p").expect_err("a typo").to_string();
    assert_eq!(error, "`mim=1p` is not known; is `min` meant?");
}

#[test]
fn policers_and_aggregation_read_back() {
    for text in ["20mbit,64kB", "1.5gbit,1MB"] {
        let one = policer(text).expect(text).expect("a policer");
        assert_eq!(policer(&show_policer(&one)), Ok(Some(one)));
    }
    assert_eq!(policer("none"), Ok(None));
    for text in ["20mbit", "64kB,20mbit", "0mbit,1kB", "1mbit,0B"] {
        assert!(policer(text).is_err(), "{text}");
    }
    for (text, batch) in [
        ("5ms", Batch::Every(Span::from_millis(5))),
        ("16,30ms", Batch::Of { packets: 16, hold: Span::from_millis(30) }),
    ] {
        assert_eq!(ack_aggregation(text), Ok(Some(batch)));
        assert_eq!(show_ack_aggregation(batch), text);
    }
    assert_eq!(ack_aggregation("16"), Ok(Some(Batch::Of { packets: 16, hold: HOLD })));
    for text in ["none", "0", "0ms"] {
        assert_eq!(ack_aggregation(text), Ok(None), "{text}");
    }
    for text in ["10001", "x,5ms", "0,5ms", "0.1ns"] {
        assert!(ack_aggregation(text).is_err(), "{text}");
    }
}

#[test]
fn a_trace_is_a_list_or_a_file() {
    let list = "0s=100mbit,500ms=0,1s=20mbit";
    let trace = rate_trace(list).expect("a trace");
    assert_eq!(show_rate_trace(&trace), list);
    let path = std::env::temp_dir().join(format!("firstflight-trace-{}", std::process::id()));
    std::fs::write(&path, "# outage\n0s 100mbit\n500ms\t0  # nothing\n\n1s 20mbit\n").expect("a file");
    assert_eq!(rate_trace(path.to_str().expect("a name")), Ok(trace));
    std::fs::remove_file(&path).expect("the file");
    for text in ["1s=1mbit", "0s=1mbit,0s=2mbit", "0s=0", "0s=1mbit,x", "0s=1x", "no such file"] {
        assert!(rate_trace(text).is_err(), "{text}");
    }
    let error = rate_trace("/nonexistent").expect_err("no file").to_string();
    assert!(error.starts_with("`/nonexistent` cannot be read"), "{error}");
}

#[test]
fn a_rate_and_the_first_time_may_be_zero_in_any_unit() {
    let wanted = rate_trace("0s=20mbit,100ms=0,1s=1mbit");
    assert!(wanted.is_ok(), "{wanted:?}");
    for zero in ["0bit", "0kbit", "0mbit", "0gbit", "0.0mbit", "0bit/s"] {
        assert_eq!(rate_trace(&format!("0s=20mbit,100ms={zero},1s=1mbit")), wanted, "{zero}");
    }
    for zero in ["0", "0ns", "0us", "0ms", "0.0s", "0min"] {
        assert_eq!(rate_trace(&format!("{zero}=20mbit,100ms=0,1s=1mbit")), wanted, "{zero}");
    }
    for text in ["0s=1mbit,1s=0.1bit,2s=1mbit", "0s=1mbit,1s=0x,2s=1mbit", "0x=1mbit", "0.1ns=1mbit"] {
        assert!(rate_trace(text).is_err(), "{text}");
    }
}

#[test]
fn a_fault_in_a_trace_file_names_its_line() {
    let path = std::env::temp_dir().join(format!("firstflight-trace-lines-{}", std::process::id()));
    let name = path.to_str().expect("a name");
    for (content, record) in [
        (
            "# rates\n0us 1mbit\n\n1s 5x\n",
            "has `5x` in line 4, which has the unknown unit `x`; a rate trace is",
        ),
        ("0s 1mbit\n1s\n", "has `1s` in line 2, which is not a time and a rate; a rate trace is"),
        (
            "0s 1mbit\n\n2s 2mbit\n1s 3mbit\n",
            "is no trace: its step 3 is not after the one before it, in line 4; ",
        ),
        ("\n1s 1mbit\n", "is no trace: its first step is not at time zero, in line 2; "),
        ("0s 1mbit\n1s 0bit\n# over\n", "is no trace: its last rate is zero, in line 2; "),
        ("# nothing\n", "is no trace: it has no step; "),
    ] {
        std::fs::write(&path, content).expect("a file");
        let error = rate_trace(name).expect_err(content).to_string();
        assert!(error.starts_with(&format!("`{name}` {record}")), "{error}");
    }
    std::fs::remove_file(&path).expect("the file");
}
