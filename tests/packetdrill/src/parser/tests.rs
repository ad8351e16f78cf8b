use super::*;
use crate::syntax::{EcnField, Errno, Expression, Packet, TcpOption};

fn only(line: &str) -> Action {
    let script = parse(&format!("0 f() = 0\n{line}\n")).expect("readable");
    assert_eq!(script.events.len(), 2);
    script.events[1].action.clone()
}

fn refused(text: &str) -> Problem {
    parse(text).expect_err("not in the language")
}

#[test]
fn a_segment_has_flags_sequence_window_and_options() {
    let Action::Inbound(packet) = only(
        "+.1 < [ce] SE. 0:1(1) ack 7 win 9 <mss 1000,sackOK,TS val 1 ecr 2,sack 3:4 5:6,nop,wscale 7,eol>",
    ) else {
        panic!("not inbound")
    };
    assert_eq!(
        packet,
        Packet {
            ecn: Some(EcnField::Ce),
            flags: 0x52,
            seq: 0,
            len: 1,
            ack: 7,
            window: Some(9),
            urgent: 0,
            options: Some(vec![
                TcpOption::Mss(1000),
                TcpOption::SackPermitted,
                TcpOption::Timestamps { value: 1, echo: 2 },
                TcpOption::Sack(vec![(3, 4), (5, 6)]),
                TcpOption::Nop,
                TcpOption::WindowScale(7),
                TcpOption::End,
            ]),
        }
    );
}

#[test]
fn any_options_are_for_outbound_packets_only() {
    let Action::Outbound(packet) = only("* > . 1:1(0) ack 1 <...>") else { panic!("not outbound") };
    assert_eq!(packet.options, None);
    assert_eq!(refused("0 < . 1:1(0) ack 1 <...>").line, 1);
}

#[test]
fn a_call_has_arguments_a_result_and_an_error() {
    let Action::Call(call) = only(
        "+0...0.2 poll([{fd=3, events=POLLIN|POLLOUT, revents=0}], 1, ...) = -1 EINTR (Interrupted call)",
    ) else {
        panic!("not a call")
    };
    assert_eq!(
        (call.name.as_str(), call.blocks_for, &call.errno),
        ("poll", Some(200_000), &Some(Errno::Named("EINTR".to_owned())))
    );
    assert_eq!(call.result, Expression::Integer(-1));
    let Expression::List(list) = &call.arguments[0] else { panic!("not a list") };
    let Expression::Struct(members) = &list[0] else { panic!("not a struct") };
    assert_eq!(members[0], ("fd".to_owned(), Expression::Integer(3)));
}

#[test]
fn a_time_range_or_star_is_for_outbound_packets_only() {
    for line in ["* f() = 0", "+0~+1 f() = 0", "0~1 < . 1:1(0) ack 1"] {
        assert_eq!(refused(&format!("0 f() = 0\n{line}")).line, 2, "{line}");
    }
}

#[test]
fn a_definition_replaces_the_word() {
    let script =
        parse("--define=PROTO=IPPROTO_TCP\n0 socket(..., SOCK_STREAM, PROTO) = 3").expect("readable");
    let Action::Call(call) = &script.events[0].action else { panic!("not a call") };
    assert_eq!(call.arguments[2], Expression::Word("IPPROTO_TCP".to_owned()));
}

#[test]
fn the_line_of_a_fault_is_told() {
    assert_eq!(refused("0 f() = 0\n\n+0 < . 1:3(1) ack 1").line, 3);
    assert_eq!(refused("0 f() = 0\n+0 < X 1:2(1) ack 1").line, 2);
    assert_eq!(refused("0 f() = 0\n+0 < . 1:2(1) ack 1 <mss 70000>").line, 2);
    assert_eq!(refused("").line, 1);
    assert_eq!(refused("1 f() = 0").line, 1);
}

#[test]
fn deep_nesting_is_refused_not_followed() {
    assert_eq!(refused(&format!("0 f({}", "[".repeat(100_000))).line, 1);
}
