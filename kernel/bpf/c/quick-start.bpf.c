// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Quick-Start (RFC 4782) for programs without Quick-Start support, at the two hosts of a connection.
 *
 * - `leaves` and `arrives` see the packets of an interface. They put a request into a SYN or SYN-ACK, and the report of the approved
 *   rate into a packet with room for it; and they remember the requests that arrive.
 * - `sockets` is called for the sockets: it answers requests by a TCP option, and handles answers: if all routers approved, it sets the
 *   window, and a limit on the rate for one RTT.
 *
 * The socket's congestion control continues with that window. It alone responds to losses.
 */
#include "quick-start.h"
#include <bpf/bpf_core_read.h>

#define AF_INET6 10
#define PROTO_TCP 6
#define SOL_SOCKET 1
#define SO_MAX_PACING_RATE 47
#define TCP_CONGESTION 13
#define SOL_TCP 6
#define SYN 0x02
#define ACK 0x10

/* RFC 4782 sections 3.1 and 4.2: the function of a report, and the option of TCP. */
#define REPORT 0x80
#define OPTION_TCP 27
/* Bytes of a hop-by-hop header with the option. */
#define HEADER_V6 16
/* Section 4.4: sending at the approved rate begins within a round trip, and within three seconds. */
#define LATEST_NS 3000000000ull

/* The loader sets them; its side is kernel/loader/src/quick_start.rs. */
const volatile struct {
	/* The namespaces of the hosts, by inode; 0 is none. */
	u32 namespaces[2];
	/* The code of the requested rate, and the packets with requests: 1 a SYN, 2 a SYN-ACK. */
	u32 rate, asks;
	/* The congestion control of sockets that sent a request; empty if they keep their own. */
	char law[16];
} settings SEC(".rodata.quick_start") = { .rate = 15, .asks = 3 };

/* Addresses and ports as they are on the wire; an IPv4 address is in the last word. */
struct flow {
	u32 local[4], remote[4];
	u16 local_port, remote_port;
};

/* How a request ended, and how sending at the approved rate did. */
enum { WAITS, APPROVED, SMALL, DENIED, UNANSWERED, PASSED_BY, FORGED, LOST, LAPSED, ENDED };

struct asked {
	/* The sequence number of the SYN, as it is on the wire. */
	u32 nonce, isn;
	u8 ttl_diff, outcome, approved, report;
};

/* A socket that sends at the approved rate. */
struct started {
	u64 at_ns;
	/* After a reset the socket no longer has its ports. */
	struct flow flow;
	/* The previous limit on its rate, and this program's. */
	u32 limit, ours;
	u32 window, was_cwnd, round_us, retransmitted;
	/* Segments of the first round trip and their end; segments by the end of the last one; the callbacks that this program requested. */
	u32 segments, round_end, sent, flags;
	u8 asked, approved, is_limited, is_settled;
};

/* A report to the loader about a connection. */
struct event {
	struct flow flow;
	u32 outcome, asked, approved, window, rtt_us, segments, retransmitted;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 65536);
	__type(key, struct flow);
	__type(value, struct asked);
} asked SEC(".maps");

/* Requests that arrived: the answer to each. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 65536);
	__type(key, struct flow);
	__type(value, struct body);
} heard SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct started);
} started SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);
} events SEC(".maps");

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct net {
	struct {
		u32 inum;
	} ns;
};

struct sock_common {
	struct {
		struct net *net;
	} skc_net;
};

struct sock {
	struct sock_common __sk_common;
};

struct tcp_sock {
	u16 tcp_header_len;
};

#pragma clang attribute pop

/* What a packet of TCP says besides its IP header. */
struct segment {
	struct flow flow;
	/* In the byte order of the wire. */
	u32 seq;
	u8 flags, has_data;
};

