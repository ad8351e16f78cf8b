// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Reads a socket of Linux for a start-up scheme, and does what the scheme says. The scheme and all of its arithmetic are
 * Rust, linked in as bitcode: `SCHEME.begin` and `SCHEME.hear`. Once start-up is over the socket goes to a congestion control
 * of the kernel, `settings.law`, with window, threshold and rate.
 *
 * Built twice for each scheme: for kernels from 6.10 on, and with BEFORE_6_10 for 6.1 and its like. SCHEME is its name, and STORED
 * is set if its state is too large for a socket's private area.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>
#include "settings.h"

char _license[] SEC("license") = "Dual MIT/GPL";

#define SOL_TCP 6
#define TCP_CONGESTION 13
#define AF_INET 2
#define TCP_CONG_NON_RESTRICTED 1
#define TCP_INFINITE_SSTHRESH 0x7fffffff
#define SK_PACING_NONE 0
#define SK_PACING_NEEDED 1
#define FLAG_ECE 0x40
#define NO_PACING (~0ull)

enum { TCP_CA_Open, TCP_CA_Disorder, TCP_CA_CWR, TCP_CA_Recovery, TCP_CA_Loss };

/* What happened; `Kind` in lib.rs. */
enum { BEGAN, ACKED, LOST, MARKED, TIMED_OUT };

/* What the reader saw of the socket; `Facts` in lib.rs. */
struct facts {
	u64 now_us, una, newest_sent_us;
	u32 mss, wire, cwnd, ssthresh;
	u32 flight, flight_before, pipe, delivered;
	u32 srtt_us, rtt_us, last_rtt_us, min_rtt_us;
	u32 rto_us, advanced, acked, lost;
	u32 prior_delivered, rate_delivered, rate_interval_us, rwnd;
	u32 backlog, limit, newest_starved, recovering;
};

/* The scheme's answer; `Told` in lib.rs. */
struct told {
	u64 rate;
	u32 window, ssthresh, over, pad;
};

struct record {
	u32 kind, ports;
	u64 socket;
	struct facts facts;
	struct told told;
};

extern void scheme_begin(void *state, const struct facts *facts, struct told *told) asm(SCHEME ".begin");
extern void scheme_hear(void *state, u32 kind, const struct facts *facts, struct told *told) asm(SCHEME ".hear");

/* What the reader itself keeps, before the scheme's state. */
struct reader {
	u32 una;
	u32 rtt_us;
	u8 ca_state, over, paces, timed_out;
	u32 pad;
};

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 22);
} events SEC(".maps");

#ifdef STORED
struct stored {
	u64 state[STORED];
};

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct stored);
} states SEC(".maps");
#endif

static __always_inline struct tcp_sock *tcp(struct sock *sk)
{
	return (struct tcp_sock *)sk;
}

static __always_inline struct inet_connection_sock *icsk(struct sock *sk)
{
	return (struct inet_connection_sock *)sk;
}

static __always_inline struct reader *reader(struct sock *sk)
{
	return (struct reader *)icsk(sk)->icsk_ca_priv;
}

