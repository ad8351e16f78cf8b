//! The end of a connection with bytes: TIME-WAIT, resets, and silent peers.

use firstflight::Span;
use firstflight_tcp::bytes::{Error, Settings};
use firstflight_tcp::{Config, Flags, Role, Segment};

use super::pipe::{Harm, Pipe, Reader, socket};

/// The maximum segment lifetime of these sockets.
const LIFETIME: Span = Span::from_secs(30);

fn pipe(writes: [u64; 2]) -> Pipe {
    let settings = Settings { lifetime: LIFETIME, ..Settings::default() };
    let config = Config { receive_buffer: 100_000, ..Config::default() };
    let sockets = [Role::Client, Role::Server].map(|role| socket(role, "slow-start", &config, &settings));
    Pipe::new(sockets, writes, [Reader::AtOnce; 2], Harm::default(), 7)
}

fn run(pipe: &mut Pipe, span: Span) {
    pipe.run(pipe.now + span);
}

fn stay_open(pipe: &mut Pipe) {
    for end in 0..2 {
        pipe.stays_open(end);
    }
}

const SECOND: Span = Span::from_secs(1);

/// RFC 9293 section 3.6, case 1.
#[test]
fn only_the_first_closer_waits_for_two_segment_lifetimes() {
    let mut pipe = pipe([5_000, 5_000]);
    pipe.stays_open(1);
    run(&mut pipe, SECOND);
    assert!(pipe.ends[1].socket.is_at_end() && !pipe.ends[1].socket.is_finished());
    pipe.ends[1].socket.shutdown();
    pipe.act();
    run(&mut pipe, SECOND);
    assert!(pipe.ends[1].socket.is_finished(), "its FIN is acknowledged");
    assert!(!pipe.ends[0].socket.is_finished(), "its ACK may have been lost");
    let wait = pipe.ends[0].socket.next_timer().expect("it waits");
    pipe.run(wait - SECOND);
    assert!(!pipe.ends[0].socket.is_finished());
    pipe.run(wait);
    assert!(pipe.ends[0].socket.is_finished() && pipe.ends[0].socket.next_timer().is_none());
    assert_eq!(pipe.ends.each_ref().map(|end| (end.read, end.socket.error())), [(5_000, None); 2]);
}

/// RFC 9293 section 3.6, case 3.
#[test]
fn both_wait_if_both_close_at_once() {
    let mut pipe = pipe([100, 100]);
    stay_open(&mut pipe);
    run(&mut pipe, SECOND);
    for end in &mut pipe.ends {
        end.socket.shutdown();
    }
    pipe.act();
    run(&mut pipe, SECOND);
    let waits = pipe.ends.each_ref().map(|end| end.socket.next_timer().is_some());
    assert_eq!(waits, [true; 2]);
    assert_eq!(pipe.ends.each_ref().map(|end| end.socket.is_finished()), [false; 2]);
    run(&mut pipe, LIFETIME + LIFETIME);
    assert_eq!(pipe.ends.each_ref().map(|end| end.socket.is_finished()), [true; 2]);
}

/// RFC 9293 section 3.10.7.4, TIME-WAIT.
#[test]
fn a_fin_that_comes_again_is_acknowledged_again_and_waited_for_anew() {
    let mut pipe = pipe([100, 0]);
    pipe.stays_open(1);
    run(&mut pipe, SECOND);
    pipe.ends[1].socket.shutdown();
    // The last ACKs are lost for a while.
    pipe.deaf[1] = true;
    pipe.act();
    run(&mut pipe, Span::from_millis(50));
    let first = pipe.ends[0].socket.next_timer().expect("it waits");
    run(&mut pipe, Span::from_secs(20));
    assert!(!pipe.ends[1].socket.is_finished());
    pipe.deaf[1] = false;
    run(&mut pipe, Span::from_secs(42));
    assert!(pipe.ends[1].socket.is_finished(), "its FIN is acknowledged at last");
    assert!(pipe.now > first && !pipe.ends[0].socket.is_finished(), "the wait began anew");
    run(&mut pipe, LIFETIME + LIFETIME);
    assert!(pipe.ends[0].socket.is_finished());
}