static __always_inline bool look_at_tcp(struct __sk_buff *skb, struct packet *p, struct segment *t, bool leaves)
{
	u8 tcp[14];

	__builtin_memset(t, 0, sizeof(*t));
	if (!look(skb, p) || p->carries != PROTO_TCP || p->is_fragment || load(skb, p->end, tcp, sizeof(tcp)))
		return false;
	__builtin_memcpy(t->flow.local, leaves ? p->source : p->destination, 16);
	__builtin_memcpy(t->flow.remote, leaves ? p->destination : p->source, 16);
	__builtin_memcpy(&t->flow.local_port, leaves ? tcp : tcp + 2, 2);
	__builtin_memcpy(&t->flow.remote_port, leaves ? tcp + 2 : tcp, 2);
	__builtin_memcpy(&t->seq, tcp + 4, 4);
	t->flags = tcp[13];
	t->has_data = p->end + (tcp[12] >> 4) * 4 != p->length;
	return true;
}

/* Puts an option into the IP header. In an outgoing packet only the IPv4 checksum covers that header. */
static __always_inline bool insert(struct __sk_buff *skb, const struct packet *p, const struct body *body)
{
	int at = place(skb);

	if (at < 0)
		return false;
	if (p->is_v6) {
		u8 header[HEADER_V6] = { PROTO_TCP, HEADER_V6 / 8 - 1, OPTION_V6, sizeof(*body) };
		u8 ip[8];

		/* Two hop-by-hop headers are not allowed (RFC 8200 section 4.1). */
		if (p->next != PROTO_TCP || load(skb, 0, ip, 8) || bpf_skb_adjust_room(skb, HEADER_V6, BPF_ADJ_ROOM_NET, 0))
			return false;
		__builtin_memcpy(header + 4, body, sizeof(*body));
		/* PadN over the rest. */
		header[10] = 1;
		header[11] = 4;
		u16 length = bpf_htons(bpf_ntohs(*(u16 *)(ip + 4)) + HEADER_V6);
		__builtin_memcpy(ip + 4, &length, 2);
		ip[6] = HOP_BY_HOP;
		return !bpf_skb_store_bytes(skb, at, ip, 8, 0) && !bpf_skb_store_bytes(skb, at + 40, header, HEADER_V6, 0);
	}
	struct {
		u8 kind, length;
		struct body body;
	} option = { OPTION_V4, OPTION, *body };
	u32 ip[5], was;
	u64 sum;

	if (p->end > 60 - OPTION || load(skb, 0, ip, 20) || bpf_skb_adjust_room(skb, OPTION, BPF_ADJ_ROOM_NET, 0))
		return false;
	was = ip[0];
	((u8 *)ip)[0] += OPTION / 4;
	((u16 *)ip)[1] = bpf_htons(bpf_ntohs(((u16 *)ip)[1]) + OPTION);
	sum = bpf_csum_diff((__be32 *)&was, 4, (__be32 *)ip, 4, (u16)~((u16 *)ip)[5]);
	sum = bpf_csum_diff(0, 0, (__be32 *)&option, OPTION, sum);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	((u16 *)ip)[5] = ~sum;
	return !bpf_skb_store_bytes(skb, at, ip, 20, 0) && !bpf_skb_store_bytes(skb, at + 20, &option, OPTION, 0);
}

static __always_inline void write_nonce(struct body *body, u32 nonce)
{
	u32 word = bpf_htonl(nonce << 2);

	__builtin_memcpy(body->nonce, &word, 4);
}

/*
 * A SYN that leaves: asks, or notes that the request was lost. A retransmission, which has the sequence number of the first, asks no more
 * (section 4.7); another number is another connection between the same ports.
 */
static __always_inline void ask(struct __sk_buff *skb, const struct packet *p, const struct segment *t)
{
	struct asked *before = bpf_map_lookup_elem(&asked, &t->flow);
	struct asked now = {};
	struct body body = {};

	if (!(settings.asks & (t->flags & ACK ? 2 : 1)))
		return;
	if (before && before->isn == t->seq) {
		if (before->outcome == WAITS)
			before->outcome = LOST;
		return;
	}
	if (before)
		bpf_map_delete_elem(&asked, &t->flow);
	now.isn = t->seq;
	now.nonce = bpf_get_prandom_u32() >> 2;
	body.function = REQUEST | settings.rate;
	body.ttl = bpf_get_prandom_u32();
	now.ttl_diff = p->ttl - body.ttl;
	write_nonce(&body, now.nonce);
	if (insert(skb, p, &body))
		bpf_map_update_elem(&asked, &t->flow, &now, BPF_ANY);
}

