#!/usr/bin/env python3
"""HyStart++ as in RFC 9406, written from its text, for run.py. The argument MIN_RTT_THRESH=3000 makes it wrong."""
import math
import sys

from slow_start import SlowStart, serve

# Section 4.3, times in microseconds.
CONSTANTS = {
    "MIN_RTT_THRESH": 4_000,
    "MAX_RTT_THRESH": 16_000,
    "MIN_RTT_DIVISOR": 8,
    "N_RTT_SAMPLE": 8,
    "CSS_GROWTH_DIVISOR": 4,
    "CSS_ROUNDS": 5,
}


class HyStartPlusPlus(SlowStart):
    def __init__(self, config):
        super().__init__(config)
        self.first = True  # HyStart++ is in the first slow start only
        self.l = self.parameters.get("l", math.inf)
        self.window_end = 0
        self.last_min = self.current_min = math.inf
        self.samples = 0
        self.baseline = None  # in CSS: currentRoundMinRTT when CSS began
        self.rounds = 0

    def acked(self, step):
        if self.first and self.phase == "startup":
            if step["through_bytes"] > self.window_end and self.round_ended():
                self.ssthresh = self.cwnd
                self.phase = "avoidance"
                return
            self.current_min = min(self.current_min, step["rtt_us"])
            self.samples += 1
        super().acked(step)
        if self.first and self.samples >= CONSTANTS["N_RTT_SAMPLE"]:
            self.judge()

    def round_ended(self):
        """Begins a round. Returns whether CSS is over."""
        self.window_end = self.sent
        self.last_min, self.current_min, self.samples = self.current_min, math.inf, 0
        self.rounds += self.baseline is not None
        return self.rounds >= CONSTANTS["CSS_ROUNDS"]

    def growth(self, step):
        if not self.first:
            return super().growth(step)
        acked = min(step["bytes"], self.l * self.mss)
        return acked if self.baseline is None else acked // CONSTANTS["CSS_GROWTH_DIVISOR"]

    def judge(self):
        if self.baseline is not None:
            if self.current_min < self.baseline:
                self.baseline, self.rounds = None, 0
        elif self.last_min < math.inf:
            eighth = self.last_min // CONSTANTS["MIN_RTT_DIVISOR"]
            thresh = max(CONSTANTS["MIN_RTT_THRESH"], min(eighth, CONSTANTS["MAX_RTT_THRESH"]))
            if self.current_min >= self.last_min + thresh:
                self.baseline = self.current_min

    def timed_out(self, step):
        super().timed_out(step)
        self.first = False


if __name__ == "__main__":
    for word in sys.argv[1:]:
        name, value = word.split("=")
        CONSTANTS[name] = int(value)
    serve(HyStartPlusPlus)
