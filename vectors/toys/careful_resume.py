#!/usr/bin/env python3
"""Careful Resume as in RFC 9959 around slow start, for run.py. Where the RFC is open it has the readings of docs/guide/vectors.md."""
from slow_start import SlowStart, serve

BETA = 0.5  # section 3.5


class CarefulResume(SlowStart):
    def __init__(self, config):
        super().__init__(config)
        self.initial = self.cwnd
        self.saved_cwnd = self.parameters["saved_cwnd_bytes"]
        self.saved_rtt = self.parameters["saved_rtt_us"]
        self.max_jump = self.parameters.get("max_jump_bytes", self.saved_cwnd)
        self.state = "reconnaissance"
        self.min_rtt = None
        self.pacing = None

    def established(self, step):
        super().established(step)
        self.min_rtt = step["rtt_us"]

    def acked(self, step):
        self.min_rtt = min(self.min_rtt, step["rtt_us"])
        if self.state == "reconnaissance" and step["through_bytes"] >= self.initial and self.jumps(step):
            return
        if self.state in ("unvalidated", "validating", "retreat"):
            self.pipe_size += step["bytes"]
        if self.state == "unvalidated":
            if step["through_bytes"] > self.first or step["time_us"] - self.entered > self.rtt:
                self.leave_unvalidated(step["in_flight_bytes"])
        elif self.state == "retreat":
            if step["through_bytes"] >= self.last:
                self.ssthresh = max(int(self.pipe_size * BETA), 2 * self.mss)
                self.state = "normal"
                self.check_threshold()
        else:
            super().acked(step)
            if self.state == "validating" and step["through_bytes"] >= self.last:
                self.state = "normal"

    def jumps(self, step):
        """Sections 3.2, 3.3 and 4.2.1. Returns whether the jump begins."""
        jump = min(self.max_jump, self.saved_cwnd // 2)
        other_path = self.min_rtt <= self.saved_rtt / 2 or step["rtt_us"] > 10 * self.saved_rtt
        if other_path or jump <= self.cwnd:
            self.state = "normal"
            return False
        self.state, self.cwnd, self.entered, self.rtt = "unvalidated", jump, step["time_us"], step["rtt_us"]
        self.first, self.pipe_size = self.sent, step["in_flight_bytes"]
        self.pacing = jump * 1_000_000 // self.rtt
        return True

    def leave_unvalidated(self, flight):
        self.pacing = None
        if flight <= max(self.pipe_size, self.initial):
            self.cwnd = min(self.cwnd, max(self.pipe_size, self.initial))
            self.state = "normal"
        else:
            self.cwnd, self.last, self.state = min(self.cwnd, flight), self.sent, "validating"

    def sent_packets(self, step):
        super().sent_packets(step)
        # All of the jump is sent: another packet does not fit.
        if self.state == "unvalidated" and step["in_flight_bytes"] + self.mss > self.cwnd:
            self.leave_unvalidated(step["in_flight_bytes"])

    def timer(self, step):
        if self.state == "unvalidated" and step["time_us"] >= self.entered + self.rtt:
            self.leave_unvalidated(step["in_flight_bytes"])

    def reduce(self, flight):
        if self.state not in ("unvalidated", "validating"):
            self.state = "normal"
            super().reduce(flight)
            return
        self.last = self.sent if self.state == "unvalidated" else self.last
        self.cwnd = max(min(self.cwnd, self.pipe_size // 2), self.mss)
        self.recover, self.state, self.pacing = self.sent, "retreat", None

    def on(self, step):
        return {**super().on(step), "pacing_bytes_per_second": self.pacing}


if __name__ == "__main__":
    serve(CarefulResume)