/* Reports the approved rate (section 4.4), once, in a packet that has no data to lose and room for it. */
static __always_inline void report(struct __sk_buff *skb, const struct packet *p, const struct segment *t)
{
	struct asked *a = bpf_map_lookup_elem(&asked, &t->flow);
	struct body body = {};
	u32 mtu = 0;

	if (t->has_data || !a || !a->report || bpf_check_mtu(skb, 0, &mtu, p->is_v6 ? HEADER_V6 : OPTION, 0))
		return;
	body.function = REPORT | a->approved;
	write_nonce(&body, a->nonce);
	a->report = 0;
	insert(skb, p, &body);
}

SEC("tcx/egress") int leaves(struct __sk_buff *skb)
{
	struct segment t;
	struct packet p;

	/* What this host forwards is not its own to ask for. */
	if (skb->ingress_ifindex || !look_at_tcp(skb, &p, &t, true))
		return GO_ON;
	if (t.flags & SYN)
		ask(skb, &p, &t);
	else if (skb->gso_segs <= 1)
		report(skb, &p, &t);
	return GO_ON;
}

/* Whether a socket of this host takes the packet; otherwise it passes, or is refused. */
static __always_inline bool is_awaited(struct __sk_buff *skb, const struct packet *p, const struct segment *t)
{
	struct bpf_sock_tuple to = {};
	struct bpf_sock *sk;
	u32 size;

	if (p->is_v6) {
		__builtin_memcpy(to.ipv6.saddr, p->source, 16);
		__builtin_memcpy(to.ipv6.daddr, p->destination, 16);
		to.ipv6.sport = t->flow.remote_port;
		to.ipv6.dport = t->flow.local_port;
		size = sizeof(to.ipv6);
	} else {
		to.ipv4.saddr = p->source[3];
		to.ipv4.daddr = p->destination[3];
		to.ipv4.sport = t->flow.remote_port;
		to.ipv4.dport = t->flow.local_port;
		size = sizeof(to.ipv4);
	}
	sk = bpf_skc_lookup_tcp(skb, &to, size, BPF_F_CURRENT_NETNS, 0);
	if (!sk)
		return false;
	bpf_sk_release(sk);
	return true;
}

SEC("tcx/ingress") int arrives(struct __sk_buff *skb)
{
	struct body body;
	struct segment t;
	struct packet p;
	u32 at;

	if (!look_at_tcp(skb, &p, &t, false) || !(t.flags & SYN))
		return GO_ON;
	at = find(skb, &p);
	if (!at || load(skb, at + 2, &body, sizeof(body)) || (body.function & 0xf0) != REQUEST)
		return GO_ON;
	if (!is_awaited(skb, &p, &t))
		return GO_ON;
	body.function &= 15;
	body.ttl = p.ttl - body.ttl;
	bpf_map_update_elem(&heard, &t.flow, &body, BPF_ANY);
	return GO_ON;
}

static __always_inline void flow_of(struct bpf_sock_ops *ops, struct flow *f)
{
	__builtin_memset(f, 0, sizeof(*f));
	if (ops->family == AF_INET6) {
		f->local[0] = ops->local_ip6[0];
		f->local[1] = ops->local_ip6[1];
		f->local[2] = ops->local_ip6[2];
		f->local[3] = ops->local_ip6[3];
		f->remote[0] = ops->remote_ip6[0];
		f->remote[1] = ops->remote_ip6[1];
		f->remote[2] = ops->remote_ip6[2];
		f->remote[3] = ops->remote_ip6[3];
		/* An IPv4 address of a socket of IPv6 (RFC 4291 section 2.5.5.2). */
		if (!f->remote[0] && !f->remote[1] && f->remote[2] == bpf_htonl(0xffff))
			f->local[0] = f->local[1] = f->local[2] = f->remote[2] = 0;
	} else {
		f->local[3] = ops->local_ip4;
		f->remote[3] = ops->remote_ip4;
	}
	f->local_port = bpf_htons(ops->local_port);
	f->remote_port = ops->remote_port >> 16;
}

