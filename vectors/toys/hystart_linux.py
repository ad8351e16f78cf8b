#!/usr/bin/env python3
"""HyStart as in Linux 6.14 (net/ipv4/tcp_cubic.c), written after its functions, for run.py."""
from slow_start import SlowStart, serve

HYSTART_LOW_WINDOW = 16  # packets
HYSTART_ACK_DELTA = 2_000  # microseconds
HYSTART_MIN_SAMPLES = 8
HYSTART_DELAY_MIN, HYSTART_DELAY_MAX = 4_000, 16_000  # microseconds


class HyStartLinux(SlowStart):
    def __init__(self, config):
        super().__init__(config)
        self.delay_min = self.srtt = None

    def established(self, step):
        super().established(step)
        self.srtt = step["rtt_us"]
        self.reset(step)

    def reset(self, step):
        """bictcp_hystart_reset"""
        self.round_start = self.last_ack = step["time_us"]
        self.end_seq = self.sent
        self.curr_rtt = float("inf")
        self.sample_cnt = 0

    def ack_delay(self):
        """hystart_ack_delay, at the pacing rate of slow start: two windows in an RTT"""
        return min(1_000, 4 * 65_536 * self.srtt // (2 * self.cwnd))

    def acked(self, step):
        rtt = step["rtt_us"]
        self.srtt += (rtt - self.srtt) / 8
        self.delay_min = min(rtt, self.delay_min or rtt)
        if self.phase == "startup" and self.finds_an_exit(step):
            self.ssthresh = self.cwnd
            self.phase = "avoidance"
            return
        super().acked(step)

    def finds_an_exit(self, step):
        """hystart_update"""
        now, found = step["time_us"], False
        if step["through_bytes"] > self.end_seq:
            self.reset(step)
        if self.cwnd < HYSTART_LOW_WINDOW * self.mss:
            return False
        if now - self.last_ack <= HYSTART_ACK_DELTA:
            self.last_ack = now
            found = now - self.round_start > (self.delay_min + self.ack_delay()) // 2
        self.curr_rtt = min(self.curr_rtt, step["rtt_us"])
        if self.sample_cnt < HYSTART_MIN_SAMPLES:
            self.sample_cnt += 1
            return found
        rise = min(max(self.delay_min // 8, HYSTART_DELAY_MIN), HYSTART_DELAY_MAX)
        return found or self.curr_rtt > self.delay_min + rise


if __name__ == "__main__":
    serve(HyStartLinux)
