/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Common parts of the readers of sockets: the facts passed to a scheme, the answers, their record, and the values that can be read
 * from a socket at any time. `struct facts`, `struct decision` and the kinds have their twins in src/facts.rs.
 */
#ifndef FIRSTFLIGHT_READER_H
#define FIRSTFLIGHT_READER_H

#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>
#include "settings.h"

char _license[] SEC("license") = "Dual MIT/GPL";

#define SOL_SOCKET 1
#define SO_MAX_PACING_RATE 47
#define SOL_TCP 6
#define TCP_CONGESTION 13
#define AF_INET 2
#define TCP_CONG_NON_RESTRICTED 1
#define SK_PACING_NONE 0
#define SK_PACING_NEEDED 1
#define FLAG_ECE 0x40
#define NO_PACING (~0ull)

enum { TCP_CA_Open, TCP_CA_Disorder, TCP_CA_CWR, TCP_CA_Recovery, TCP_CA_Loss };

/* What happened. Those of one ACK happen in this order. */
enum { BEGAN, SENT, RESENT, WOKEN, DRY, ACKED, LOST, MARKED, TIMED_OUT, IDLE, KINDS };

/* A record of the parameters, which are in it in place of facts and answer. One is before each BEGAN. */
#define SET KINDS
#define DID(kind) (1u << (kind))

/* What the reader saw of the socket. */
struct facts {
	u64 now_us, una, newest_sent_us;
	u32 mss, wire, cwnd, ssthresh;
	u32 flight, flight_before, pipe, delivered;
	u32 srtt_us, rtt_us, last_rtt_us, min_rtt_us;
	u32 rto_us, advanced, acked, lost;
	u32 prior_delivered, rate_delivered, rate_interval_us, rwnd;
	u32 backlog, limit, newest_starved, recovering;
	u32 sent, resent, idle_us, was_cwnd;
	u32 was_ssthresh, saved_bytes, saved_rtt_us, pad;
};

/* The scheme's answer. */
struct decision {
	u64 rate, wake_ns, pace;
	u32 window, ssthresh, over, bytes;
	u32 threshold, pacing, packets, tag;
};

struct record {
	u32 kind, ports;
	u64 socket;
	struct facts facts;
	struct decision decision;
};

extern void scheme_begin(void *state, const struct numbers *numbers, const struct facts *facts, struct decision *decision) asm(SCHEME ".begin");
extern void scheme_acked(void *state, const struct facts *facts, struct decision *decision) asm(SCHEME ".acked");
extern void scheme_answer(void *state, const struct facts *facts, struct decision *decision) asm(SCHEME ".answer");
extern void scheme_event(void *state, u32 kind, const struct facts *facts, struct decision *decision) asm(SCHEME ".event");

/*
 * The quotients of 128 bits: of `high` and `low`, and of the product of `one` and `other`, as a quantity is stored. They are Rust too, and
 * functions of their own as the ways into the scheme are below: their calls in Rust are led here.
 */
extern u64 wide_quotient(u64 high, u64 low, u64 divisor) asm("wide.quotient");

__attribute__((noinline)) u64 long_quotient(u64 high, u64 low, u64 divisor)
{
	return wide_quotient(high, low, divisor);
}

extern u64 wide_share(u64 one, u64 other, u64 divisor) asm("wide.share");

__attribute__((noinline)) u64 long_share(u64 one, u64 other, u64 divisor)
{
	return wide_share(one, other, divisor);
}

/* What the reader itself keeps of a socket. */
struct reader {
	/* SND.UNA at the begin, at the last event, and SND.NXT then. */
	u32 base, una, nxt;
	/* Retransmissions at the last event. */
	u32 resent;
	/* The newest sample of the round trip. */
	u32 rtt_us;
	/* Low bits of the instant of the wake-up. */
	u32 wake_us;
	u8 wakes, ca_state, over, paces, timed_out, restarts;
	/* Events being passed to the scheme. */
	u16 kinds;
	/* Values before an idle time; the socket's own maximum rate; the RTT of the present ACK. */
	u32 was_cwnd, was_ssthresh, most, sample_us;
	/* Low bits of the instant of the last ACK. */
	u32 heard_us;
};

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 22);
} events SEC(".maps");

