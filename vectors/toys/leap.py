#!/usr/bin/env python3
"""Leap as in docs/leap-spec.md, written from its text, for run.py."""
import json
import sys

MILLION = 1_000_000
SECOND = 8_000_000_000
CLOSED, FIRST, PROBE, QUIET, RISE, VERIFY, HOLD, FILL, DRAIN, PLAIN, DONE = range(11)
NEVER = 1 << 62


def scale(quantity, num, den):
    return quantity * num // den


def per(size, span):
    return size * SECOND // span if span else None


def over(rate, span):
    return rate * span // SECOND


def time_for(rate, size):
    return -(-size * SECOND // rate) if rate else NEVER


def is_after(tag, other):
    return (tag - other - 1) % 65536 < 32767


class Spread:
    """Section 4.5."""

    def __init__(self):
        self.first = self.middle = self.last = None
        self.instants = 0

    def add(self, size, now, initial):
        if self.last is None or self.last[1] != now:
            self.instants += 1
        if self.first is None or self.first[1] == now:
            self.first = size, now
        if self.middle is None or size <= scale(initial, 6, 10):
            self.middle = size, now
        self.last = size, now

    def capacity(self):
        """Returns the rate, or None, and whether the spread is even. In vectors payload is wire bytes."""
        if self.last is None:
            return None, False
        spread = self.last[1] - self.first[1]
        rate = per(max(self.last[0] - self.first[0], 0), spread)
        if not rate:
            return None, False
        half = max(self.middle[1] - self.first[1], 0)
        even = time_for(rate, max(self.middle[0] - self.first[0], 0))
        return rate, self.instants >= 4 and abs(half - even) * 8 <= spread


class HoldBack:
    """Section 4.6."""

    def __init__(self):
        self.newest = self.before = None
        self.count = self.tag = self.longest = 0

    def acked(self, packets, tag, now):
        if self.newest == now:
            self.count += packets
            return
        if self.before is not None and self.newest is not None and self.count >= 4:
            self.longest = max(self.longest, self.newest - self.before)
        self.before = self.newest if tag == self.tag else None
        self.newest, self.count, self.tag = now, packets, tag


class Slope:
    def __init__(self, sxx, syy, sxy, n):
        ppm = abs(sxy) * MILLION // sxx
        self.growth = ppm if sxy > 0 else 0
        self.sure = sxy * sxy * (n + 2) > 4 * sxx * syy


class Trend:
    """Section 4.7."""

    def __init__(self):
        self.first = self.pending = None
        self.tick = 0
        self.points = []
        self.span = self.first_x = 0
        self.first_delivered = self.last_delivered = self.pending_delivered = 0

    def add(self, sent_at, now, delivered, unit):
        if self.first is None:
            self.first = sent_at, now
            self.tick = max(1, unit // 4096)
        x, arrived = (min(max(at - first, 0) // self.tick, 16384) for at, first in zip((sent_at, now), self.first))
        if self.pending and self.pending[1] != arrived:
            if len(self.points) < 4096:
                if not self.points:
                    self.first_x, self.first_delivered = self.pending[0], self.pending_delivered
                self.last_delivered = self.pending_delivered
                self.points.append((self.pending[0], self.pending[1] - self.pending[0]))
                self.span = max(self.span, self.pending[0])
        self.pending, self.pending_delivered = (x, arrived), delivered

    def slope(self):
        n = len(self.points)
        if n < 4:
            return None
        sums = [sum(f(x, y) for x, y in self.points) for f in
                (lambda x, y: x, lambda x, y: y, lambda x, y: x * x, lambda x, y: y * y, lambda x, y: x * y)]
        sxx, syy, sxy = n * sums[2] - sums[0] ** 2, n * sums[3] - sums[1] ** 2, n * sums[4] - sums[0] * sums[1]
        return Slope(sxx, syy, sxy, n) if sxx else None


class Leap:
    def __init__(self, config):
        parameters = config.get("parameters", {})
        self.mss = config["mss_bytes"]
        self.initial = config["initial_window_bytes"]
        self.alone = parameters.get("alone") == 1
        self.fraction = parameters.get("fraction_ppm", 750_000)
        window, rtt = parameters.get("saved_window_bytes", 0), parameters.get("saved_min_rtt_us", 0) * 1000
        self.saved = (window, rtt) if window and rtt else None
        self.counts_bytes = config["counts_bytes"]
        self.stage, self.phase, self.ssthresh = CLOSED, "startup", config["initial_ssthresh_bytes"]
        self.window, self.bound, self.min_delay = self.initial, 0, NEVER
        self.bound_before = self.stalled = 0
        self.capacity = self.target = self.pace = 0
        self.tag = self.tag_before = self.judged = self.factor = 0
        self.cause = "delay"
        self.before = self.later_acks = self.size = 0
        self.judged_acked = self.lost_bytes = self.void_trains = 0
        self.starved = False
        self.newest_rate = self.round_rate = self.round_began = None
        self.spread, self.holdback, self.trend = Spread(), HoldBack(), Trend()
        self.slow_paced = False
        # The host: tag, delivered and limit of each packet, and the state of the path.
        self.packets = []
        self.now = self.pipe = self.delivered = self.reduced_at = 0
        self.flight = 0
        self.min_rtt = self.srtt = None
        self.app_limited = False

    # Section 4.1; wire = mss.
    def per_rtt(self, size):
        return (per(size, self.min_rtt) if self.min_rtt else None) or 0

    def product(self, rate):
        return over(rate, self.min_rtt or 0)

    def headroom(self, rate):
        return scale(self.product(rate), 11, 8) + 20 * self.mss

    @staticmethod
    def cruise(rate):
        return scale(rate, 98, 100)

    # Section 4.3.
    def permitted(self):
        return min(self.window, self.bound) if self.bound else self.window

    def is_bounded(self):
        return self.permitted() < self.window

    def paced(self):
        if self.stage in (RISE, FILL) and self.is_bounded():
            return min(self.pace, self.per_rtt(2 * self.permitted()))
        return self.pace

    def found(self, rate, cause):
        self.window = self.ssthresh = max(self.product(rate), 4 * self.mss)
        self.stage, self.phase, self.bound = DONE, "avoidance", 0

    def leave(self, window):
        """Section 4.3: the law answers. Here the law is Reno."""
        self.window = self.ssthresh = max(min(self.flight, window) // 2, 2 * self.mss)
        self.stage, self.phase, self.bound = DONE, "avoidance", 0

    # Section 4.4.
    def enter(self, stage):
        self.stage = stage
        self.tag_before, self.tag = self.tag, (self.tag + 1) % 65536 or 1
        self.size = 0

    def next_round(self, tag):
        """Returns whether Rise or Fill ends."""
        starved = self.starved
        if is_after(tag, self.judged):
            self.judge(tag)
        if tag != self.tag or not self.is_bounded():
            return False
        self.enter(self.stage)
        self.stalled = self.stalled + 1 if self.bound == self.bound_before else 0
        self.bound_before = self.bound
        if self.stalled < 2 or starved:
            return False
        most = min(self.per_rtt(self.permitted()), self.target)
        self.leave_at(min(self.delivery(most), most), "loss")
        return True

    def judge(self, tag):
        self.judged = tag
        self.trend = Trend()
        self.starved = False
        self.judged_acked = self.lost_bytes = self.later_acks = 0

    def bound_by_twice(self, size):
        self.bound = max(self.bound, 2 * size)

    # Section 4.7.
    def queue(self):
        slope = self.trend.slope()
        if slope is None:
            return None
        chance = time_for(self.capacity, 3 * self.mss) // max(self.trend.tick, 1)
        grown = self.trend.span * slope.growth // MILLION
        return slope if slope.growth > 50_000 and slope.sure and grown > chance else None

    def measure(self, newest, size):
        tag, sent_at, delivered_at_send, app_limited = newest
        if tag != self.judged:
            return
        self.starved |= self.app_limited or (app_limited and delivered_at_send > 0)
        self.judged_acked += size
        unit = self.min_rtt or 0
        if not self.alone and self.stage in (PROBE, QUIET):
            unit = min(8 * time_for(scale(self.capacity, self.fraction, MILLION), self.short_train()), unit)
        self.trend.add(sent_at, self.now, self.delivered, unit)

    # Section 4.8.
    def first_flight(self):
        self.enter(FIRST)
        self.judge(self.tag)
        self.spread, self.holdback = Spread(), HoldBack()
        self.bound, self.min_delay, self.pace, self.void_trains = 0, NEVER, 0, 0
        self.bound_before = self.stalled = 0
        self.newest_rate = self.round_rate = self.round_began = None
        self.before, self.window = self.delivered, self.initial

    def short_train(self):
        return min(24 * self.mss, max(self.product(self.capacity), 4 * self.mss))

    def slow_flight(self):
        return 2 * self.initial

    def proven(self):
        return max(self.pipe, self.short_train(), self.initial)

    def slow_window(self):
        return self.initial + self.delivered - self.before

    def train(self):
        fast = scale(self.target, self.factor, 100)
        shown, pipe, low = over(fast, 6 * self.holdback.longest), self.product(self.target), 16 * self.mss
        high = max(self.bound // 2, low) if self.bound else NEVER
        return min(max(pipe // 8, low, min(shown, pipe)), high)

    def sent(self, size):
        self.size += size
        if self.stage == FIRST and self.tag == self.judged and self.size >= self.initial:
            self.enter(FIRST)
            self.use_saved()
        elif self.stage == PROBE and not self.alone and self.size >= self.short_train():
            self.pace = min(self.pace, self.per_rtt(self.slow_flight()))
            self.enter(QUIET)
        elif self.stage == RISE:
            if not self.is_bounded() and self.size >= max(self.product(self.target) // 2, 8 * self.mss):
                self.factor = 150
                self.pace = scale(self.target, 150, 100)
                self.window += self.train()
                self.enter(VERIFY)
        elif self.stage == VERIFY and self.size >= self.train():
            self.pace = self.cruise(self.target)
            self.enter(HOLD)

    def use_saved(self):
        saved, self.saved = self.saved, None
        if saved is None or self.min_rtt is None:
            return
        more = saved[0] // 4
        if 2 * self.min_rtt <= saved[1] or self.min_rtt > 10 * saved[1] or more <= self.initial:
            return
        self.window += more
        self.pace = self.per_rtt(more)

    def grow(self, growth, calm):
        if self.bound:
            self.bound += growth * (7 if calm else 1)

    def acked(self, newest, newest_size, size, packets, growth, rate):
        tag, sent_at = newest[:2]
        if rate is not None:
            self.newest_rate = rate
        if self.round_began is None:
            self.round_began = self.now, self.delivered
        elapsed = self.now - self.round_began[0]
        if self.min_rtt is not None and elapsed >= self.min_rtt:
            self.round_rate = per(self.delivered - self.round_began[1], elapsed)
            self.round_began = self.now, self.delivered
        delay = self.now - sent_at
        self.min_delay = min(self.min_delay, delay)
        calm = delay <= self.min_delay + 3 * time_for(self.capacity, self.mss)
        if self.stage == FIRST:
            self.holdback.acked(packets, tag, self.now)
            self.acked_in_first(tag, newest_size, growth)
        elif self.stage in (PROBE, QUIET, RISE, VERIFY, HOLD):
            was_bounded = self.is_bounded()
            self.grow(growth, calm)
            if self.stage == RISE and was_bounded and not self.is_bounded():
                self.enter(RISE)
            if self.stage != RISE or not was_bounded:
                self.holdback.acked(packets, tag, self.now)
            self.acked_in_train(newest, size)
        elif self.stage == FILL:
            self.grow(growth, False)
            self.acked_in_fill(newest, size)
        elif self.stage == DRAIN and tag == self.tag:
            self.found(self.target, self.cause)

    def acked_in_first(self, tag, newest_size, growth):
        own, done = tag == self.judged, self.delivered - self.before
        self.window += growth
        if own:
            self.spread.add(done, self.now, self.initial)
            if done < self.initial:
                return
        double = self.per_rtt(2 * (self.initial + done))
        if not double:
            return
        due = self.initial + (0 if own else newest_size)
        overflowed = max(self.lost_bytes, due - done) >= 2 * self.mss
        rate, even = self.spread.capacity()
        fits = rate is not None and self.product(rate) <= self.initial
        if rate is None and overflowed:
            self.search(self.per_rtt(max(done, 2 * self.mss)), 200)
        elif rate is None:
            self.search(double, 400)
        elif fits and (even or overflowed):
            self.leave_at(rate, "loss" if overflowed else "dispersion")
        elif overflowed and not self.alone:
            self.capacity = rate
            self.fill(self.cruise(rate), "loss")
        elif even or overflowed or self.initial < 8 * self.mss:
            self.probe(rate)
        else:
            self.search(max(double, rate), 400)

    def probe(self, rate):
        self.capacity = self.target = rate
        self.pace = scale(rate, self.fraction, MILLION)
        pipe = max(self.product(rate), 4 * self.mss)
        self.window = pipe
        if not self.alone:
            train = self.short_train()
            self.window = min(self.pipe + train + self.slow_flight(), max(pipe + 4 * self.mss, train))
        self.enter(PROBE)
        self.judge(self.tag)

    def search(self, rate, factor):
        self.target = self.capacity = rate
        self.factor = factor
        if not self.alone and self.stage == FIRST:
            self.bound_by_twice(max(self.slow_flight(), self.pipe, 16 * self.mss))
        self.window = self.headroom(rate) + self.train()
        self.pace = scale(rate, factor, 100)
        self.enter(VERIFY)
        self.judge(self.tag)

    def rise(self, rate):
        self.target, self.pace, self.window = rate, self.cruise(rate), self.headroom(rate)
        if not self.alone:
            self.window = min(self.window, max(self.product(rate) * 3 // 2, 4 * self.mss))
            self.bound_by_twice(self.proven())
        self.enter(RISE)
        self.judge(self.tag)

    def fill(self, rate, cause):
        self.cause, self.target, self.pace = cause, rate, rate
        self.window = max(self.product(rate), 4 * self.mss)
        self.bound = 0
        self.bound_by_twice(self.proven())
        self.enter(FILL)
        self.judge(self.tag)

    def go_slow(self, window):
        self.stage, self.window, self.ssthresh, self.slow_paced, self.bound = PLAIN, window, None, True, 0

    def acked_in_train(self, newest, size):
        tag, fast = newest[0], self.tag_before
        later = is_after(tag, self.judged)
        if self.stage == HOLD and self.judged != fast and not is_after(fast, tag):
            self.judge(fast)
        elif self.stage == HOLD and later and is_after(fast, tag):
            self.judge(tag)
        elif self.stage == VERIFY and later and tag != self.tag:
            self.judge(tag)
        elif self.stage == RISE and self.next_round(tag):
            return
        self.measure(newest, size)
        if self.stage == VERIFY and self.judged == self.tag:
            return
        if self.stage == HOLD and self.judged == fast:
            if tag == self.tag:
                self.verdict()
        elif self.stage == QUIET:
            self.check_short_train(tag)
        elif self.stage != PROBE or self.alone:
            self.check_queue()

    def check_short_train(self, tag):
        train = self.short_train()
        if is_after(tag, self.judged):
            self.later_acks += 1
        if self.judged_acked + self.lost_bytes < train and self.later_acks < 4:
            return
        pace = scale(self.capacity, self.fraction, MILLION)
        policed = self.lost_bytes > max(train // 8, 4 * self.mss)
        slope = self.queue()
        if slope:
            self.fill(self.available(slope, pace), "delay")
        elif self.starved:
            self.go_slow(self.slow_window())
        elif policed and not self.judged_acked:
            self.go_slow(self.slow_window() // 2)
        elif policed:
            passed = scale(pace, self.judged_acked, self.judged_acked + self.lost_bytes)
            self.fill(min(max(passed, self.per_rtt(self.slow_window() // 2)), pace), "loss")
        elif self.trend.slope() is None:
            self.go_slow(self.slow_window() // (2 if self.lost_bytes else 1))
        else:
            self.rise(self.capacity)

    def check_queue(self):
        if self.trend.slope() is None or self.trend.span < 512:
            return
        slope = self.queue()
        if slope:
            pace = self.cruise(self.target)
            if self.stage == PROBE:
                pace = self.pace
            elif not self.alone:
                pace = self.mean_pace(pace)
            rate = self.available(slope, pace)
            if self.stage == RISE and self.is_bounded():
                rate = min(rate, self.per_rtt(self.permitted()))
            self.leave_at(rate, "delay")
        elif self.stage == PROBE and self.judged_acked >= 16 * self.mss:
            self.rise(self.capacity)

    def mean_pace(self, pace):
        ticks = max(self.trend.span - self.trend.first_x, 0)
        mean = per(self.trend.last_delivered - self.trend.first_delivered, ticks * self.trend.tick)
        return pace if mean is None else min(mean, pace)

    def available(self, slope, pace):
        low = scale(pace, MILLION, MILLION + slope.growth) // 2
        return max(pace - scale(self.capacity, slope.growth, MILLION), low)

    def leave_at(self, rate, cause):
        window = max(self.product(rate), 4 * self.mss)
        if window >= self.pipe:
            self.found(rate, cause)
            return
        self.cause, self.target, self.pace, self.window, self.bound = cause, rate, rate, window, 0
        self.enter(DRAIN)
        self.judge(self.tag)

    def acked_in_fill(self, newest, size):
        if newest[0] == self.tag and not self.is_bounded():
            self.found(self.target, self.cause)
            return
        if self.next_round(newest[0]):
            return
        self.measure(newest, size)
        if self.trend.span >= 512 and self.queue():
            self.leave_at(min(self.per_rtt(self.permitted()), self.target), "delay")

    def verdict(self):
        rate = scale(self.target, self.factor, 100)
        slope = self.trend.slope()
        self.later_acks += 1
        if slope is None and self.later_acks < 4:
            return
        slow = slope is not None and self.mean_pace(rate) < scale(rate, 9, 10)
        self.void_trains += slow or slope is None and self.factor == 150
        if self.void_trains >= 3:
            self.leave_at(min(self.delivery(self.target), self.target), "rate flat")
            return
        if self.starved or slow:
            if self.factor == 150:
                self.rise(self.target)
            else:
                self.search(self.target, self.factor)
            return
        if slope is None:
            self.holdback.longest = max(self.holdback.longest, self.min_rtt or 0)
        if slope is None or not slope.sure or slope.growth < 20_000:
            self.search(rate, 400)
            return
        capacity = scale(rate, MILLION, MILLION + slope.growth)
        if scale(self.target, 4, 5) <= capacity <= scale(self.target, 5, 4) and self.factor == 150:
            self.found(self.target, "dispersion")
            return
        self.capacity = capacity
        self.rise(capacity)

    def lost(self, packets):
        self.lost_bytes += self.mss * sum(not is_after(self.judged, tag) for tag, *_ in packets)
        if self.stage in (CLOSED, FIRST) or not self.alone and self.stage in (PROBE, QUIET):
            return
        if self.lost_bytes <= max(scale(self.permitted(), 3, 100), 4 * self.mss):
            return
        self.found(min(self.delivery(self.pace // 2), self.pace, self.per_rtt(self.permitted())), "loss")

    def delivery(self, default):
        return max((rate for rate in (self.newest_rate, self.round_rate) if rate is not None), default=default)

    # Section 4.9.
    def slow_acked(self, growth):
        self.window += growth if self.counts_bytes else min(growth, self.mss)
        if self.ssthresh is not None and self.window >= self.ssthresh:
            self.stage, self.phase = DONE, "avoidance"

    # The host, and the law after start-up as far as vectors reach it.
    def step(self, step):
        self.now, event = step["time_us"] * 1000, step["event"]
        self.flight = self.pipe
        getattr(self, "on_" + event)(step)
        self.pipe = step["in_flight_bytes"]
        return self.decision()

    def decision(self):
        pacing = None
        if self.stage == PLAIN and self.slow_paced and self.srtt:
            pacing = per(2 * self.window, self.srtt)
        elif FIRST <= self.stage <= DRAIN and not (self.stage == FIRST and self.pace == 0):
            pacing = self.paced()
        return {"cwnd_bytes": self.permitted(), "ssthresh_bytes": self.ssthresh if self.stage in (PLAIN, DONE) else None,
                "pacing_bytes_per_second": None if pacing is None else pacing // 8, "phase": self.phase}

    def sampled(self, rtt):
        self.min_rtt = rtt if self.min_rtt is None else min(self.min_rtt, rtt)
        self.srtt = rtt if self.srtt is None else scale(self.srtt, 7, 8) + scale(rtt, 1, 8)

    def on_established(self, step):
        if step.get("handshake_lost"):
            self.stage, self.window = PLAIN, self.mss
            return
        self.sampled(step["rtt_us"] * 1000)
        self.first_flight()

    def on_sent(self, step):
        self.app_limited = step.get("app_limited", False)
        for _ in range(step["packets"]):
            self.packets.append((self.tag, self.now, self.delivered, self.app_limited))
            if FIRST <= self.stage <= DRAIN:
                self.sent(self.mss)

    def on_acked(self, step):
        self.sampled(step["rtt_us"] * 1000)
        self.pipe = step["in_flight_bytes"]
        self.delivered += step["bytes"]
        growth = 0 if step.get("window_unused") or step.get("recovering") else step["bytes"]
        newest = self.packets[step["through_bytes"] // self.mss - 1]
        if self.stage == PLAIN:
            self.slow_acked(growth)
        elif self.stage != DONE:
            rate = step.get("delivery_rate_bytes_per_second")
            rate = None if rate is None else 8 * rate
            self.acked(newest, self.mss, step["bytes"], step["packets"], growth, rate)

    def on_lost(self, step):
        last = step["through_bytes"] // self.mss
        if FIRST <= self.stage <= DRAIN:
            self.lost(self.packets[last - step["packets"]:last])
        elif self.packets[last - 1][1] >= self.reduced_at:
            self.leave(self.window)
        if self.packets[last - 1][1] >= self.reduced_at:
            self.reduced_at = self.now

    def on_marked(self, _):
        self.leave(self.permitted())

    def on_timed_out(self, _):
        self.leave(self.permitted())
        self.stage, self.phase, self.window, self.slow_paced = PLAIN, "startup", self.mss, False

    def on_idle_ended(self, _):
        self.ssthresh = self.ssthresh if self.stage in (PLAIN, DONE) else None
        self.window, self.bound = min(self.permitted(), self.initial), 0
        self.stage, self.phase, self.slow_paced = PLAIN, "restart", False


def main():
    lines = (json.loads(line) for line in sys.stdin)
    leap = Leap(next(lines))
    for step in lines:
        print(json.dumps(leap.step(step)))


if __name__ == "__main__":
    main()
