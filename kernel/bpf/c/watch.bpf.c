// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Reports for every TCP connection of the machine the data by which its start-up is judged: segments sent, acknowledgements received, and
 * the congestion control's numbers at each. This program changes nothing and decides nothing: crates/field/inspect decides, as it does for
 * captures.
 *
 * - `state` sees sockets open and close.
 * - `leaves` sees packets as a capture does, after the queues of the host.
 * - `hears` sees segments that arrive at a socket that is open at both ends, and `closing` those that arrive at a half-closed one: the
 *   tracepoint is not in their path.
 *
 * A connection is followed from the end of its handshake. Its first facts are reported one by one. After `settings.detail` of them
 * transmissions are reported together, four times per RTT, and so are acknowledgements; retransmissions are still reported one by one.
 */
#include <stdbool.h>
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;

/* Types of the kernel, which BTF describes. */
struct sock;
struct sk_buff;

char _license[] SEC("license") = "Dual MIT/GPL";

#define AF_INET 2
#define AF_INET6 10
#define FIN 0x01
#define SYN 0x02
#define ACK 0x10
#define ECN_OK 1
/* Options beyond those of timestamps may be selective acknowledgements. */
#define PLAIN 12
/* A threshold of slow start that was never set. */
#define INFINITE 0x7fffffff
#define MOST_OPTIONS 40

/* The loader sets them; its side is kernel/loader/src/watch.rs. */
const volatile struct {
	/* The network namespace that is watched, by inode; 0 is all. */
	u32 namespace;
	/* The port of this machine that is watched; 0 is all. */
	u32 port;
	/* Number of facts of a connection that are reported one by one. */
	u32 detail;
	/* Whether connections of the machine with itself, over its loopback addresses, are watched. */
	u32 loopback;
} settings SEC(".rodata.watch") = { .detail = 16384 };

enum { OPENED = 1, SENT, HEARD, CLOSED, NAMED };

/* What every fact has. */
struct fact {
	u64 socket, at_ns;
	/* SENT: the sequence numbers of the first byte and of the byte after the last one. HEARD: the acknowledgement number, and the
	 * unscaled window of the header. */
	u32 number, end;
	u32 cwnd, ssthresh;
	u8 kind, state;
	/* The flags of the header, and bytes of options that follow. */
	u8 flags, options;
	/* Facts of this connection that found no room since the last one. */
	u32 lost;
};

struct heard {
	struct fact fact;
	u8 options[MOST_OPTIONS];
};

/* Addresses as they stand in headers; an IPv4 address is in the first word. */
struct opened {
	struct fact fact;
	u8 local[16], remote[16];
	u64 cookie;
	u32 namespace, mss, srtt_us, una, rcv_nxt, window;
	u16 local_port, remote_port, family;
	u8 opener, sack, timestamps, scaled, snd_wscale, rcv_wscale, ecn, pad[3];
	char law[16];
	/* Retransmissions, and segments with data, that were sent by now. */
	u32 retransmitted, data_segments;
};

struct closed {
	struct fact fact;
	u64 bytes_acked;
	u32 una, retransmitted, delivered, srtt_us, lost;
	/* Segments with data: those that the kernel counts, and those that `leaves` saw. */
	u32 data_segments;
	char law[16];
	u32 seen_segments, pad;
};

/* The connection has another congestion control, chosen by the program or by the one before. */
struct named {
	struct fact fact;
	char law[16];
};

/* What is kept of a connection that is followed. */
struct watched {
	/* When transmissions and acknowledgements were last reported; the last packet sent, and its first interface. */
	u64 sent_ns, heard_ns, packet, device;
	/* The operations of the congestion control, until start-up is over and a large segment was sent, one longer than `large`. */
	u64 law;
	u32 large;
	/* Transmissions not reported yet, and the highest number sent. */
	u32 held, held_end, next, number;
	u32 reported, lost, unsaid;
	/* Segments with data that passed. */
	u32 segments;
};

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct watched);
} sockets SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 24);
} events SEC(".maps");