static __always_inline bool is_ours(struct bpf_sock_ops *ops, struct bpf_sock *sk)
{
	struct tcp_sock *tp;
	u32 inode;

	/* A half-open connection is known by its packets, which are ours. */
	if (!sk)
		return true;
	tp = bpf_skc_to_tcp_sock(sk);
	if (!tp)
		return false;
	inode = BPF_CORE_READ((struct sock *)tp, __sk_common.skc_net.net, ns.inum);
	return inode == settings.namespaces[0] || inode == settings.namespaces[1];
}

static __always_inline void set_flags(struct bpf_sock_ops *ops, u32 more, u32 less)
{
	bpf_sock_ops_cb_flags_set(ops, (ops->bpf_sock_ops_cb_flags | more) & ~less);
}

static __always_inline void tell(u32 outcome, const struct started *s, u32 rtt_us, u32 segments)
{
	struct event *event = bpf_ringbuf_reserve(&events, sizeof(*event), 0);

	if (!event)
		return;
	event->flow = s->flow;
	event->outcome = outcome;
	event->asked = s->asked;
	event->approved = s->approved;
	event->window = s->window;
	event->rtt_us = rtt_us;
	event->segments = segments;
	event->retransmitted = s->retransmitted;
	bpf_ringbuf_submit(event, 0);
}

/* What an answer means (sections 4.2 and 4.4), and the rate that it approves. */
static __always_inline u32 judge(struct bpf_sock_ops *ops, const struct asked *a, u8 *approved)
{
	struct {
		u8 kind, length;
		struct body body;
	} answer = { OPTION_TCP };
	u32 nonce, same;

	if (a->outcome == LOST)
		return LOST;
	if (bpf_load_hdr_opt(ops, &answer, OPTION, 0) != OPTION)
		return UNANSWERED;
	if (!(answer.body.function & 15))
		return DENIED;
	if (answer.body.ttl != a->ttl_diff)
		return PASSED_BY;
	__builtin_memcpy(&nonce, answer.body.nonce, 4);
	nonce = bpf_ntohl(nonce) >> 2;
	/* The pairs of the steps from the approved rate down are as they were sent (section 3.4). */
	same = (1u << 2 * (answer.body.function & 15)) - 1;
	if ((answer.body.function & 15) > settings.rate || (nonce ^ a->nonce) & same)
		return FORGED;
	*approved = answer.body.function & 15;
	return APPROVED;
}

/* What a socket at the approved rate is watched by. */
#define CALLBACKS (BPF_SOCK_OPS_RTT_CB_FLAG | BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG | BPF_SOCK_OPS_RETRANS_CB_FLAG)

/* The window is the rate times a round trip, in segments with their headers (section 4.4). */
static __always_inline void start(struct bpf_sock_ops *ops, struct bpf_sock *sk, struct started *s, u32 headers)
{
	u64 rate = 5000ull << s->approved;
	u32 mss = ops->mss_cache, none = ~0u;
	struct started *kept;

	s->window = rate * (ops->srtt_us >> 3) / (1000000ull * (mss + headers));
	s->was_cwnd = ops->snd_cwnd;
	if (s->window <= s->was_cwnd)
		return;
	/* The kernel paces by the bytes of data. */
	s->ours = rate * mss / (mss + headers);
	s->at_ns = bpf_ktime_get_ns();
	s->round_us = ops->srtt_us >> 3;
	s->limit = none;
	bpf_getsockopt(ops, SOL_SOCKET, SO_MAX_PACING_RATE, &s->limit, sizeof(s->limit));
	if (s->ours > s->limit)
		s->ours = s->limit;
	s->is_limited = 1;
	s->flags = CALLBACKS & ~ops->bpf_sock_ops_cb_flags;
	kept = bpf_sk_storage_get(&started, sk, s, BPF_SK_STORAGE_GET_F_CREATE);
	if (!kept) {
		s->window = 0;
		return;
	}
	if (bpf_setsockopt(ops, SOL_TCP, TCP_BPF_IW, &s->window, sizeof(s->window))) {
		bpf_sk_storage_delete(&started, sk);
		s->window = 0;
		return;
	}
	bpf_setsockopt(ops, SOL_SOCKET, SO_MAX_PACING_RATE, &s->ours, sizeof(s->ours));
	set_flags(ops, CALLBACKS, 0);
}