static __always_inline void *state(struct sock *sk)
{
#ifdef STORED
	return bpf_sk_storage_get(&states, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
#else
	return reader(sk) + 1;
#endif
}

static __always_inline u32 packets_in_flight(const struct tcp_sock *tp)
{
	return tp->packets_out - tp->sacked_out - tp->lost_out + tp->retrans_out;
}

/* What can be read at any time. */
static __always_inline void look(struct sock *sk, struct facts *f)
{
	const struct tcp_sock *tp = tcp(sk);
	const struct reader *r = reader(sk);
	u32 headers = tp->tcp_header_len + (sk->__sk_common.skc_family == AF_INET ? 20 : 40);

	__builtin_memset(f, 0, sizeof(*f));
	f->now_us = tp->tcp_mstamp;
	f->una = tp->bytes_acked;
	f->mss = tp->mss_cache;
	f->wire = f->mss + headers;
	f->cwnd = tp->snd_cwnd;
	f->ssthresh = tp->snd_ssthresh;
	f->flight = tp->snd_nxt - tp->snd_una;
	f->flight_before = f->flight;
	f->pipe = packets_in_flight(tp);
	f->delivered = tp->delivered;
	f->srtt_us = tp->srtt_us >> 3;
	f->last_rtt_us = r->rtt_us;
	f->min_rtt_us = tp->rtt_min.s[0].v;
	f->rto_us = f->srtt_us + tp->rttvar_us;
	f->rwnd = tp->snd_wnd;
	f->backlog = tp->write_seq - tp->snd_nxt;
	if (tp->app_limited)
		f->limit = 1;
	else if (f->flight + f->mss > f->rwnd)
		f->limit = 2;
	f->recovering = r->ca_state >= TCP_CA_Recovery;
}

/* What an ACK brought. */
static __always_inline void look_at_ack(struct sock *sk, struct facts *f, const struct rate_sample *rs)
{
	const struct tcp_sock *tp = tcp(sk);
	struct reader *r = reader(sk);
	long interval = rs->interval_us, rtt = rs->rtt_us;

	f->advanced = tp->snd_una - r->una;
	f->flight_before = f->flight + f->advanced;
	f->acked = rs->acked_sacked;
	f->lost = rs->losses > 0 ? rs->losses : 0;
	r->una = tp->snd_una;
	if (rtt > 0) {
		f->rtt_us = rtt;
		f->last_rtt_us = rtt;
		r->rtt_us = rtt;
	}
	f->newest_sent_us = tp->first_tx_mstamp;
	f->newest_starved = rs->is_app_limited;
	f->prior_delivered = rs->prior_delivered;
	if (rs->delivered > 0 && interval > 0) {
		f->rate_delivered = rs->delivered;
		f->rate_interval_us = interval;
	}
}

static __always_inline void trace(struct sock *sk, u32 kind, const struct facts *f, const struct told *t)
{
	struct record *record;

	if (!settings.traced)
		return;
	record = bpf_ringbuf_reserve(&events, sizeof(*record), 0);
	if (!record)
		return;
	record->kind = kind;
	record->ports = sk->__sk_common.skc_num | (u32)sk->__sk_common.skc_dport << 16;
	record->socket = (u64)sk;
	record->facts = *f;
	record->told = *t;
	bpf_ringbuf_submit(record, 0);
}

/* Does what the scheme said. */
static __always_inline void obey(struct sock *sk, const struct told *t)
{
	struct tcp_sock *tp = tcp(sk);
	struct reader *r = reader(sk);

	if (t->window)
		tp->snd_cwnd = t->window;
	if (t->over && t->ssthresh)
		tp->snd_ssthresh = t->ssthresh;
	sk->sk_pacing_rate = t->rate;
	if (t->rate != NO_PACING && sk->sk_pacing_status == SK_PACING_NONE) {
		sk->sk_pacing_status = SK_PACING_NEEDED;
		r->paces = 1;
	}
	if (t->over)
		r->over = 1;
}

static __always_inline void say(struct sock *sk, u32 kind, const struct facts *f)
{
	void *s = state(sk);
	struct told t = {};

	if (!s)
		return;
	scheme_hear(s, kind, f, &t);
	trace(sk, kind, f, &t);
	obey(sk, &t);
}

SEC("struct_ops/init") void BPF_PROG(ff_init, struct sock *sk)
{
	struct reader *r = reader(sk);
	void *s = state(sk);
	struct told t = {};
	struct facts f;

	r->una = tcp(sk)->snd_una;
	r->rtt_us = tcp(sk)->srtt_us >> 3;
	r->ca_state = 0;
	r->over = 0;
	r->paces = 0;
	r->timed_out = 0;
	if (!s) {
		r->over = 1;
		return;
	}
	look(sk, &f);
	scheme_begin(s, &f, &t);
	trace(sk, BEGAN, &f, &t);
	obey(sk, &t);
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

/* A timeout: the kernel set window and threshold before it says so. The scheme hears it with the next ACK. */
SEC("struct_ops/set_state") void BPF_PROG(ff_set_state, struct sock *sk, u8 new_state)
{
	if (new_state == TCP_CA_Loss)
		reader(sk)->timed_out = 1;
}

/* After an idle time of more than the timeout, the law starts the connection again from the restart window. */
SEC("struct_ops/cwnd_event") void BPF_PROG(ff_cwnd_event, struct sock *sk, enum tcp_ca_event event)
{
	struct tcp_sock *tp = tcp(sk);
	u32 idle = (u32)bpf_jiffies64() - tp->lsndtime;

	if (event != CA_EVENT_TX_START || !tp->bytes_acked || idle <= icsk(sk)->icsk_rto)
		return;
	if (BPF_CORE_READ_BITFIELD(icsk(sk), icsk_ca_state) != TCP_CA_Open)
		return;
	if (tp->snd_cwnd > 10)
		tp->snd_cwnd = 10;
	reader(sk)->over = 1;
}

static __always_inline void hand_over(struct sock *sk)
{
	if (reader(sk)->paces) {
		sk->sk_pacing_status = SK_PACING_NONE;
		sk->sk_pacing_rate = NO_PACING;
	}
	/* The private area is the law's from here on. */
	bpf_setsockopt(sk, SOL_TCP, TCP_CONGESTION, (void *)settings.law, sizeof(settings.law));
}

#ifdef BEFORE_6_10
/* Flags do not come with the ACK; a socket enters CWR for other reasons than marks too, such as a full queue of its own. */
SEC("struct_ops/cong_control") void BPF_PROG(ff_cong_control, struct sock *sk, const struct rate_sample *rs)
{
	int flag = FLAG_ECE;
#else
SEC("struct_ops/cong_control") void BPF_PROG(ff_cong_control, struct sock *sk, u32 ack, int flag, const struct rate_sample *rs)
{
#endif
	struct tcp_sock *tp = tcp(sk);
	struct reader *r = reader(sk);
	u8 now = BPF_CORE_READ_BITFIELD(icsk(sk), icsk_ca_state);
	struct facts f;

	if (!r->over) {
		look(sk, &f);
		look_at_ack(sk, &f, rs);
		if (r->timed_out) {
			f.recovering = 1;
			say(sk, TIMED_OUT, &f);
			r->over = 1;
			r->timed_out = 0;
		} else {
			say(sk, ACKED, &f);
			if (!r->over && f.lost)
				say(sk, LOST, &f);
			else if (!r->over && (flag & FLAG_ECE) && now == TCP_CA_CWR && r->ca_state < TCP_CA_CWR)
				say(sk, MARKED, &f);
			r->ca_state = now;
		}
	}
	if (!r->over)
		return;
	/* A loss is being repaired: the first ACK is answered here, and the law's recovery takes the others. */
	if (now >= TCP_CA_CWR) {
		u32 pipe = packets_in_flight(tp);

		tp->snd_cwnd = pipe + 1;
	}
	hand_over(sk);
}

/* Kernels before 6.4 know no links. */
#ifdef BEFORE_6_10
SEC(".struct_ops")
#else
SEC(".struct_ops.link")
#endif
struct tcp_congestion_ops ops = {
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