/* Storage added to a socket: the reader's part, one event with its answer, and the state of the scheme. */
struct held {
	struct reader reader;
	struct facts facts;
	struct decision decision;
	u64 state[STATE];
};

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct held);
} sockets SEC(".maps");

/*
 * The ways into the scheme. They are functions of their own for the verifier, which then looks at each once, and not at every
 * way through one after every way through another.
 */
__attribute__((noinline)) int start(struct held *held)
{
	if (held)
		scheme_begin(held->state, numbers(), &held->facts, &held->decision);
	return 0;
}

__attribute__((noinline)) int tell_ack(struct held *held)
{
	if (held)
		scheme_acked(held->state, &held->facts, &held->decision);
	return 0;
}

__attribute__((noinline)) int tell(struct held *held, u32 kind)
{
	if (held)
		scheme_event(held->state, kind, &held->facts, &held->decision);
	return 0;
}

__attribute__((noinline)) int ask(struct held *held)
{
	if (held)
		scheme_answer(held->state, &held->facts, &held->decision);
	return 0;
}

/* What the socket has; null without memory for it, or where it never had it and `flags` do not ask for it. */
static __always_inline struct held *held(struct sock *sk, u64 flags)
{
	return bpf_sk_storage_get(&sockets, sk, 0, flags);
}

static __always_inline struct tcp_sock *tcp(struct sock *sk)
{
	return (struct tcp_sock *)sk;
}

static __always_inline struct inet_connection_sock *icsk(struct sock *sk)
{
	return (struct inet_connection_sock *)sk;
}

/*
 * Whether the packets of a socket are of IPv4. A socket of a server that listens at `::` is one of IPv6 for a client of IPv4 too; its peer
 * then has an IPv4-mapped address, ::ffff:a.b.c.d.
 */
static __always_inline bool is_ipv4(const struct sock *sk)
{
	const __be32 *peer = sk->__sk_common.skc_v6_daddr.in6_u.u6_addr32;

	return sk->__sk_common.skc_family == AF_INET || (!peer[0] && !peer[1] && peer[2] == bpf_htonl(0xffff));
}

static __always_inline u32 packets_in_flight(const struct tcp_sock *tp)
{
	return tp->packets_out - tp->sacked_out - tp->lost_out + tp->retrans_out;
}

static __always_inline void start_reading(struct sock *sk, struct reader *r)
{
	const struct tcp_sock *tp = tcp(sk);

	__builtin_memset(r, 0, sizeof(*r));
	r->base = tp->snd_una;
	r->una = tp->snd_una;
	r->nxt = tp->snd_nxt;
	r->resent = tp->total_retrans;
	r->rtt_us = tp->srtt_us >> 3;
}

/* What can be read at any time. */
static __always_inline void look(struct sock *sk, struct facts *f, const struct reader *r)
{
	const struct tcp_sock *tp = tcp(sk);
	u32 headers = tp->tcp_header_len + (is_ipv4(sk) ? 20 : 40);

	__builtin_memset(f, 0, sizeof(*f));
	f->now_us = tp->tcp_mstamp;
	f->una = tp->snd_una - r->base;
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
	f->sent = tp->snd_nxt - r->nxt;
	f->resent = tp->total_retrans - r->resent;
	if (tp->app_limited)
		f->limit = 1;
	else if (f->flight + f->mss > f->rwnd)
		f->limit = 2;
	f->recovering = r->ca_state >= TCP_CA_Recovery;
}

/* What an ACK brought: `acked` packets, with a round trip of `rtt` microseconds if that is more than nothing. */
static __always_inline void look_at_ack(struct sock *sk, struct facts *f, struct reader *r, u32 acked, long rtt)
{
	const struct tcp_sock *tp = tcp(sk);

	f->advanced = tp->snd_una - r->una;
	f->flight_before = f->flight + f->advanced;
	f->acked = acked;
	r->heard_us = f->now_us;
	f->newest_sent_us = tp->first_tx_mstamp;
	if (rtt > 0) {
		f->rtt_us = rtt;
		f->last_rtt_us = rtt;
		r->rtt_us = rtt;
	}
}