static __always_inline void established(struct bpf_sock_ops *ops, struct bpf_sock *sk)
{
	struct started s = {};
	struct tcp_sock *tp;
	struct asked *a;
	struct flow f;
	u32 headers, outcome;

	flow_of(ops, &f);
	a = bpf_map_lookup_elem(&asked, &f);
	if (!a || !sk)
		return;
	if (settings.law[0])
		bpf_setsockopt(ops, SOL_TCP, TCP_CONGESTION, (void *)settings.law, sizeof(settings.law));
	s.flow = f;
	s.asked = settings.rate;
	outcome = judge(ops, a, &s.approved);
	if (outcome == APPROVED) {
		tp = bpf_skc_to_tcp_sock(sk);
		headers = (tp ? BPF_CORE_READ(tp, tcp_header_len) : 20) + (f.remote[0] || f.remote[1] || f.remote[2] ? 40 : 20);
		start(ops, sk, &s, headers);
		if (s.window <= s.was_cwnd)
			outcome = SMALL;
	}
	a->outcome = outcome;
	a->approved = s.approved;
	/* What dropped the request would drop the report. */
	a->report = outcome != LOST;
	tell(outcome, &s, ops->srtt_us >> 3, 0);
}

/* The limit on the rate is what it was, unless the program has set another since. */
static __always_inline void lift(struct bpf_sock_ops *ops, struct started *s)
{
	u32 present = 0;

	s->is_limited = 0;
	bpf_getsockopt(ops, SOL_SOCKET, SO_MAX_PACING_RATE, &present, sizeof(present));
	if (present == s->ours)
		bpf_setsockopt(ops, SOL_SOCKET, SO_MAX_PACING_RATE, &s->limit, sizeof(s->limit));
}

static __always_inline void forget(struct bpf_sock_ops *ops, struct bpf_sock *sk, struct started *s)
{
	set_flags(ops, 0, s->flags);
	bpf_sk_storage_delete(&started, sk);
}

static __always_inline void lapse(struct bpf_sock_ops *ops, struct bpf_sock *sk, struct started *s)
{
	lift(ops, s);
	bpf_setsockopt(ops, SOL_TCP, TCP_BPF_IW, &s->was_cwnd, sizeof(s->was_cwnd));
	tell(LAPSED, s, ops->srtt_us >> 3, 0);
	forget(ops, sk, s);
}

/*
 * Handles the end of a round trip. The first is reported, and again when all of it was acknowledged. No hook reduces an unused part of the
 * window after data was sent. The limit therefore stays until a round trip used seven eighths of the window (pacing may miss the rest), or
 * until the law has reduced it: no socket sends faster than approved with a window that the path never carried.
 */
static __always_inline void round_over(struct bpf_sock_ops *ops, struct bpf_sock *sk, struct started *s)
{
	u32 sent = ops->data_segs_out - s->sent;

	s->sent = ops->data_segs_out;
	if (!s->segments) {
		s->segments = ops->data_segs_out;
		s->round_end = ops->snd_nxt;
		tell(ENDED, s, ops->srtt_us >> 3, s->segments);
	}
	if (!s->is_settled && (s32)(ops->snd_una - s->round_end) >= 0) {
		s->is_settled = 1;
		if (s->retransmitted)
			tell(ENDED, s, ops->srtt_us >> 3, s->segments);
	}
	if (s->is_limited && (sent >= s->window - s->window / 8 || ops->snd_cwnd < s->window))
		lift(ops, s);
	if (s->is_settled && !s->is_limited)
		forget(ops, sk, s);
}