/* Facts that found no room. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u64);
} lost SEC(".maps");

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct in6_addr___w {
	union {
		__be32 u6_addr32[4];
	} in6_u;
};

struct net___w {
	struct {
		u32 inum;
	} ns;
};

struct sock_common___w {
	u16 skc_num;
	__be16 skc_dport;
	__be32 skc_daddr;
	__be32 skc_rcv_saddr;
	u16 skc_family;
	u8 skc_state;
	struct in6_addr___w skc_v6_daddr;
	struct in6_addr___w skc_v6_rcv_saddr;
	struct {
		struct net___w *net;
	} skc_net;
};

struct sock___w {
	struct sock_common___w __sk_common;
	u16 sk_protocol;
};

struct tcp_congestion_ops___w {
	char name[16];
};

struct inet_connection_sock___w {
	u8 icsk_ca_state : 5;
	const struct tcp_congestion_ops___w *icsk_ca_ops;
};

struct tcp_options_received___w {
	u16 tstamp_ok : 1, wscale_ok : 1, sack_ok : 3, snd_wscale : 4, rcv_wscale : 4;
};

struct tcp_sock___w {
	u32 mss_cache;
	u32 snd_cwnd;
	u32 snd_ssthresh;
	u32 snd_una;
	u32 snd_wnd;
	u32 rcv_nxt;
	u32 srtt_us;
	u32 delivered;
	u32 total_retrans;
	u32 data_segs_out;
	u64 bytes_acked;
	u8 ecn_flags;
	struct tcp_options_received___w rx_opt;
};

struct sk_buff___w {
	u16 transport_header;
	u32 end;
	unsigned char *head;
	unsigned char *data;
	u32 len;
	struct sock *sk;
	struct net_device *dev;
};

struct skb_shared_info___w {
	u16 gso_segs;
};

#pragma clang attribute pop

struct tcp_header {
	__be16 source, dest;
	__be32 seq, ack;
	u8 offset, flags;
	__be16 window;
	u32 rest;
};

static __always_inline struct tcp_sock___w *tcp_of(struct sock *sk)
{
	return (struct tcp_sock___w *)bpf_skc_to_tcp_sock(sk);
}

static __always_inline struct sock_common___w *common(struct tcp_sock___w *tp)
{
	return &((struct sock___w *)tp)->__sk_common;
}

/* Fills in what every fact has, of a socket whose type the verifier knows. */
static __always_inline void fill(struct fact *f, struct tcp_sock___w *tp, u8 kind)
{
	f->socket = (u64)tp;
	f->at_ns = bpf_ktime_get_ns();
	f->cwnd = tp->snd_cwnd;
	f->ssthresh = tp->snd_ssthresh;
	f->kind = kind;
	f->state = BPF_CORE_READ_BITFIELD((struct inet_connection_sock___w *)tp, icsk_ca_state);
	f->flags = f->options = 0;
}

/* `fill` for the socket of a packet, which the verifier knows for a `struct sock` only. Reading that socket as memory takes longer. */
static __always_inline void fill_read(struct fact *f, struct tcp_sock___w *tp, u8 kind)
{
	f->socket = (u64)tp;
	f->at_ns = bpf_ktime_get_ns();
	bpf_core_read(&f->cwnd, 4, &tp->snd_cwnd);
	bpf_core_read(&f->ssthresh, 4, &tp->snd_ssthresh);
	f->kind = kind;
	f->state = BPF_CORE_READ_BITFIELD_PROBED((struct inet_connection_sock___w *)tp, icsk_ca_state);
	f->flags = f->options = 0;
}

/* Counts a fact that found no room. */
static __always_inline void lose(struct watched *w)
{
	u32 zero = 0;
	u64 *count = bpf_map_lookup_elem(&lost, &zero);

	if (w) {
		w->lost++;
		w->unsaid++;
	}
	if (count)
		__sync_fetch_and_add(count, 1);
}

/* Room for a fact of some type; null if there is none. */
#define ROOM(type, w) ({ \
	type *place_ = bpf_ringbuf_reserve(&events, sizeof(type), 0); \
	if (!place_) \
		lose(w); \
	place_; \
})

/* The reader polls the ring by its own clock: no process is woken. */
static __always_inline void put(struct fact *f, struct watched *w)
{
	f->lost = w ? w->unsaid : 0;
	if (w)
		w->unsaid = 0;
	bpf_ringbuf_submit(f, BPF_RB_NO_WAKEUP);
}

