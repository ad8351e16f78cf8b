//! The laws of hosts: a name and a sentence each.

/// Defines the laws, with the list of them.
macro_rules! laws {
    ($($law:ident, $name:literal, $statement:literal;)+) => {
        /// A law of hosts.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
        pub enum Law {
            $(#[doc = $statement] $law),+
        }

        impl Law {
            /// Every law, in the order of the book.
            pub const ALL: &'static [Self] = &[$(Self::$law),+];

            /// The name, which stays.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$law => $name),+ }
            }

            /// What it says, in one sentence.
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
        "`woken` is said of a wake-up that the plan asks for, and not before it is due.";
    PacketNumbers, "packet-numbers",
        "Transmissions are numbered in the order in which they leave, from zero and without a gap.";
    Tag, "tag",
        "A packet has the tag of the plan that it leaves under.";
    Backlog, "backlog",
        "No more new data leaves than is ready to be sent.";
    Hold, "hold",
        "No new data leaves while the plan is to hold.";
    Window, "window",
        "New data leaves only while it and the pipe fit the window, two segments of limited transmit, a probe of the tail and a \
         repair aside; an empty pipe takes a segment.";
    Rate, "rate",
        "Over any interval no more leaves than the burst and what the rate carries in it, a probe of the tail and a repair \
         aside.";
    Train, "train",
        "Of a train no more new packets leave than it has, each a gap after the one before, and nothing is sent again before \
         they left, a probe of the tail aside.";
    TrainCut, "train-cut",
        "`train-cut` names a train of which packets are still to leave.";
    NewData, "new-data",
        "`new-data` is said only when nothing is in flight and nothing left for longer than the retransmission timeout.";
    Idle, "idle",
        "New data leaves after such an idle time only once `new-data` is said.";
    LastSent, "last-sent",
        "`last_sent` is the instant of the `sent` before.";
    LastReceived, "last-received",
        "`last_received` never goes back, is never ahead, and is the instant of an `acked` there.";
    Retransmission, "retransmission",
        "Only what is outstanding is sent again.";
    PacketAsSent, "packet-as-sent",
        "A packet acknowledged or lost is what left: of the bytes, less what was acknowledged of them before, the tag, the \
         instant, the count of delivered bytes, the limit, and sent again or not.";
    AckedInFlight, "acked-in-flight",
        "A packet acknowledged did leave and was not acknowledged before, but for what a timeout made uncertain.";
    LostInFlight, "lost-in-flight",
        "A packet found lost did leave and was neither acknowledged nor found lost, but for a loss that `spurious-loss` took back.";
    LostBytes, "lost-bytes",
        "The bytes of a loss are those of its packets, and it has no more ranges than packets.";
    AckBytes, "ack-bytes",
        "The bytes of an ACK are those of its packets and a part of one at most, each counted once.";
    AckOrder, "ack-order",
        "The packets of an ACK that were sent once stand in the order of the stream.";
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
        "The pipe is no more than what lies between `una` and `nxt`, and is this without what was selectively acknowledged \
         while nothing was lost, timed out or sent again since all was acknowledged.";
    Rtt, "rtt",
        "`latest_rtt` is the newest sample told, and `min_rtt` the least of them.";
    RttSample, "rtt-sample",
        "A round-trip sample is not zero, and no longer ago than the oldest packet left that it may be of.";
    SpuriousLoss, "spurious-loss",
        "`spurious-loss` follows a loss, a mark or a timeout that it may undo, each once.";
    TimedOut, "timed-out",
        "`timed-out` is said of data in flight, and as repeated just when it was said before and no ACK has advanced since.";
    Marked, "marked",
        "`marked` without `sent_at` is said at most once a window: some packet that left after the mark before is acknowledged.";
    Asked, "asked",
        "`asked` answers what the plan asks for, once for each ask.";
    Advice, "advice",
        "A host passes on one answer to each Quick-Start request that it granted, of no more than the rate asked for.";
    Judged, "judged",
        "What was judged of each ACK and each loss, if it is on record, is what the controller judges.";
}
