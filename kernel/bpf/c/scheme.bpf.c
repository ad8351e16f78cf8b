// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Reads a socket of Linux for a start-up scheme, and executes its answers. The scheme and all of its arithmetic are
 * Rust, linked in as bitcode: `SCHEME.begin` and `SCHEME.event`. Once start-up is over the socket goes to a congestion control
 * of the kernel, `settings.law`, with window, threshold and rate.
 *
 * Linux calls a congestion control on ACKs, not on transmissions: packets sent since the last ACK are reported with the next one.
 *
 * Built twice for each scheme: for kernels from 6.10 on, and with BEFORE_6_10 for 6.1 and its like. SCHEME is its name, STATE the
 * length of its state in words of 8 bytes, and REMEMBERS is set if it resumes from what earlier connections found.
 */
#include "reader.h"

#ifdef REMEMBERS
/* What earlier connections found, by destination; an address of IPv4 is in the last word, also of a socket of IPv6 (is_ipv4). */
struct destination {
	u32 address[4];
};

struct saved {
	u32 bytes, rtt_us;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, struct destination);
	__type(value, struct saved);
} saved SEC(".maps");
#endif

static __always_inline void remember(struct sock *sk, struct facts *f)
{
#ifdef REMEMBERS
	struct destination to = {};
	struct saved *found;

	if (is_ipv4(sk))
		to.address[3] = sk->__sk_common.skc_daddr;
	else
		for (int i = 0; i < 4; i++)
			to.address[i] = sk->__sk_common.skc_v6_daddr.in6_u.u6_addr32[i];
	found = bpf_map_lookup_elem(&saved, &to);
	if (found) {
		f->saved_bytes = found->bytes;
		f->saved_rtt_us = found->rtt_us;
	}
#endif
}

static __always_inline void obey(struct sock *sk, struct held *h)
{
	const struct decision *t = &h->decision;
	u64 most = sk->sk_max_pacing_rate;

	take(sk, h);
	/* The program's own limit (SO_MAX_PACING_RATE) holds in start-up too. */
	sk->sk_pacing_rate = t->rate < most ? t->rate : most;
	if (t->rate != NO_PACING && !t->over && sk->sk_pacing_status == SK_PACING_NONE) {
		sk->sk_pacing_status = SK_PACING_NEEDED;
		h->reader.paces = 1;
	}
}

SEC("struct_ops/init") void BPF_PROG(ff_init, struct sock *sk)
{
	struct held *h = held(sk, BPF_SK_STORAGE_GET_F_CREATE);

	/* Without memory the first ACK hands the socket over. */
	if (!h) {
		icsk(sk)->icsk_ca_priv[0] = 1;
		return;
	}
	start_reading(sk, &h->reader);
	look(sk, &h->facts, &h->reader);
	remember(sk, &h->facts);
	start(h);
	if (!h->decision.over)
		ask(h);
	trace_begin(sk, h);
	obey(sk, h);
}

/* The answer to a loss is that of the congestion control which repairs it. */
SEC("struct_ops/ssthresh") u32 BPF_PROG(ff_ssthresh, struct sock *sk)
{
	u32 cwnd = tcp(sk)->snd_cwnd, kept = cwnd / 2;

	if (settings.law[0] == 'c')
		kept = cwnd * 717 / 1024;
	else if (settings.law[0] == 'b')
		kept = cwnd;
	return kept > 2 ? kept : 2;
}

SEC("struct_ops/undo_cwnd") u32 BPF_PROG(ff_undo_cwnd, struct sock *sk)
{
	return tcp(sk)->snd_cwnd;
}

SEC("struct_ops/min_tso_segs") u32 BPF_PROG(ff_min_tso_segs, struct sock *sk)
{
	return 1;
}

/* A timeout: the kernel set window and threshold before this call. The scheme receives the timeout with the next ACK. */
SEC("struct_ops/set_state") void BPF_PROG(ff_set_state, struct sock *sk, u8 new_state)
{
	struct held *h = held(sk, 0);

	if (h && new_state == TCP_CA_Loss)
		h->reader.timed_out = 1;
}

