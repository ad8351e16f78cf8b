#!/usr/bin/env python3
"""TCP Westwood's eligible rate estimate (ERE) from a list of ACKs: a second implementation, against which that of
crates/library/core/src/eligible_rate.rs is compared.

    bench/eligible_rate.py acks FILE.csv            the estimate after each ACK of a list
    bench/eligible_rate.py log FILE.jsonl           the same of a log of `firstflight race … --schemes adaptive --events DIR`, until start-up ends
    bench/eligible_rate.py compare FILE.jsonl       how far the thresholds in that log are from ERE x RTTmin
    bench/eligible_rate.py make                     the list of the unit test, with the estimates (crates/library/core/src/eligible_rate.csv)

Options: --sampler vegas|re|be [vegas], --count delivered|duplicates [delivered; of logs], --ends acks|exact [acks].

Source: R. Wang, G. Pau, M. Y. Sanadidi and M. Gerla, "Improving TCP start-up over high bandwidth delay paths" (slides, UCLA, March 2003):

    BE  S_k = d_k / (t_k - t_(k-1))                            a packet pair
    RE  S_k = (sum of the d_j with t_j > t_k - RTT) / RTT      a packet train
    ERE S_k = (sum of the d_j with t_j > t_k - T_k) / T_k      T_k from an ACK interval to RTT, by "Vegas measure of congestion level"
    threshold and window after a loss: ERE x RTTmin

The slides do not give T_k, nor the constant of the "exponential filtering". Chosen, as in Firstflight (docs/reference/choices.md, 16):

    congestion level = what Vegas counts as waiting, as a share of the window: 1 - RTTmin / RTT; T_k = RTT x level = RTT - RTTmin
    filter of TCP Westwood (Tustin's): b_k = a b_(k-1) + (1 - a) (S_k + S_(k-1)) / 2, a = (2 tau - dt) / (2 tau + dt), tau = RTT / 4,
    and without a past (a = 0) after 2 tau without an ACK

`--ends exact` is the formula as printed: T_k may begin between two ACKs, so that S_k counts the data of a part of an interval as that of
the whole, and is too high by up to an interval in T_k. `--ends acks` lets T_k begin at the last ACK that is old enough, as Firstflight does.
Numbers are floating point, the history is a list of all ACKs: nothing is shared with the Rust code but this page's formulas.
"""

import argparse
import csv
import json
import sys

FIELDS = ["at_ns", "bytes", "rtt_ns"]
RESULTS = ["sample_bps", "estimate_bps", "window_bytes"]
# Calls in a log after which start-up is over.
ENDS = ["lost", "timed-out", "marked"]


class Eligible:
    """The estimate, from the times, bytes and round-trip times of ACKs."""

    def __init__(self, sampler="vegas", ends="acks"):
        self.sampler, self.ends = sampler, ends
        self.rtt_min = float("inf")
        self.estimate = self.sample = None
        self.pause()


    def pause(self):
        """Forgets the history: no interval begins before now."""
        self.acks = []  # (t, d): the time of an ACK, and the bytes that it acknowledged

    def on_ack(self, t, d, rtt, rtt_min=None):
        """Takes an ACK of d bytes at t with this round-trip time, in seconds. Returns the sample, the estimate and ERE x RTTmin."""
        self.rtt_min = min(self.rtt_min, rtt) if rtt_min is None else rtt_min
        if self.acks and t <= self.acks[-1][0]:
            self.acks.append((self.acks[-1][0], d))  # Counts from the next interval on.
            return self.sample, self.estimate, self.window()
        before = self.acks[-1][0] if self.acks else None
        self.acks.append((t, d))
        if before is not None:
            self.take(t, rtt, t - before)
        return self.sample, self.estimate, self.window()

    def take(self, t, rtt, interval):
        wanted = {"be": interval, "re": rtt, "vegas": rtt - self.rtt_min}[self.sampler]
        sample = 8 * self.rate_over(t, max(interval, min(rtt, wanted)))
        last, self.sample = self.sample, sample
        if self.estimate is None:
            self.estimate = sample
            return
        interval = min(interval, rtt / 2)
        alpha = (rtt / 2 - interval) / (rtt / 2 + interval)
        self.estimate = alpha * self.estimate + (1 - alpha) * (sample + last) / 2

    def rate_over(self, t, span):
        """The bytes acknowledged in the last span, over it."""
        first = self.acks[0][0]
        begin = t - span
        if self.ends == "acks":
            old = [at for at, _ in self.acks if at <= begin + 1e-12]
            begin = old[-1] if old else first
            span = max(span, t - begin)
        return sum(d for at, d in self.acks if at > begin + 1e-12) / span + self.late(begin) / span

    def late(self, begin):
        """Bytes of ACKs that arrived at the instant of another one, which count from then on."""
        same = [d for at, d in self.acks if abs(at - begin) <= 1e-12]
        return sum(same[1:])

    def window(self):
        return None if self.estimate is None else self.estimate * self.rtt_min / 8


