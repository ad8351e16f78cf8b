//! RACK-TLP (RFC 8985) over a line.

use std::cell::RefCell;
use std::rc::Rc;

use firstflight::avoidance::Reno;
use firstflight::restart::Rfc5681;
use firstflight::schemes::{Initial, SlowStart};
use firstflight::{Controller, Event, Path, Plan, Span, Startup, Step, Time};
use firstflight_tcp::{Config, Endpoint, Role, Segment};

use super::connection::dropping;
use super::line::{Line, Verdict, config, millis};

const DELAY: Span = Span::from_millis(20);

/// Returns the index of a full segment of the client's data.
fn index(client: bool, segment: &Segment) -> Option<u32> {
    (client && segment.len > 0).then(|| (segment.seq - 1) / 1_000)
}

#[test]
fn at_a_timeout_what_left_within_a_round_trip_is_not_lost() {
    let config = Config {
        receive_buffer: 1_000_000,
        min_rto: Span::from_millis(200),
        tail_loss_probe: false,
        frto: false,
        ..config()
    };
    let mut line = Line::new(&config, &config, DELAY);
    line.client.open(line.now);
    line.client.write(100_000);
    line.run(millis(1_000), |_, _, _| Verdict::Pass);
    // One segment is lost. Others follow shortly before it times out, too late for their ACKs to show that.
    line.client.write(1_000);
    line.run(
        millis(1_204),
        |_, client, segment| {
            if index(client, segment).is_some() { Verdict::Drop } else { Verdict::Pass }
        },
    );
    for at in (1_205..1_240).step_by(5) {
        line.client.write(1_000);
        line.run(millis(at), |_, _, _| Verdict::Pass);
    }
    line.run(millis(1_240), |_, _, _| Verdict::Pass);
    assert_eq!(line.client.stats().timeouts, 1);
    let info = line.client.info();
    assert_eq!((info.outstanding, info.lost, info.resent), (8, 1, 1), "only the first is, and left again");
}

#[test]
fn duplicate_reports_widen_the_reordering_window_until_spurious_retransmissions_stop() {
    let config = Config { receive_buffer: 64_000, ..config() };
    let mut line = Line::new(&config, &config, DELAY);
    line.client.open(line.now);
    line.client.write(6_000_000);
    // One segment in a hundred takes 25 ms longer each time, more than half of the RTT.
    line.run(millis(60_000), |_: Time, client, segment| match index(client, segment) {
        // Two segments overtake this one, which shows reordering before anything is retransmitted.
        Some(7) => Verdict::Delay(Span::from_millis(5)),
        Some(index) if index % 100 == 50 => Verdict::Delay(Span::from_millis(25)),
        _ => Verdict::Pass,
    });
    let stats = line.client.stats();
    assert_eq!(stats.timeouts, 0);
    let retransmissions = stats.retransmissions;
    // A quarter and half of an RTT are too short, three quarters are enough; and SACK counting finds the first.
    assert!((1..=4).contains(&retransmissions), "{retransmissions} of 60 late ones were sent again");
}

/// Slow start that records the packets reported lost to it, and the flight of each report.
#[derive(Clone, Debug)]
struct Told {
    inner: SlowStart,
    lost: Rc<RefCell<Vec<(u64, u64)>>>,
}

impl Startup for Told {
    fn on(&mut self, event: &Event<'_>, path: &Path) -> Step {
        if let Event::Lost(loss) = event {
            let packets = loss.packets.iter().map(|packet| (packet.packet, path.flight.get()));
            self.lost.borrow_mut().extend(packets);
        }
        self.inner.on(event, path)
    }

    fn plan(&self, path: &Path) -> Plan {
        self.inner.plan(path)
    }
}

#[test]
fn a_probe_repaired_loss_is_reported_with_the_lost_packet_and_flight() {
    let lost = Rc::new(RefCell::new(Vec::new()));
    let initial = Initial { segments: 10, ssthresh: None };
    let told = Told { inner: SlowStart::new(initial), lost: Rc::clone(&lost) };
    let control = Controller::new(told, Rfc5681::new(initial), Reno::new());
    let mut line = Line::between(Endpoint::new(Role::Client, &config(), control), &config(), DELAY);
    line.client.open(line.now);
    line.client.write(10_000);
    line.run(millis(1_000), dropping(vec![9]));
    assert_eq!(line.client.stats().probes, 1);
    // The probe stays open until later data is acknowledged without a duplicate.
    line.client.write(1_000);
    line.run(millis(2_000), |_, _, _| Verdict::Pass);
    assert_eq!(*lost.borrow(), [(9, 1_000)]);
}

/// RFC 8985 section 6.2 step 2: a retransmission whose answer echoes an older timestamp is no evidence about packets sent before it.
#[test]
fn a_spurious_timeout_shown_by_timestamp_retransmits_one_segment() {
    let host = Config { timestamps: true, ..config() };
    let mut line = Line::new(&host, &host, DELAY);
    line.client.open(line.now);
    line.client.write(400_000);
    let mut still = false;
    line.run(millis(10_000), |now, client, segment| {
        still |= client && segment.len > 0 && segment.seq == 30_001;
        // The path delivers nothing for a while, and loses nothing.
        let held = client && still && now < millis(3_000);
        if held { Verdict::Delay(millis(3_000).since(now)) } else { Verdict::Pass }
    });
    let stats = line.client.stats();
    assert_eq!(line.server.stats().received, 400_000);
    assert_eq!((stats.timeouts, stats.retransmissions, stats.undone), (1, 1, 1));
}
