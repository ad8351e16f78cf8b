/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Quick-Start's options in packets (RFC 4782): how they are found.
 */
#ifndef FIRSTFLIGHT_QUICK_START_H
#define FIRSTFLIGHT_QUICK_START_H

#include <stdbool.h>
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_endian.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s32 s32;

char _license[] SEC("license") = "Dual MIT/GPL";

#define ETH_P_IP 0x0800
#define ETH_P_IPV6 0x86DD
#define HOP_BY_HOP 0
/* The next program of the interface decides. */
#define GO_ON (-1)

/* RFC 4782 sections 3.1 and 3.2: the option of IPv4 and of IPv6, and the function of a request. */
#define OPTION_V4 25
#define OPTION_V6 0x26
#define REQUEST 0x00
/* Bytes of the option. */
#define OPTION 8

/* The six bytes that all options share behind kind and length. */
struct body {
	u8 function, ttl;
	u8 nonce[4];
};

/* The header of a packet of IP. */
struct packet {
	/* Addresses as they are on the wire; an IPv4 address is in the last word. */
	u32 source[4], destination[4];
	/* Where what IP carries begins, behind the beginning of the IP header. */
	u32 end;
	/* Bytes of the packet by its IP header. */
	u32 length;
	/* What it is by the IP header itself, and what by the last header that was read. */
	u8 next, carries;
	u8 ttl, is_v6, is_fragment;
};

static __always_inline int load(struct __sk_buff *skb, u32 at, void *to, u32 length)
{
	return bpf_skb_load_bytes_relative(skb, at, to, length, BPF_HDR_START_NET);
}

/* Reads the IP header; false if there is none. */
static __always_inline bool look(struct __sk_buff *skb, struct packet *p)
{
	u8 ip[40];

	__builtin_memset(p, 0, sizeof(*p));
	if (skb->protocol == bpf_htons(ETH_P_IP)) {
		if (load(skb, 0, ip, 20))
			return false;
		p->end = (ip[0] & 15) * 4;
		p->length = ip[2] << 8 | ip[3];
		p->is_fragment = (ip[6] & 0x1f) || ip[7];
		p->ttl = ip[8];
		p->next = p->carries = ip[9];
		__builtin_memcpy(&p->source[3], ip + 12, 4);
		__builtin_memcpy(&p->destination[3], ip + 16, 4);
		return true;
	}
	if (skb->protocol != bpf_htons(ETH_P_IPV6) || load(skb, 0, ip, 40))
		return false;
	p->is_v6 = 1;
	p->end = 40;
	p->length = 40 + (ip[4] << 8 | ip[5]);
	p->next = p->carries = ip[6];
	p->ttl = ip[7];
	__builtin_memcpy(p->source, ip + 8, 16);
	__builtin_memcpy(p->destination, ip + 24, 16);
	if (p->next == HOP_BY_HOP) {
		u8 by_hop[2];

		if (load(skb, 40, by_hop, 2))
			return false;
		p->end += 8 * (by_hop[1] + 1);
		p->carries = by_hop[0];
	}
	return true;
}

/* Where the IP header begins: behind an Ethernet header, or, on a link without one, at once. -1 if it is at neither place. */
static __always_inline int place(struct __sk_buff *skb)
{
	u32 wanted[5], found[5];

	if (load(skb, 0, wanted, 20))
		return -1;
	for (int at = 0; at <= 14; at += 14)
		if (!bpf_skb_load_bytes(skb, at, found, 20) && wanted[0] == found[0] && wanted[1] == found[1] &&
		    wanted[2] == found[2] && wanted[3] == found[3] && wanted[4] == found[4])
			return at;
	return -1;
}

/* Where Quick-Start's option begins, behind the beginning of the IP header; 0 if there is none. */
static __always_inline u32 find(struct __sk_buff *skb, const struct packet *p)
{
	u8 kind = p->is_v6 ? OPTION_V6 : OPTION_V4, length = p->is_v6 ? sizeof(struct body) : OPTION;
	u32 at = p->is_v6 ? 42 : 20;

	if (p->is_v6 && p->next != HOP_BY_HOP)
		return 0;
	for (int i = 0; i < 40; i++) {
		u8 head[2];

		/* An option is behind 255 bytes of others at most, with room to spare. */
		if (at + 2 > p->end || at > 300 || load(skb, at, head, 2))
			return 0;
		if (head[0] == kind && head[1] == length)
			return at + OPTION <= p->end ? at : 0;
		if (head[0] == (p->is_v6 ? 0 : 1)) {
			at++;
		} else if (!p->is_v6 && head[0] == 0) {
			return 0;
		} else {
			if (!p->is_v6 && head[1] < 2)
				return 0;
			at += head[1] + (p->is_v6 ? 2 : 0);
		}
	}
	return 0;
}

#endif
