// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Reads a socket of Linux for a restart policy, and does what the policy says after an idle time. The policy is Rust, linked in as
 * bitcode. All other time the connection is that of `settings.law`, a congestion control of the kernel whose functions are called
 * from here: reno's, or cubic's.
 *
 * Built once for each policy: SCHEME is its name, and STATE the length of its state in words of 8 bytes.
 */
#include "reader.h"

#define UNLIMITED (~0u)

extern void tcp_reno_cong_avoid(struct sock *sk, u32 ack, u32 acked) __ksym;
extern u32 tcp_reno_ssthresh(struct sock *sk) __ksym;
extern u32 tcp_reno_undo_cwnd(struct sock *sk) __ksym;
extern void cubictcp_init(struct sock *sk) __ksym __weak;
extern u32 cubictcp_recalc_ssthresh(struct sock *sk) __ksym __weak;
extern void cubictcp_cong_avoid(struct sock *sk, u32 ack, u32 acked) __ksym __weak;
extern void cubictcp_state(struct sock *sk, u8 new_state) __ksym __weak;
extern void cubictcp_cwnd_event(struct sock *sk, enum tcp_ca_event event) __ksym __weak;
extern void cubictcp_acked(struct sock *sk, const struct ack_sample *sample) __ksym __weak;

static __always_inline bool is_cubic(void)
{
	return settings.law[0] == 'c';
}

/* Paces at the policy's rate, or not. Linux computes its own rate at each ACK, and the minimum of all rates applies. */
static __always_inline void pace(struct sock *sk, struct held *h, u64 rate)
{
	u32 most = rate < UNLIMITED ? rate : UNLIMITED;

	if (rate != NO_PACING) {
		if (!h->reader.paces) {
			u64 before = sk->sk_max_pacing_rate;

			h->reader.most = before < UNLIMITED ? before : UNLIMITED;
			h->reader.paces = sk->sk_pacing_status == SK_PACING_NONE ? 2 : 1;
		}
		sk->sk_pacing_rate = rate;
		bpf_setsockopt(sk, SOL_SOCKET, SO_MAX_PACING_RATE, &most, sizeof(most));
	} else if (h->reader.paces) {
		most = h->reader.most;
		bpf_setsockopt(sk, SOL_SOCKET, SO_MAX_PACING_RATE, &most, sizeof(most));
		if (h->reader.paces == 2)
			sk->sk_pacing_status = SK_PACING_NONE;
		h->reader.paces = 0;
	}
}

/* Without a window in the answer the law governs. */
static __always_inline void obey(struct sock *sk, struct held *h)
{
	const struct decision *t = &h->decision;

	if (!t->window)
		return;
	take(sk, h);
	pace(sk, h, t->over ? NO_PACING : t->rate);
}

SEC("struct_ops/init") void BPF_PROG(ff_init, struct sock *sk)
{
	struct held *h = held(sk, BPF_SK_STORAGE_GET_F_CREATE);

	if (is_cubic())
		cubictcp_init(sk);
	/* Without memory the law is alone. */
	if (!h)
		return;
	start_reading(sk, &h->reader);
	h->reader.over = 1;
	look(sk, &h->facts, &h->reader);
	start(h);
	trace_begin(sk, h);
}

/* The kernel found a loss or a mark, and requests the law's answer. The policy receives it first, and its threshold is the answer. */
SEC("struct_ops/ssthresh") u32 BPF_PROG(ff_ssthresh, struct sock *sk)
{
	struct held *h = held(sk, 0);
	u32 kept = is_cubic() ? cubictcp_recalc_ssthresh(sk) : tcp_reno_ssthresh(sk);

	if (h && !h->reader.over) {
		u32 window = tcp(sk)->snd_cwnd;

		look(sk, &h->facts, &h->reader);
		h->facts.lost = tcp(sk)->lost_out;
		say(sk, h, DID(h->facts.lost ? LOST : MARKED), 1);
		/* The kernel reduces the window itself. */
		tcp(sk)->snd_cwnd = window;
		if (h->reader.over && h->decision.ssthresh && h->decision.ssthresh < kept)
			kept = h->decision.ssthresh;
	}
	return kept;
}

SEC("struct_ops/undo_cwnd") u32 BPF_PROG(ff_undo_cwnd, struct sock *sk)
{
	return tcp_reno_undo_cwnd(sk);
}

SEC("struct_ops/min_tso_segs") u32 BPF_PROG(ff_min_tso_segs, struct sock *sk)
{
	struct held *h = held(sk, 0);

	return h && h->reader.paces ? 1 : 2;
}