/* The segments that the network card makes of a packet. */
static __always_inline u32 segments_of(struct sk_buff___w *s)
{
	struct skb_shared_info___w *shared = (struct skb_shared_info___w *)(s->head + s->end);
	u16 count = 0;

	bpf_core_read(&count, sizeof(count), &shared->gso_segs);
	return count ? count : 1;
}

/* A quarter of the smoothed RTT, which is stored eightfold; at least one millisecond. */
static __always_inline u64 quarter_ns(struct tcp_sock___w *tp)
{
	u32 srtt_us;
	u64 quarter;

	bpf_core_read(&srtt_us, 4, &tp->srtt_us);
	quarter = (u64)srtt_us * 1000 / 32;
	return quarter > 1000000 ? quarter : 1000000;
}

static __always_inline bool is_loopback(struct tcp_sock___w *tp)
{
	struct sock_common___w *c = common(tp);

	/* A socket of IPv6 whose peer has an address of IPv4 has that here too. */
	if ((c->skc_daddr & bpf_htonl(0xff000000)) == bpf_htonl(0x7f000000))
		return 1;
	if (c->skc_family == AF_INET)
		return c->skc_daddr == c->skc_rcv_saddr;
	for (int i = 0; i < 4; i++)
		if (c->skc_v6_daddr.in6_u.u6_addr32[i] != c->skc_v6_rcv_saddr.in6_u.u6_addr32[i])
			return 0;
	return 1;
}

static __always_inline struct tcp_congestion_ops___w *law_of(struct tcp_sock___w *tp)
{
	struct tcp_congestion_ops___w *ops = 0;

	bpf_core_read(&ops, sizeof(ops), &((struct inet_connection_sock___w *)tp)->icsk_ca_ops);
	return ops;
}

static __always_inline void name_law(char *law, struct tcp_sock___w *tp)
{
	bpf_core_read(law, 16, &law_of(tp)->name);
}

/* Reports the transmissions that were held back. */
static __always_inline void tell_held(struct tcp_sock___w *tp, struct watched *w)
{
	struct fact *f;

	if (w->held == w->held_end)
		return;
	f = ROOM(struct fact, w);
	if (f) {
		fill_read(f, tp, SENT);
		f->number = w->held;
		f->end = w->held_end;
		put(f, w);
	}
	w->held = w->held_end;
}

