#!/usr/bin/env python3
"""Slow start and CUBIC as in RFC 9438, in floating point, written from its text, for run.py."""
from slow_start import SlowStart, serve

C = 0.4  # section 5.1, in packets per second cubed
BETA = 0.7  # section 4.6
ALPHA = 3 * (1 - BETA) / (1 + BETA)  # section 4.3


class Cubic(SlowStart):
    def __init__(self, config):
        super().__init__(config)
        self.window = float(self.cwnd)  # with the fraction of a byte
        self.w_max = None
        self.prior = None  # cwnd_prior
        self.srtt = None

    def measure(self, rtt_us):
        rtt = rtt_us / 1e6
        self.srtt = rtt if self.srtt is None else 7 / 8 * self.srtt + rtt / 8

    def begin_stage(self, now):
        """Section 4.2; without a larger W_max, K is 0 (sections 4.8 and 4.10)."""
        self.window = float(self.cwnd)
        self.w_max = max(self.w_max or 0, self.window)
        self.k = ((self.w_max - self.window) / self.mss / C) ** (1 / 3)
        self.w_est = self.window
        self.prior = self.prior or self.window
        self.elapsed, self.newest = 0.0, now

    def w_cubic(self, t):
        return C * (t - self.k) ** 3 * self.mss + self.w_max

    def established(self, step):
        super().established(step)
        self.measure(step["rtt_us"])

    def acked(self, step):
        self.measure(step["rtt_us"])
        now = step["time_us"] / 1e6
        if self.phase != "avoidance":
            super().acked(step)
            if self.phase == "avoidance":
                self.begin_stage(now)
            return
        # The clock of the stage stops in recovery.
        if not step.get("recovering") and not step.get("window_unused"):
            self.elapsed += now - self.newest
            self.grow(min(step["bytes"], self.window))
        self.newest = now

    def grow(self, acked):
        self.w_est += (1 if self.w_est >= self.prior else ALPHA) * self.mss * acked / self.window
        if self.w_cubic(self.elapsed) < self.w_est:
            self.window = max(self.window, self.w_est)
        else:
            target = min(max(self.w_cubic(self.elapsed + self.srtt), self.window), 1.5 * self.window)
            self.window += (target - self.window) / self.window * acked
        self.cwnd = int(self.window)

    def reduce(self, flight):
        # Fast convergence (section 4.7).
        converges = self.w_max is not None and self.cwnd < self.w_max
        self.w_max = self.cwnd * (1 + BETA) / 2 if converges else self.cwnd
        self.prior = self.cwnd
        self.ssthresh = self.cwnd = max(int(min(flight, self.cwnd) * BETA), 2 * self.mss)
        self.recover = self.sent
        self.phase = "avoidance"

    def lost(self, step):
        if step["through_bytes"] > self.recover:
            self.reduce(self.flight)
            self.begin_stage(step["time_us"] / 1e6)

    def marked(self, step):
        self.reduce(self.flight)
        self.begin_stage(step["time_us"] / 1e6)

    def timed_out(self, step):
        super().timed_out(step)
        self.w_max = None  # section 4.8


if __name__ == "__main__":
    serve(Cubic)