/* What is due with an ACK, besides what the ACK says. */
static __always_inline u32 due(const struct facts *f, struct reader *r, const struct tcp_sock *tp)
{
	u32 kinds = 0;

	if (f->sent)
		kinds |= DID(SENT);
	if (f->resent)
		kinds |= DID(RESENT);
	if (!f->backlog && !f->flight)
		kinds |= DID(DRY);
	if (r->wakes && (u32)f->now_us - r->wake_us < 1u << 31) {
		kinds |= DID(WOKEN);
		r->wakes = 0;
	}
	r->una = tp->snd_una;
	r->nxt = tp->snd_nxt;
	r->resent = tp->total_retrans;
	return kinds;
}

/* The same kinds, of which the verifier forgets how they came about: it would look at every way through the loop for each mixture. */
static __always_inline u32 forget(struct reader *r, u32 kinds)
{
	*(volatile u16 *)&r->kinds = kinds;
	return *(volatile u16 *)&r->kinds;
}

/* A record of the socket for the ring, without facts and answer yet; null where none is wanted, or has room. */
static __always_inline struct record *new_record(struct sock *sk, u32 kind)
{
	struct record *record;

	if (!settings.traced)
		return 0;
	record = bpf_ringbuf_reserve(&events, sizeof(*record), 0);
	if (!record)
		return 0;
	record->kind = kind;
	record->ports = sk->__sk_common.skc_num | (u32)sk->__sk_common.skc_dport << 16;
	record->socket = (u64)sk;
	return record;
}

/* Writes an event and its answer down. */
static __always_inline void trace(struct sock *sk, u32 kind, const struct held *h)
{
	struct record *record = new_record(sk, kind);

	if (!record)
		return;
	record->facts = h->facts;
	record->decision = h->decision;
	bpf_ringbuf_submit(record, 0);
}

/* Writes the parameters down that the scheme begins with, and then its begin. */
static __always_inline void trace_begin(struct sock *sk, const struct held *h)
{
	struct record *record = new_record(sk, SET);

	if (record) {
		__builtin_memset(&record->facts, 0, sizeof(record->facts));
		__builtin_memset(&record->decision, 0, sizeof(record->decision));
		__builtin_memcpy(&record->facts, numbers(), sizeof(struct numbers));
		bpf_ringbuf_submit(record, 0);
	}
	trace(sk, BEGAN, h);
}

/* Takes over what every answer has: window, threshold, the instant of the wake-up, and whether the scheme left. */
static __always_inline void take(struct sock *sk, struct held *h)
{
	struct tcp_sock *tp = tcp(sk);
	const struct decision *t = &h->decision;

	if (t->window)
		tp->snd_cwnd = t->window;
	if (t->over && t->ssthresh)
		tp->snd_ssthresh = t->ssthresh;
	h->reader.wakes = t->wake_ns != 0;
	h->reader.wake_us = (t->wake_ns + 999) / 1000;
	h->reader.over = t->over != 0;
}

/* Executes the scheme's answer: a start-up scheme is paced in another way than a restart policy. */
static __always_inline void obey(struct sock *sk, struct held *h);

/* Passes each of `kinds` to the scheme, in order, until it exits or, if `after_exit`, to the end. */
static __always_inline void say(struct sock *sk, struct held *h, u32 kinds, bool after_exit)
{
	kinds = forget(&h->reader, kinds);
#pragma clang loop unroll(disable)
	for (u32 kind = SENT; kind < KINDS; kind++) {
		if (!(kinds >> kind & 1))
			continue;
		if (kind == ACKED)
			tell_ack(h);
		else
			tell(h, kind);
		if (!h->decision.over)
			ask(h);
		trace(sk, kind, h);
		obey(sk, h);
		if (h->decision.over && !after_exit)
			break;
	}
}

/* Kernels before 6.4 know no links. */
#ifdef BEFORE_6_10
#define OPS SEC(".struct_ops")
#else
#define OPS SEC(".struct_ops.link")
#endif

#endif