static __always_inline void opens(struct sock *sk, struct tcp_sock___w *tp, bool opener)
{
	struct sock_common___w *c = common(tp);
	struct opened *o;
	struct watched *w;
	u32 space;

	if (c->skc_family != AF_INET && c->skc_family != AF_INET6)
		return;
	if (settings.port && c->skc_num != settings.port)
		return;
	space = c->skc_net.net->ns.inum;
	if (settings.namespace && space != settings.namespace)
		return;
	if (!settings.loopback && is_loopback(tp))
		return;
	w = bpf_sk_storage_get(&sockets, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
	if (w) {
		w->next = tp->snd_una;
		w->law = (u64)law_of(tp);
		/* Options of MPTCP and signatures take a part of each segment. A program's greeting is shorter. */
		w->large = tp->mss_cache / 2;
		w->held = w->held_end = w->next;
	}
	o = ROOM(struct opened, w);
	if (!o)
		return;
	__builtin_memset(o, 0, sizeof(*o));
	fill(&o->fact, tp, OPENED);
	o->family = c->skc_family;
	if (o->family == AF_INET) {
		*(u32 *)o->local = c->skc_rcv_saddr;
		*(u32 *)o->remote = c->skc_daddr;
	} else {
		for (int i = 0; i < 4; i++) {
			((u32 *)o->local)[i] = c->skc_v6_rcv_saddr.in6_u.u6_addr32[i];
			((u32 *)o->remote)[i] = c->skc_v6_daddr.in6_u.u6_addr32[i];
		}
	}
	o->local_port = c->skc_num;
	o->remote_port = bpf_ntohs(c->skc_dport);
	o->namespace = space;
	o->cookie = bpf_get_socket_cookie(sk);
	o->opener = opener;
	o->mss = tp->mss_cache;
	o->srtt_us = tp->srtt_us;
	o->una = tp->snd_una;
	o->rcv_nxt = tp->rcv_nxt;
	o->window = tp->snd_wnd;
	o->scaled = BPF_CORE_READ_BITFIELD(tp, rx_opt.wscale_ok);
	o->sack = BPF_CORE_READ_BITFIELD(tp, rx_opt.sack_ok) != 0;
	o->timestamps = BPF_CORE_READ_BITFIELD(tp, rx_opt.tstamp_ok);
	o->snd_wscale = BPF_CORE_READ_BITFIELD(tp, rx_opt.snd_wscale);
	o->rcv_wscale = BPF_CORE_READ_BITFIELD(tp, rx_opt.rcv_wscale);
	o->ecn = tp->ecn_flags & ECN_OK;
	name_law(o->law, tp);
	o->retransmitted = tp->total_retrans;
	o->data_segments = tp->data_segs_out;
	put(&o->fact, w);
}

static __always_inline void ends(struct tcp_sock___w *tp, struct watched *w)
{
	struct closed *c;

	tell_held(tp, w);
	c = ROOM(struct closed, w);
	if (!c)
		return;
	fill(&c->fact, tp, CLOSED);
	c->fact.number = c->fact.end = 0;
	c->bytes_acked = tp->bytes_acked;
	c->una = tp->snd_una;
	c->retransmitted = tp->total_retrans;
	c->delivered = tp->delivered;
	c->srtt_us = tp->srtt_us;
	c->lost = w->lost;
	c->data_segments = tp->data_segs_out;
	c->seen_segments = w->segments;
	c->pad = 0;
	name_law(c->law, tp);
	put(&c->fact, w);
}

SEC("tp_btf/inet_sock_set_state") int BPF_PROG(state, struct sock *sk, int old, int new)
{
	struct tcp_sock___w *tp;
	struct watched *w;

	if (new != BPF_TCP_ESTABLISHED && new != BPF_TCP_CLOSE)
		return 0;
	tp = tcp_of(sk);
	if (!tp)
		return 0;
	if (new == BPF_TCP_ESTABLISHED) {
		opens(sk, tp, old == BPF_TCP_SYN_SENT);
		return 0;
	}
	w = bpf_sk_storage_get(&sockets, sk, 0, 0);
	if (w)
		ends(tp, w);
	return 0;
}

SEC("tp_btf/net_dev_start_xmit") int BPF_PROG(leaves, struct sk_buff *skb)
{
	struct sk_buff___w *s = (struct sk_buff___w *)skb;
	struct sock *sk = s->sk;
	struct tcp_header header;
	struct tcp_sock___w *tp;
	unsigned char *place;
	struct watched *w;
	struct named *n;
	struct fact *f;
	u32 seq, end, threshold = 0;
	u64 now, law;

	if (!sk)
		return 0;
	w = bpf_sk_storage_get(&sockets, sk, 0, 0);
	if (!w)
		return 0;
	place = s->head + s->transport_header;
	if (bpf_probe_read_kernel(&header, sizeof(header), place))
		return 0;
	seq = bpf_ntohl(header.seq);
	end = seq + s->len - (u32)(place - s->data) - header.offset / 16 * 4 + (header.flags & FIN);
	if (seq == end || header.flags & SYN)
		return 0;
	tp = (struct tcp_sock___w *)sk;
	/* Within a tunnel the header is another one: the packet passed before, at the tunnel's own interface. */
	if (header.source != bpf_htons(common(tp)->skc_num) || header.dest != common(tp)->skc_dport)
		return 0;
	/* A packet that passed a higher interface. A segment retransmitted at the first one may have the memory of its last copy. */
	if (w->packet == (u64)skb && w->number == seq && w->device != (u64)s->dev)
		return 0;
	w->packet = (u64)skb;
	w->device = (u64)s->dev;
	w->number = seq;
	if (end - seq > (header.flags & FIN))
		w->segments += segments_of(s);
	if (w->law) {
		law = (u64)law_of(tp);
		if (w->law != law) {
			n = ROOM(struct named, w);
			if (n) {
				fill_read(&n->fact, tp, NAMED);
				n->fact.number = n->fact.end = seq;
				name_law(n->law, tp);
				put(&n->fact, w);
			}
		}
		bpf_core_read(&threshold, 4, &tp->snd_ssthresh);
		w->law = threshold >= INFINITE || (int)(end - seq) <= (int)w->large ? law : 0;
	}
	if (++w->reported > settings.detail && !(header.flags & FIN) && seq == w->next) {
		w->next = end;
		now = bpf_ktime_get_ns();
		if (w->held == w->held_end)
			w->held = seq;
		w->held_end = end;
		if (now - w->sent_ns >= quarter_ns(tp)) {
			w->sent_ns = now;
			tell_held(tp, w);
		}
		return 0;
	}
	tell_held(tp, w);
	if ((int)(end - w->next) > 0)
		w->next = end;
	f = ROOM(struct fact, w);
	if (!f)
		return 0;
	fill_read(f, tp, SENT);
	f->number = seq;
	f->end = end;
	f->flags = header.flags;
	put(f, w);
	return 0;
}

/* A segment arrived at a socket, with so many bytes of payload. */
static __always_inline void on_ack(struct tcp_sock___w *tp, struct watched *w, const struct tcp_header *header, u32 payload,
				 const void *options)
{
	u32 ack = bpf_ntohl(header->ack), length = header->offset / 16 * 4 - sizeof(*header);
	bool is_plain = length <= PLAIN;
	struct heard *h;
	struct fact *f;
	u64 now;

	/* Data that comes, and acknowledges nothing new. */
	if (!(header->flags & ACK) || (payload && is_plain && ack == tp->snd_una))
		return;
	if (++w->reported > settings.detail && is_plain) {
		now = bpf_ktime_get_ns();
		if (now - w->heard_ns < quarter_ns(tp))
			return;
		w->heard_ns = now;
	}
	/* What it acknowledges must have left. */
	tell_held(tp, w);
	if (is_plain) {
		f = ROOM(struct fact, w);
		if (!f)
			return;
	} else {
		h = ROOM(struct heard, w);
		if (!h)
			return;
		bpf_probe_read_kernel(h->options, MOST_OPTIONS, options);
		f = &h->fact;
	}
	fill(f, tp, HEARD);
	f->number = ack;
	f->end = bpf_ntohs(header->window);
	f->flags = header->flags;
	f->options = is_plain ? 0 : length;
	put(f, w);
}

SEC("tp_btf/tcp_probe") int BPF_PROG(hears, struct sock *sk, struct sk_buff *skb)
{
	struct watched *w = bpf_sk_storage_get(&sockets, sk, 0, 0);
	struct sk_buff___w *s = (struct sk_buff___w *)skb;
	struct tcp_header header;
	struct tcp_sock___w *tp;

	if (!w)
		return 0;
	tp = tcp_of(sk);
	if (!tp || bpf_probe_read_kernel(&header, sizeof(header), s->data))
		return 0;
	on_ack(tp, w, &header, s->len - header.offset / 16 * 4, s->data + sizeof(header));
	return 0;
}

SEC("sockops") int closing(struct bpf_sock_ops *skops)
{
	void *data, *data_end;
	struct tcp_header header;
	struct tcp_sock___w *tp;
	struct watched *w;
	struct bpf_sock *sk;

	switch (skops->op) {
	case BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB:
	case BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB:
		if (!settings.port || skops->local_port == settings.port)
			bpf_sock_ops_cb_flags_set(skops, skops->bpf_sock_ops_cb_flags | BPF_SOCK_OPS_PARSE_ALL_HDR_OPT_CB_FLAG);
		return 1;
	case BPF_SOCK_OPS_PARSE_HDR_OPT_CB:
		break;
	default:
		return 1;
	}
	if (skops->state == BPF_TCP_ESTABLISHED)
		return 1;
	sk = skops->sk;
	if (!sk)
		return 1;
	w = bpf_sk_storage_get(&sockets, sk, 0, 0);
	if (!w)
		return 1;
	tp = (struct tcp_sock___w *)bpf_skc_to_tcp_sock(sk);
	data = skops->skb_data;
	data_end = skops->skb_data_end;
	if (!tp || data + sizeof(header) > data_end)
		return 1;
	__builtin_memcpy(&header, data, sizeof(header));
	on_ack(tp, w, &header, skops->skb_len - header.offset / 16 * 4, data + sizeof(header));
	return 1;
}
