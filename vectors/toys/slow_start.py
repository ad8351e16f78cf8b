#!/usr/bin/env python3
"""Slow start as in RFC 5681, RFC 9002 and RFC 3742, written from their texts, for run.py."""
import copy
import json
import sys


class SlowStart:
    def __init__(self, config):
        self.config = config
        self.parameters = config.get("parameters", {})
        self.mss = config["mss_bytes"]
        self.cwnd = config["initial_window_bytes"]
        self.ssthresh = config["initial_ssthresh_bytes"]
        self.phase = "startup"
        self.sent = 0  # SND.NXT
        self.recover = 0  # SND.NXT at the last reduction
        self.flight = 0  # in flight before the event
        self.counted = 0  # bytes acknowledged in congestion avoidance since the window grew
        self.before = None  # the state before the last reduction

    def established(self, step):
        if step.get("handshake_lost"):
            self.cwnd = self.mss

    def sent_packets(self, step):
        self.sent = step["through_bytes"]

    def acked(self, step):
        if step.get("window_unused") or step.get("recovering"):
            return
        if self.phase == "avoidance":
            self.counted += step["bytes"]
            if self.counted >= self.cwnd:
                self.counted -= self.cwnd
                self.cwnd += self.mss
            return
        self.cwnd += self.growth(step)
        self.check_threshold()

    def growth(self, step):
        acked = step["bytes"] if self.config["counts_bytes"] else min(step["bytes"], self.mss)
        most = self.parameters.get("max_ssthresh_bytes")
        if most is None or self.cwnd <= most:
            return acked
        return acked // int(self.cwnd / (0.5 * most))  # RFC 3742 section 2: MSS / K

    def check_threshold(self):
        if self.ssthresh is not None and self.cwnd >= self.ssthresh:
            self.phase = "avoidance"

    def reduce(self, flight):
        self.before = copy.copy(self.__dict__)
        self.ssthresh = max(min(flight, self.cwnd) // 2, 2 * self.mss)  # RFC 5681 equation 4
        self.cwnd = self.ssthresh
        self.recover = self.sent
        self.phase = "avoidance"

    def lost(self, step):
        if step["through_bytes"] > self.recover:
            self.reduce(self.flight)

    def marked(self, step):
        self.reduce(self.flight)

    def timed_out(self, step):
        if not step.get("repeated"):
            self.reduce(self.flight)
        self.cwnd = self.mss
        self.phase = "startup"

    def spurious_loss(self, step):
        self.__dict__.update(self.before)

    def idle_ended(self, step):
        self.cwnd = min(self.cwnd, self.config["initial_window_bytes"])
        self.phase = "restart"

    def on(self, step):
        name = step["event"]
        getattr(self, "sent_packets" if name == "sent" else name)(step)
        self.flight = step["in_flight_bytes"]
        return {"cwnd_bytes": self.cwnd, "ssthresh_bytes": self.ssthresh, "phase": self.phase}


def serve(controller):
    """Reads the config and the steps of a vector from standard input, and answers each step."""
    controller = controller(json.loads(sys.stdin.readline()))
    for line in sys.stdin:
        print(json.dumps(controller.on(json.loads(line))))


if __name__ == "__main__":
    serve(SlowStart)