/* After an idle time of more than the timeout, the law starts the connection again from the restart window. */
SEC("struct_ops/cwnd_event") void BPF_PROG(ff_cwnd_event, struct sock *sk, enum tcp_ca_event event)
{
	struct tcp_sock *tp = tcp(sk);
	struct held *h = held(sk, 0);
	u32 idle = (u32)bpf_jiffies64() - tp->lsndtime;

	if (!h || event != CA_EVENT_TX_START || tp->snd_una == h->reader.base || idle <= icsk(sk)->icsk_rto)
		return;
	if (BPF_CORE_READ_BITFIELD(icsk(sk), icsk_ca_state) != TCP_CA_Open)
		return;
	if (tp->snd_cwnd > 10)
		tp->snd_cwnd = 10;
	h->reader.over = 1;
}

static __always_inline void hand_over(struct sock *sk, const struct held *h)
{
	if (h && h->reader.paces) {
		sk->sk_pacing_status = SK_PACING_NONE;
		sk->sk_pacing_rate = NO_PACING;
	}
	bpf_setsockopt(sk, SOL_TCP, TCP_CONGESTION, (void *)settings.law, sizeof(settings.law));
}

/* Reads an ACK, and passes it and the events since the last ACK to the scheme. */
static __always_inline void on_ack(struct sock *sk, struct held *h, int flag, const struct rate_sample *rs, u8 now)
{
	struct reader *r = &h->reader;
	struct facts *f = &h->facts;
	long interval = rs->interval_us;
	u32 kinds;

	look(sk, f, r);
	look_at_ack(sk, f, r, rs->acked_sacked, rs->rtt_us);
	f->lost = rs->losses > 0 ? rs->losses : 0;
	f->newest_starved = rs->is_app_limited;
	f->prior_delivered = rs->prior_delivered;
	if (rs->delivered > 0 && interval > 0) {
		f->rate_delivered = rs->delivered;
		f->rate_interval_us = interval;
	}
	kinds = due(f, r, tcp(sk));
	if (r->timed_out) {
		f->recovering = 1;
		kinds |= DID(TIMED_OUT);
	} else {
		kinds |= DID(ACKED);
		if (f->lost)
			kinds |= DID(LOST);
		else if ((flag & FLAG_ECE) && now == TCP_CA_CWR && r->ca_state < TCP_CA_CWR)
			kinds |= DID(MARKED);
		r->ca_state = now;
	}
	say(sk, h, kinds, 0);
	if (r->timed_out)
		r->over = 1;
}

#ifdef BEFORE_6_10
/* Flags do not come with the ACK; a socket also enters CWR for reasons other than marks, such as a full queue of the host. */
SEC("struct_ops/cong_control") void BPF_PROG(ff_cong_control, struct sock *sk, const struct rate_sample *rs)
{
	int flag = FLAG_ECE;
#else
SEC("struct_ops/cong_control") void BPF_PROG(ff_cong_control, struct sock *sk, u32 ack, int flag, const struct rate_sample *rs)
{
#endif
	struct tcp_sock *tp = tcp(sk);
	u8 now = BPF_CORE_READ_BITFIELD(icsk(sk), icsk_ca_state);
	struct held *h = held(sk, 0);

	if (h && !h->reader.over)
		on_ack(sk, h, flag, rs, now);
	/* The ACK of a SYN comes before the begin. */
	if (h ? !h->reader.over : !icsk(sk)->icsk_ca_priv[0])
		return;
	/* A loss is being repaired: the first ACK is answered here, and the law's recovery takes the others. */
	if (now >= TCP_CA_CWR) {
		u32 pipe = packets_in_flight(tp);

		tp->snd_cwnd = pipe + 1;
	}
	hand_over(sk, h);
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
	.cong_control = (void *)ff_cong_control,
};