/* A segment is about to be made. The first one of data comes too late for an approval that is older than a round trip. */
static __always_inline void make(struct bpf_sock_ops *ops, struct bpf_sock *sk)
{
	struct started *s = sk ? bpf_sk_storage_get(&started, sk, 0, 0) : 0;
	u64 age, latest;
	struct flow f;

	if (s && !ops->data_segs_out) {
		age = bpf_ktime_get_ns() - s->at_ns;
		latest = s->round_us * 1000ull;
		if (age > (latest < LATEST_NS ? latest : LATEST_NS))
			lapse(ops, sk, s);
	}
	if ((ops->skb_tcp_flags & (SYN | ACK)) == SYN)
		return;
	flow_of(ops, &f);
	if (bpf_map_lookup_elem(&heard, &f))
		bpf_reserve_hdr_opt(ops, OPTION, 0);
}

/* Answers the request that arrived, on the SYN-ACK or on the ACK of one. */
static __always_inline void answer(struct bpf_sock_ops *ops, struct bpf_sock *sk)
{
	struct {
		u8 kind, length;
		struct body body;
	} option = { OPTION_TCP, OPTION };
	struct body *body;
	struct flow f;

	flow_of(ops, &f);
	body = bpf_map_lookup_elem(&heard, &f);
	if (!body || (ops->skb_tcp_flags & (SYN | ACK)) == SYN)
		return;
	option.body = *body;
	bpf_store_hdr_opt(ops, &option, OPTION, 0);
	if (!(ops->skb_tcp_flags & SYN)) {
		bpf_map_delete_elem(&heard, &f);
		/* A socket at the approved rate still gets callbacks for its segments. */
		if (!sk || !bpf_sk_storage_get(&started, sk, 0, 0))
			set_flags(ops, 0, BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG);
	}
}

SEC("sockops") int sockets(struct bpf_sock_ops *ops)
{
	/* None while the connection is only half there. */
	struct bpf_sock *sk = ops->is_fullsock ? ops->sk : 0;
	struct started *s;
	struct flow f;

	if (!is_ours(ops, sk))
		return 1;
	switch (ops->op) {
	case BPF_SOCK_OPS_TCP_LISTEN_CB:
		set_flags(ops, BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG, 0);
		break;
	case BPF_SOCK_OPS_HDR_OPT_LEN_CB:
		make(ops, sk);
		break;
	case BPF_SOCK_OPS_WRITE_HDR_OPT_CB:
		answer(ops, sk);
		break;
	case BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB:
		/* The SYN-ACK has answered, and the listening socket's flag came along. */
		flow_of(ops, &f);
		bpf_map_delete_elem(&heard, &f);
		set_flags(ops, 0, BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG);
		established(ops, sk);
		break;
	case BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB:
		flow_of(ops, &f);
		if (bpf_map_lookup_elem(&heard, &f))
			set_flags(ops, BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG, 0);
		established(ops, sk);
		break;
	case BPF_SOCK_OPS_RETRANS_CB:
		s = sk ? bpf_sk_storage_get(&started, sk, 0, 0) : 0;
		/* Of the first round trip alone: the arguments are the first byte and how many segments. */
		if (s && !s->is_settled && (!s->segments || (s32)(ops->args[0] - s->round_end) < 0))
			s->retransmitted += ops->args[1];
		break;
	case BPF_SOCK_OPS_RTT_CB:
		s = sk ? bpf_sk_storage_get(&started, sk, 0, 0) : 0;
		if (s && ops->data_segs_out)
			round_over(ops, sk, s);
		break;
	}
	return 1;
}