SEC("struct_ops/set_state") void BPF_PROG(ff_set_state, struct sock *sk, u8 new_state)
{
	struct held *h = held(sk, 0);

	if (is_cubic())
		cubictcp_state(sk, new_state);
	if (!h)
		return;
	h->reader.ca_state = new_state;
	if (new_state == TCP_CA_Loss && !h->reader.over) {
		u32 window = tcp(sk)->snd_cwnd;

		look(sk, &h->facts, &h->reader);
		say(sk, h, DID(TIMED_OUT), 1);
		tcp(sk)->snd_cwnd = window;
	}
}

/*
 * Data leaves with nothing in flight. After an idle time the kernel has cut the window before it says so, unless
 * tcp_slow_start_after_idle is 0; the event before that is the last sight of the window and the threshold as they were.
 */
SEC("struct_ops/cwnd_event") void BPF_PROG(ff_cwnd_event, struct sock *sk, enum tcp_ca_event event)
{
	struct tcp_sock *tp = tcp(sk);
	struct held *h = held(sk, 0);
	u32 idle = (u32)bpf_jiffies64() - tp->lsndtime;

	if (is_cubic())
		cubictcp_cwnd_event(sk, event);
	if (!h || tp->snd_una == h->reader.base || idle <= icsk(sk)->icsk_rto)
		return;
	if (BPF_CORE_READ_BITFIELD(icsk(sk), icsk_ca_state) != TCP_CA_Open)
		return;
	if (event != CA_EVENT_CWND_RESTART && event != CA_EVENT_TX_START)
		return;
	if (!h->reader.restarts) {
		h->reader.restarts = 1;
		h->reader.was_cwnd = tp->snd_cwnd;
		h->reader.was_ssthresh = tp->snd_ssthresh;
	}
	if (event == CA_EVENT_TX_START) {
		struct facts *f = &h->facts;

		look(sk, f, &h->reader);
		f->was_cwnd = h->reader.was_cwnd;
		f->was_ssthresh = h->reader.was_ssthresh;
		f->cwnd = f->was_cwnd;
		f->ssthresh = f->was_ssthresh;
		/* The number of ticks per second is not available: count from the last ACK, which followed the last transmission. */
		f->idle_us = (u32)f->now_us - h->reader.heard_us;
		/* The packet being sent is not counted yet, and is reported with the next ACK. */
		f->sent = 0;
		h->reader.restarts = 0;
		tp->snd_cwnd = f->was_cwnd;
		tp->snd_ssthresh = f->was_ssthresh;
		say(sk, h, DID(IDLE), 1);
	}
}

SEC("struct_ops/pkts_acked") void BPF_PROG(ff_pkts_acked, struct sock *sk, const struct ack_sample *sample)
{
	struct held *h = held(sk, 0);

	if (is_cubic())
		cubictcp_acked(sk, sample);
	if (h)
		h->reader.sample_us = sample->rtt_us > 0 ? sample->rtt_us : 0;
}

SEC("struct_ops/cong_avoid") void BPF_PROG(ff_cong_avoid, struct sock *sk, u32 ack, u32 acked)
{
	struct tcp_sock *tp = tcp(sk);
	struct held *h = held(sk, 0);

	if (h) {
		bool governed = !h->reader.over;
		u32 kinds;

		look(sk, &h->facts, &h->reader);
		look_at_ack(sk, &h->facts, &h->reader, acked, h->reader.sample_us);
		h->reader.sample_us = 0;
		kinds = due(&h->facts, &h->reader, tp);
		say(sk, h, kinds | DID(ACKED), 1);
		if (governed)
			return;
	}
	if (is_cubic())
		cubictcp_cong_avoid(sk, ack, acked);
	else
		tcp_reno_cong_avoid(sk, ack, acked);
}

OPS struct tcp_congestion_ops ops = {
	.name = "ff_scheme",
	.flags = TCP_CONG_NON_RESTRICTED,
	.init = (void *)ff_init,
	.ssthresh = (void *)ff_ssthresh,
	.undo_cwnd = (void *)ff_undo_cwnd,
	.min_tso_segs = (void *)ff_min_tso_segs,
	.set_state = (void *)ff_set_state,
	.cwnd_event = (void *)ff_cwnd_event,
	.pkts_acked = (void *)ff_pkts_acked,
	.cong_avoid = (void *)ff_cong_avoid,
};
