//! The definitions and the limits of a score in words, for the documentation and the page.

/// The measures and their definitions, word for word as in docs/guide/score.md.
pub const MEASURES: [(&str, &str); 22] = [
    ("row", "One scheme's run over one path with one seed. A race is all schemes' rows of a path and seed."),
    (
        "cost",
        "Flow completion time over the clairvoyant ideal, as in `race`. The ideal takes the rate that a constant rate leaves, and a fair \
         share with bulk TCP, and has no random loss.",
    ),
    ("completion", "Flow completion time, from the SYN to the delivery of the last byte, in milliseconds."),
    (
        "weight",
        "The number of a population's paths that a path represents, scaled so that the mean over the paths is 1. Shares, means and \
         percentiles count each row with the weight of its path. Without a population every weight is 1.",
    ),
    (
        "law",
        "The avoidance law that governs after start-up: a difference between schemes of two laws may be the laws'.",
    ),
    (
        "under 1",
        "The rows that cost less than 1, over all rows. There the flow took more than the ideal does: others' packets were dropped because \
         of it, still wait, or were yet to come, or others left rate unused, because random loss hits them too. A median under 1 describes \
         the others, not the start-up alone.",
    ),
    (
        "given up",
        "The transfer did not end within the sweep's `give-up`, or, in a sweep without, within the path's `limit`, which \
         knows no ideal and may be less than it; or its connection was aborted before that, which ends the flow's life.",
    ),
    (
        "loss",
        "Own data packets dropped over data packets sent, until the end or until it was given up. A row that sent no data, because its SYN \
         was not delivered, has no loss and is left out.",
    ),
    (
        "queue",
        "The mean queue during the flow's life, without the packet in transmission, as time to drain over the base RTT; each packet counts \
         as a full one. On paths where no other flow keeps a queue (no cross traffic, or a constant rate) it is what the flow added. With \
         bulk TCP and with others that come and go, and along a trace of rates, it is undefined, and those rows are left out.",
    ),
    ("timeouts", "Retransmission timeouts of data; those of a SYN are not among them."),
    (
        "harm",
        "Bytes that others delivered less because of the flow, from its start until harm is over (`harm_bytes` in exports.md), for \
         each byte that it carried. About 1 is sharing on a link that others fill, and what is above is waste: windows that were \
         cut, and have to grow again. Rows without others, and those that met their limit, are not in it.",
    ),
    (
        "harm during",
        "What others delivered less because of the flow (compared with the same seed without it), over the flow's life, as a share of the \
         bottleneck's rate; the mean over the hops if each has separate cross traffic. Without others, along a trace of rates and at a \
         policer it is undefined, and those rows are left out. With bulk TCP a fair share is harm too. Harm is of payload, which is less \
         than the rate: 97.3 % with 1460 B in packets of 1500. What others deliver less after the flow's last byte is not counted here: \
         where others fill the link, harm during is the flow's own throughput. Over all paths it pools a constant rate, which cannot give \
         way, with bulk TCP, which does; the classes of cross traffic separate them.",
    ),
    (
        "beyond fair",
        "The rows with N bulk TCP flows whose harm during the flow exceeds a fair share, 1/(N + 1) of the rate, over all rows with bulk \
         TCP. Harm is of payload and the share of IP bytes, so a row counts only if it takes a little more than the share. Rows whose harm \
         is undefined are in neither number.",
    ),
    (
        "over best",
        "Its cost over the smallest cost of the race. It leaves out races that no scheme finished, and is `never` for a scheme that did \
         not finish a race that another did.",
    ),
    (
        "percentile",
        "The smallest value that is not below that share of the rows: always a measured value, never an interpolation. A row that was \
         given up counts as worse than every row that ended; nothing is left out of cost. With `give-up` it is worse; with a `limit` alone \
         that is a convention: it may have been given up at less than another's cost.",
    ),
    (
        "best alone, tied",
        "The races that this scheme alone won, over the races that somebody finished; and those won to the nanosecond \
         together with others. On short transfers many schemes do the same thing, and most of a scheme's \
         wins there are ties.",
    ),
    (
        "against the first",
        "Races in which it cost less, and more, than the first: the scheme with the smallest median cost. Where medians tie or were given \
         up, the first is the scheme with the lower 90th, then 99th percentile, then the one that gave up fewer rows, then the one with \
         the smallest median of the rows that ended. In the text `?` marks schemes that the sign test does not distinguish from the first, \
         `<` those that are nevertheless faster than it more often, by the sign test. A row that was given up costs more than one that \
         ended, and two rows that were given up tie.",
    ),
    (
        "within 1 %",
        "At most a hundredth slower than the best of the race, over the races that somebody finished: the column to \
         look at.",
    ),
    (
        "over bound",
        "Its cost over that of the ideal that knows the path after one round trip: an initial window is sent after the handshake, and one \
         base RTT after that the rest at the rate available. No sender without help and memory that begins with this window can cost less \
         alone. `within 5 %` are the rows that cost at most a twentieth more. The bound has no random loss and no standing queue of \
         others. It is undefined where the rate available changes, with several bottlenecks, and without one transfer of a size; those \
         rows are left out. A scheme whose own initial window is larger than the path's may be under it.",
    ),
    (
        "behind",
        "The payload that this ideal has delivered by 2, 3 and 5 base round trips after a handshake that takes one, over what the \
         flow has: the start-up without the law that follows it, if that has not begun by then. It is `nothing yet` where the flow has \
         delivered none.",
    ),
    (
        "rate found",
        "The rate that the exit found over the rate available to the flow, which is a fair share with bulk TCP: the tenth percentile, the \
         median and the ninetieth. Rows whose exit found no rate are left out. `rate_over` has it, and `rate_under` the inverse, for each \
         tail.",
    ),
    (
        "queue loss",
        "The part of loss that queues and policers did: own data packets that they dropped over data packets sent, and the mean of that \
         over the rows. The rest of loss is random.",
    ),
];

/// The limits of the score, as in docs/guide/score.md.
pub const LIMITS: [&str; 4] = [
    "Each scheme runs with its defaults, and all go on with one law, CUBIC, unless the sweep sets `avoidance`: with `own` a difference may \
     be the law's. Random loss hits the law more than the start-up.",
    "`quick-start` is asked of routers that all answer, if only to refuse; `careful-resume` and `leap-saved` know what one slow start of \
     the same size over the same path had acknowledged in its last round trip, which of a short transfer is little.",
    "Without a population the paths are a space that was sampled evenly, not anybody's traffic. With weights, they are the population that the weights describe.",
    "The axes of the classes overlap; a class is not a cause.",
];
