//! The definitions and the limits of a score in words, for the documentation and the page.

/// The measures and their definitions, word for word as in docs/score.md.
pub const MEASURES: [(&str, &str); 19] = [
    ("row", "One scheme's run over one path with one seed. A race is all schemes' rows of a path and seed."),
    (
        "cost",
        "Flow completion time over the clairvoyant ideal, as in `race`. The ideal takes what a constant rate leaves, and \
         beside bulk TCP a fair share, and knows no random loss.",
    ),
    (
        "law",
        "The avoidance law that governs after start-up: a difference between schemes of two laws may be the laws'.",
    ),
    (
        "under 1",
        "The rows that cost less than 1, over all rows. There the flow took more than the ideal does: others' packets were \
         dropped for it, still wait, or were yet to come, or others left rate unused, for random loss is theirs too. A median \
         under 1 tells of the others, not of the start-up alone.",
    ),
    (
        "given up",
        "The transfer did not end within the sweep's `give-up`, or, in a sweep without, within the path's `limit`, which \
         knows no ideal and may be less than it; or its connection was aborted before that, which ends the flow's life.",
    ),
    (
        "loss",
        "Own data packets dropped over data packets sent, until the end or until it was given up. A row that sent no data, \
         since its SYN did not come through, has none and is not in it.",
    ),
    (
        "queue",
        "The mean queue while the flow lives, the packet in transmission not counted, as time to drain over the base RTT, \
         each packet taken for a full one. On paths where nobody else keeps a queue (no cross traffic, or a constant rate) it \
         is what the flow added; beside bulk TCP and others who come and go, and along a trace of rates, it is not defined, \
         and those rows are not in it.",
    ),
    ("timeouts", "Retransmission timeouts of data; those of a SYN are not among them."),
    (
        "harm",
        "What others delivered less because of the flow (the same seed without it), over the flow's life, as a share of \
         the bottleneck's rate, in the mean of the hops where each has others of its own. Without others, along a trace of \
         rates and at a policer it is not defined, and those rows are not in it. Beside bulk TCP a fair \
         share is harm too, and it is of payload, of which the rate has room for so much less: 97.3 % with 1460 B in packets of \
         1500. What others deliver less after the flow's last byte is not counted. Over all paths it pools a constant rate, which \
         cannot give way, with bulk TCP, which does: by class of cross traffic they are apart.",
    ),
    (
        "beyond fair",
        "The rows beside N bulk TCP flows whose harm is more than a fair share, 1/(N + 1) of the rate, over all rows beside bulk TCP. \
         Harm is of payload and the share of IP bytes, so that it takes a little more than the share. Rows whose harm is not \
         defined are in neither number.",
    ),
    (
        "over best",
        "Its cost over the least cost of the race. It leaves out races that nobody finished, and is `never` for a scheme \
         that did not finish one that another did.",
    ),
    (
        "percentile",
        "The least value that is not below that share of the rows: always a value that was measured, never an \
         interpolation. A row that was given up counts as worse than every row that ended; nothing is left out of cost. \
         With `give-up` it is; with a `limit` alone that is a convention: it may have been given up at less than another's cost.",
    ),
    (
        "best alone, tied",
        "The races that this scheme alone won, over the races that somebody finished; and those won to the nanosecond \
         together with others. On short transfers many schemes do the same thing, and most of a scheme's \
         wins there are ties.",
    ),
    (
        "against the first",
        "Races in which it cost less, and more, than the first: the scheme of the least median cost, and where medians tie \
         or were given up that of the lower 90th, then 99th percentile, then that which gave up fewer rows, then that of \
         the least median of those that ended. In the text `?` is beside those that are not told apart from it, `<` beside those that are \
         faster than it more often all the same, by the sign test. A row that was given up costs more than one that ended, and two of them tie.",
    ),
    (
        "within 1 %",
        "At most a hundredth slower than the best of the race, over the races that somebody finished: the column to \
         look at.",
    ),
    (
        "over bound",
        "Its cost over that of the ideal that knows the path after one round trip: an initial window leaves after the handshake, a \
         base round trip later the rest leaves at the rate available. No sender without help and memory that begins with this \
         window can cost less alone. `within 5 %` are the rows that cost at most a twentieth more. The bound knows no random loss and no \
         standing queue of others, and is not defined where the rate available changes, of several bottlenecks, and without one transfer \
         of a size; those rows are not in it. A scheme whose own initial window is larger than the path's may be under it.",
    ),
    (
        "behind",
        "The payload that this ideal has delivered by 2, 3 and 5 base round trips after a handshake that takes one, over what the \
         flow has: the start-up without the law that follows it, if that has not begun by then. It is `nothing yet` where the flow has \
         delivered none.",
    ),
    (
        "rate found",
        "The rate that the exit found over the rate available to the flow, a fair share beside bulk TCP: the tenth percentile, the median \
         and the ninetieth. Rows whose exit found no rate are not in it. `rate_over` has it, and `rate_under` the inverse, for each tail.",
    ),
    (
        "queue loss",
        "The part of loss that queues and policers did: own data packets that they dropped over data packets sent, and the mean of that \
         over the rows. The rest of loss is random.",
    ),
];

/// The limits of the score, as in docs/score.md.
pub const LIMITS: [&str; 4] = [
    "Each scheme runs with its defaults and its own avoidance law: a difference may be the law's. Random loss hits the \
     law more than the start-up.",
    "`quick-start` is asked of routers that all answer, if only to refuse; `careful-resume` and `leap-saved` know what one slow start of the same \
     size over the same path had acknowledged in its last round trip, which of a short transfer is little.",
    "The paths are a space that was sampled evenly, not anybody's traffic.",
    "The axes of the classes overlap; a class is not a cause.",
];