/// RFC 1337 section 3.
#[test]
fn a_reset_does_not_cut_the_wait_short() {
    let mut pipe = pipe([100, 100]);
    run(&mut pipe, SECOND);
    let seq = pipe.ends[0].socket.endpoint().next_expected();
    pipe.inject(0, &Segment { seq, flags: Flags::RST, ..Segment::default() }, &[]);
    assert!(!pipe.ends[0].socket.is_finished() && pipe.ends[0].socket.error().is_none());
}

#[test]
fn an_abort_resets_the_peer_which_still_reads_what_arrived() {
    let mut pipe = pipe([3_000, 0]);
    stay_open(&mut pipe);
    run(&mut pipe, SECOND);
    pipe.ends[0].socket.abort();
    assert!(!pipe.ends[0].socket.is_finished(), "the reset is to leave");
    pipe.act();
    assert!(pipe.ends[0].socket.is_finished());
    assert_eq!(pipe.ends[0].socket.error(), Some(Error::Aborted));
    run(&mut pipe, SECOND);
    assert_eq!((pipe.ends[1].socket.error(), pipe.ends[1].read), (Some(Error::Reset), 3_000));
    assert!(pipe.ends[1].socket.is_finished());
    assert_eq!(pipe.ends.each_ref().map(|end| end.resets), [1, 0]);
    assert_eq!(pipe.ends[1].socket.write(b"more"), 0, "nothing is taken after an error");
}

#[test]
fn a_reset_syn_is_refused_and_an_unanswered_syn_times_out() {
    let mut refused = pipe([3_000, 0]);
    refused.deaf = [true; 2];
    refused.act();
    let ack = 1;
    let answer = Segment { ack, flags: Flags::RST.with(Flags::ACK), ..Segment::default() };
    refused.inject(0, &answer, &[]);
    assert_eq!(refused.ends[0].socket.error(), Some(Error::Refused));
    let mut silent = pipe([3_000, 0]);
    silent.deaf = [true; 2];
    run(&mut silent, Span::from_secs(600));
    assert_eq!(silent.ends[0].socket.error(), Some(Error::TimedOut));
    assert!(silent.ends[0].socket.is_finished());
}

#[test]
fn a_silent_peer_times_out_after_the_user_timeout() {
    let mut pipe = pipe([0, 0]);
    stay_open(&mut pipe);
    run(&mut pipe, SECOND);
    pipe.ends[0].socket.set_user_timeout(Span::from_secs(40));
    pipe.deaf = [true; 2];
    assert_eq!(pipe.ends[0].socket.write(&[1; 100]), 100);
    pipe.act();
    run(&mut pipe, Span::from_secs(39));
    assert_eq!(pipe.ends[0].socket.error(), None);
    run(&mut pipe, Span::from_secs(10));
    assert_eq!(pipe.ends[0].socket.error(), Some(Error::TimedOut));
}

#[test]
fn writes_after_shutdown_and_segments_with_a_wrong_payload_are_rejected() {
    let mut pipe = pipe([0, 0]);
    stay_open(&mut pipe);
    run(&mut pipe, SECOND);
    let endpoint = pipe.ends[1].socket.endpoint();
    let (seq, before) = (endpoint.next_expected(), endpoint.stats());
    let segment = Segment { seq, ack: 1, len: 5, window: 100, flags: Flags::ACK, ..Segment::default() };
    pipe.inject(1, &segment, b"four");
    assert_eq!(pipe.ends[1].socket.endpoint().stats(), before);
    pipe.ends[0].socket.shutdown();
    assert_eq!(pipe.ends[0].socket.write(b"late"), 0);
}
