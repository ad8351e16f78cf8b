//! The laws of hosts. Each has a name and a sentence.

/// Defines [`Law`], and the list of all laws.
macro_rules! laws {
    ($($law:ident, $name:literal, $statement:literal;)+) => {
        /// A law that the calls of every host must keep.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
        pub enum Law {
            $(#[doc = $statement] $law),+
        }

        impl Law {
            /// Every law, in the order of docs/reference/laws.md.
            pub const ALL: &'static [Self] = &[$(Self::$law),+];

            /// Returns the name of the law. It never changes.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$law => $name),+ }
            }

            /// Returns the law in one sentence.
            pub const fn statement(self) -> &'static str {
                match self { $(Self::$law => $statement),+ }
            }
        }
    };
}

laws! {
    Begin, "begin",
        "The first call is `begin fresh`, no other is, and of further begins a host says none but `path-change`.";
    Established, "established",
        "`established` comes once, and before any data leaves, is acknowledged, lost or timed out.";
    Time, "time",
        "Time never goes back.";
    MssChanged, "mss-changed",
        "The segment size changes just when `mss-changed` says so.";
    Cwnd, "cwnd",
        "`cwnd` of the path is the window of the plan before.";
    Wake, "wake",
        "`wake` of the path is the wake-up of the plan before.";
    Woken, "woken",
        "`woken` reports a wake-up that the plan requests, and not before it is due.";
    PacketNumbers, "packet-numbers",
        "Transmissions are numbered in the order in which they leave, from zero and without a gap.";
    Tag, "tag",
        "A packet has the tag of the plan that it leaves under.";
    Backlog, "backlog",
        "No more new data leaves than is ready to be sent.";
    Hold, "hold",
        "No new data leaves while the plan is to hold.";
    Window, "window",
        "New data is sent only while it and the pipe fit the window, except for two segments of limited transmit, a tail loss probe and a \
         repair; an empty pipe takes a segment.";
    Rate, "rate",
        "Over any interval no more is sent than the burst and what the rate carries in it, except for a tail loss probe and a repair.";
    Train, "train",
        "A train sends no more new packets than it has, each a gap after the previous one, and nothing is retransmitted before they are \
         sent, except for a tail loss probe.";
    TrainCut, "train-cut",
        "`train-cut` names a train of which packets are still to leave.";
    NewData, "new-data",
        "`new-data` is said only when nothing is in flight and nothing left for longer than the retransmission timeout.";
    Idle, "idle",
        "After an idle time as in `new-data`, new data is sent only once `new-data` is said.";
    LastSent, "last-sent",
        "`last_sent` is the instant of the `sent` before.";
    LastReceived, "last-received",
        "`last_received` never goes back, is never ahead, and is the instant of an `acked` there.";
    Retransmission, "retransmission",
        "Only outstanding data is retransmitted.";
    PacketAsSent, "packet-as-sent",
        "A packet acknowledged or lost is as it was sent: its bytes, less those acknowledged before, its tag, its instant, its count of \
         delivered bytes, its limit, and whether it is a retransmission.";
    AckedInFlight, "acked-in-flight",
        "A packet acknowledged did leave and was not acknowledged before, but for what a timeout made uncertain.";
    LostInFlight, "lost-in-flight",
        "A packet found lost did leave and was neither acknowledged nor found lost, but for a loss that `spurious-loss` took back.";
    LostBytes, "lost-bytes",
        "The bytes of a loss are those of its packets, and it has no more ranges than packets.";
    AckBytes, "ack-bytes",
        "The bytes of an ACK are those of its packets and a part of one at most, each counted once.";
    AckOrder, "ack-order",
        "The packets of an ACK that were sent once are in the order of the stream.";
    AckSacked, "ack-sacked",
        "The selectively acknowledged bytes of an ACK are those of its packets that it says so of.";
    AckSegments, "ack-segments",
        "The segments by which an ACK advances are the packets that it acknowledges cumulatively and some that were \
         selectively acknowledged before.";
    AckAdvanced, "ack-advanced",
        "An ACK advances by what it delivers cumulatively, by what was selectively acknowledged before and by an end of \
         the stream.";
    Duplicate, "duplicate",
        "A duplicate ACK does not advance, and of what is outstanding; one that only acknowledges selectively is a duplicate.";
    Una, "una",
        "`una` advances by what an ACK says, or for a packet host to where the newest acknowledged packet ends and to `nxt` \
         when nothing is in flight, and by nothing else.";
    Nxt, "nxt",
        "`nxt` advances by the new data that leaves and once by the end of the stream, and is never behind `una`.";
    Delivered, "delivered",
        "`delivered` grows by the bytes of each ACK, and by nothing else.";
    Flight, "flight",
        "`flight` is what lies between `una` and `nxt`, or for a host without a stream the pipe, except where a law is to halve it.";
    Pipe, "pipe",
        "The pipe is at most `nxt - una`, and is `nxt - una` less what was selectively acknowledged while nothing was lost, timed out or \
         retransmitted since all was acknowledged.";
    Rtt, "rtt",
        "`latest_rtt` is the newest sample reported, and `min_rtt` the minimum of the samples.";
    RttSample, "rtt-sample",
        "A round-trip sample is not zero, and no longer than the time since the oldest packet that it may be of was sent.";
    SpuriousLoss, "spurious-loss",
        "`spurious-loss` follows a loss, a mark or a timeout that it may undo, each once.";
    TimedOut, "timed-out",
        "`timed-out` is said of data in flight, and as repeated just when it was said before and no ACK has advanced since.";
    Marked, "marked",
        "`marked` without `sent_at` is said at most once a window: some packet that left after the mark before is acknowledged.";
    Asked, "asked",
        "`asked` answers what the plan requests, once for each request.";
    Advice, "advice",
        "A host passes on one answer to each Quick-Start request that it granted, of at most the requested rate.";
    Judged, "judged",
        "What was judged of each ACK and each loss, if it is on record, is what the controller judges.";
}
