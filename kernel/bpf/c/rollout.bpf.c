// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Sets the congestion control of new connections by peer, network namespace and share of the peers. The cgroup is that to which
 * the loader attaches the program.
 *
 * The kernel calls this program when a connection is established, next to the place where it initialises the congestion control
 * for itself: the window is the initial one, the RTT of the handshake is known, and no data was sent. A congestion control that
 * is set here begins as if it were the default.
 *
 * A socket whose program chose a congestion control (TCP_CONGESTION) keeps it. An earlier rollout is such a choice to the kernel,
 * so that the first one that matches decides.
 */
#include <stdbool.h>
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_core_read.h>

typedef __u8 u8;
typedef __u32 u32;
typedef __u64 u64;

char _license[] SEC("license") = "Dual MIT/GPL";

#define AF_INET 2
#define SOL_TCP 6
#define TCP_CONGESTION 13
/* A share is in millionths of the peers. */
#define ALL 1000000

/* The loader sets them; its side is kernel/loader/src/rollout.rs. */
const volatile struct {
	/* The congestion control to set. */
	char name[16];
	/* The cookie of the network namespace; 0 is all. */
	u64 namespace;
	/* The share of the peers: those from the place `first` on, `count` millionths. */
	u32 first, count;
	/* How many prefixes there are; without any each peer is meant. */
	u32 prefixes, pad;
	/* The path of the network namespace, for people; empty if it is the loader's own. */
	char label[64];
} settings SEC(".rodata.rollout") = { .name = "ff_scheme", .count = ALL };

/* The prefixes of peers. An IPv4 address is in the first four bytes, also that of an IPv6 socket. */
struct prefix {
	/* The bits that count: those of the family and of the prefix. */
	u32 bits;
	/* 4 or 6, and the address, as on the wire. */
	u32 family;
	u32 address[4];
};

struct {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 16384);
	__type(key, struct prefix);
	__type(value, u32);
} prefixes SEC(".maps");

/* Whether connections are changed at all, then how many were: the loader sets the first when all else is in place. */
enum { ARMED, GIVEN, OWN, REFUSED, WORDS };

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, WORDS);
	__type(key, u32);
	__type(value, u64);
} state SEC(".maps");

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct inet_connection_sock {
	u8 icsk_ca_setsockopt : 1;
};

struct tcp_sock {
	struct inet_connection_sock inet_conn;
};

#pragma clang attribute pop

static __always_inline u64 *word(u32 which)
{
	return bpf_map_lookup_elem(&state, &which);
}

static __always_inline void count(u32 which)
{
	u64 *number = word(which);

	if (number)
		__sync_fetch_and_add(number, 1);
}

/* The place of a peer among all peers, in millionths: the finaliser of SplitMix64. The twin is `place` of kernel/loader/src/peers.rs. */
static __always_inline u32 place(u64 peer)
{
	peer += 0x9e3779b97f4a7c15ull;
	peer = (peer ^ peer >> 30) * 0xbf58476d1ce4e5b9ull;
	peer = (peer ^ peer >> 27) * 0x94d049bb133111ebull;
	peer ^= peer >> 31;
	return (peer >> 32) * ALL >> 32;
}

/* Whether the rollout is for connections with this peer. */
static __always_inline bool is_meant(struct bpf_sock_ops *ops)
{
	u32 v4 = ops->remote_ip4, a = ops->remote_ip6[0], b = ops->remote_ip6[1], c = ops->remote_ip6[2], d = ops->remote_ip6[3];
	struct prefix peer = { .bits = 32 + 128, .family = bpf_htonl(6) };
	u64 number;

	/* The verifier takes no read of the context at an address that depends on the family. */
	barrier_var(v4);
	barrier_var(d);
	if (ops->family != AF_INET && !a && !b && c == bpf_htonl(0xffff))
		v4 = d;
	else if (ops->family != AF_INET)
		v4 = 0;
	if (v4) {
		peer.family = bpf_htonl(4);
		peer.address[0] = v4;
		number = bpf_ntohl(v4);
	} else {
		peer.address[0] = a;
		peer.address[1] = b;
		peer.address[2] = c;
		peer.address[3] = d;
		/* The prefix of 64 bits within which a host changes its address. */
		number = (u64)bpf_ntohl(a) << 32 | bpf_ntohl(b);
	}
	if (settings.count != ALL && place(number) - settings.first >= settings.count)
		return false;
	return !settings.prefixes || bpf_map_lookup_elem(&prefixes, &peer);
}

SEC("sockops") int rollout(struct bpf_sock_ops *ops)
{
	struct bpf_sock *sk = ops->is_fullsock ? ops->sk : 0;
	struct tcp_sock *tp;
	u64 *armed;

	if (ops->op != BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB && ops->op != BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB)
		return 1;
	armed = word(ARMED);
	if (!sk || !armed || !*armed)
		return 1;
	if (settings.namespace && bpf_get_netns_cookie(ops) != settings.namespace)
		return 1;
	if (!is_meant(ops))
		return 1;
	tp = bpf_skc_to_tcp_sock(sk);
	if (!tp || BPF_CORE_READ_BITFIELD(&tp->inet_conn, icsk_ca_setsockopt))
		count(OWN);
	else if (bpf_setsockopt(ops, SOL_TCP, TCP_CONGESTION, (void *)settings.name, sizeof(settings.name)))
		count(REFUSED);
	else
		count(GIVEN);
	return 1;
}