def acks_of_log(path, count):
    """The ACKs of a log, each with the state of the connection that the sender reported."""
    state, credit = {}, 0
    for line in open(path, encoding="utf-8"):
        record = json.loads(line)
        if record.get("event") not in ("told", "record") or "call" not in record:
            continue
        state.update(record.get("path", {}))  # Only what changed is in the line.
        threshold = record.get("plan", {}).get("ssthresh", state.get("threshold"))
        state["threshold"] = threshold
        call = record["call"]
        name = call if isinstance(call, str) else next(iter(call))
        if name in ENDS:
            yield {"end": True}
        if name != "acked":
            continue
        ack = call["acked"]
        d, mss = (ack["bytes"] if count == "delivered" else ack["advanced"]), state["mss"]
        if d == 0 and ack.get("duplicate"):
            credit, d = credit + mss, mss
        elif d > mss and credit:
            paid = min(credit, d)
            credit, d = credit - paid, (d - paid) or mss
        if d == 0:
            continue
        newest = ack["packets"][-1] if ack.get("packets") else None
        limited = state.get("limit") in ("app", "receiver") or (
            newest is not None and newest["limit"] in ("app", "receiver") and newest["delivered_at_send"] > 0)
        yield {"at_ns": record["at_ns"], "bytes": d, "rtt_ns": state["latest_rtt_ns"], "rtt_min_ns": state["min_rtt_ns"],
               "limited": limited, "threshold": threshold, "limit": state.get("limit")}


def acks_of_list(path):
    for row in csv.DictReader(line for line in open(path, encoding="utf-8") if not line.startswith("#")):
        yield {name: int(row[name]) for name in FIELDS}


def estimates(acks, sampler, ends):
    """Each ACK, with the sample, the estimate and the window after it."""
    eligible = Eligible(sampler, ends)
    for ack in acks:
        if ack.get("end"):
            return  # A later start-up would begin with another estimate.
        if ack.get("limited"):
            eligible.pause()
        else:
            rtt_min = ack.get("rtt_min_ns")
            yield ack, eligible.on_ack(ack["at_ns"] / 1e9, ack["bytes"], ack["rtt_ns"] / 1e9, rtt_min and rtt_min / 1e9)


def show(acks, sampler, ends):
    print(",".join(FIELDS + RESULTS))
    for ack, found in estimates(acks, sampler, ends):
        print(",".join([str(ack[name]) for name in FIELDS] + ["" if x is None else f"{x:.0f}" for x in found]))


def compare(acks, sampler, ends):
    """Compares the threshold of Astart, which is the greatest ERE x RTTmin so far, where it rose."""
    ratios, last = [], None
    for ack, (_, _, window) in estimates(acks, sampler, ends):
        threshold = ack["threshold"]
        if threshold is not None and last is not None and threshold > last and window:
            ratios.append(threshold / window)
        last = threshold
    ratios.sort()
    if not ratios:
        sys.exit("the threshold never rose")
    at = lambda share: ratios[min(len(ratios) - 1, int(share * len(ratios)))]
    print(f"{len(ratios)} rises; threshold over ERE x RTTmin: minimum {ratios[0]:.5f}, 5 % {at(.05):.5f}, median {at(.5):.5f}, "
          f"95 % {at(.95):.5f}, maximum {ratios[-1]:.5f}")


def make():
    """A list of ACKs without a random number of the machine: bursts, a queue that builds up and drains, losses of ACKs, silences."""
    state = 20030301

    def number(below):
        nonlocal state
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (state >> 33) % below

    acks, at, queue = [], 100_000_000, 0
    for k in range(400):
        # 20 Mbit/s: a segment each 600 us. Bursts of 4 and of 8 ACKs, then a steady flow with jitter. The queue stays under 4.8 ms, so that
        # T_k is eight ACK intervals at most. After 280 ACKs the queue grows to 40 ms and drains.
        interval = 600_000 * (1 + number(3)) + number(50_000)
        if k < 100 and k % (4 if k < 50 else 8) == 0:
            interval += 60_000_000 if k < 50 else 40_000_000
        interval += {150: 30_000_000, 225: 200_000_000, 226: 5_000_000, 260: 700_000_000}.get(k, 0)
        drift = 0 if k < 280 else 700_000 if k < 340 else -700_000
        queue = min(4_800_000 if k < 280 else 40_000_000, max(0, queue + drift + number(2_400_000) - 1_200_000))
        at += interval
        size = 1460 * (1 + number(2)) if number(20) else 1460 * (4 + number(6))
        acks.append({"at_ns": at, "bytes": size, "rtt_ns": 100_000_000 + queue})
    print("# ACKs, and TCP Westwood's eligible rate after each, by bench/eligible_rate.py make: samplers vegas, re and be.")
    names = ["vegas", "re", "be"]
    print(",".join(FIELDS + [f"{name}_bps" for name in names] + ["vegas_window_bytes"]))
    found = [list(estimates(acks, name, "acks")) for name in names]
    for row in zip(*found):
        numbers = [x[1][1] for x in row] + [row[0][1][2]]
        print(",".join([str(row[0][0][name]) for name in FIELDS] + ["" if x is None else f"{x:.0f}" for x in numbers]))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("what", choices=["acks", "log", "compare", "make"])
    parser.add_argument("file", nargs="?")
    parser.add_argument("--sampler", choices=["vegas", "re", "be"], default="vegas")
    parser.add_argument("--count", choices=["delivered", "duplicates"], default="delivered")
    parser.add_argument("--ends", choices=["acks", "exact"], default="acks")
    said = parser.parse_args()
    if said.what == "make":
        return make()
    if not said.file:
        parser.error("a file is missing")
    acks = acks_of_list(said.file) if said.what == "acks" else acks_of_log(said.file, said.count)
    (compare if said.what == "compare" else show)(acks, said.sampler, said.ends)


if __name__ == "__main__":
    main()
