// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * A router of Quick-Start (RFC 4782 section 3.3 and appendix D; Scharf's analysis, section V) before the link of an interface: it measures
 * what leaves, and answers the requests among it. It decides as the router of the simulator does, crates/lab/sim/src/quick_start, whose
 * words are used here.
 *
 * Work is in nanoseconds of the link's time; instants are since the first packet.
 */
#include "quick-start.h"

#define MILLION 1000000ull
#define SECOND_BITS 8000000000ull
/* Means are kept in this fraction of a nanosecond. */
#define SCALE 1024
/* Maximum number of slots, and of intervals of a peak. */
#define MOST 255
/* A silence is processed interval by interval until the mean has forgotten the traffic before it. */
#define REMEMBERED 64
/* Maximum number of intervals, even if work is still to be done then. */
#define LONGEST 128

enum { INTERVAL, EWMA, PEAK };

/* The loader sets them; its side is kernel/loader/src/router.rs. */
const volatile struct {
	/* The link's rate in bits a second, and the interval of measurement, at most a second. */
	u64 rate, interval_ns;
	/* The longest queue before the link: what comes when it is full is dropped there, and no work. */
	u64 queue_ns;
	u32 threshold_ppm, estimator;
	/* The weight of the newest interval in a mean; the intervals of a peak. */
	u32 weight_ppm, intervals;
	/* Whether requests are reduced; for how many intervals an approval is remembered; whether all slots count, or the oldest. */
	u32 reduces, slots, sum;
	/* The clock is the packet's own time stamp: of a test. */
	u32 tested;
} settings SEC(".rodata.router") = { .rate = 1000000000, .interval_ns = 100000000, .queue_ns = 100000000, .intervals = 1, .slots = 1 };

struct router {
	struct bpf_spin_lock lock;
	u32 oldest;
	/* The first instant, the end of the present interval, and that of all accepted work. */
	u64 begin, ends, done_at;
	/* Accepted work, that done by the end of the last interval, the mean, and how many intervals are over. */
	u64 work, before, mean, over;
	u64 newest[MOST + 1];
	/* Rates that were approved. */
	u64 recent[MOST + 1];
	/* Requests: all, granted, reduced and refused; and packets that were measured. */
	u64 asked, granted, reduced, refused, packets;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct router);
} routers SEC(".maps");

/*
 * a × b / c rounded up, for b up to c. A rate is below 2^39 and c below 2^40, so that a is taken in two parts: no product is beyond
 * 64 bits.
 */
static __always_inline u64 share(u64 a, u64 b, u64 c)
{
	u64 high = b * (a >> 20), low = b * (a & 0xfffff);
	u64 rest = ((high % c) << 20) + low;

	return ((high / c) << 20) + rest / c + (rest % c > 0);
}

/* What is kept is read and written anew each time: a verifier that follows it through registers finds too many ways through the loops. */
static __always_inline u64 done_by(const volatile struct router *r, u64 at)
{
	u64 left = r->done_at > at ? r->done_at - at : 0;

	return r->work > left ? r->work - left : 0;
}

static __always_inline void end_interval(volatile struct router *r)
{
	u64 done = done_by(r, r->ends), busy;

	if (done < r->before)
		done = r->before;
	busy = done - r->before;
	r->before = done;
	r->ends += settings.interval_ns;
	r->newest[r->over % settings.intervals & MOST] = busy;
	r->over++;
	if (settings.estimator != EWMA)
		return;
	if (r->over == 1)
		r->mean = busy * SCALE;
	else
		r->mean = (r->mean * (MILLION - settings.weight_ppm) + busy * SCALE * settings.weight_ppm) / MILLION;
}

/* Ends the intervals that are over, and forgets approvals that are as old. */
static __always_inline void advance(volatile struct router *r, u64 now)
{
	u64 before = r->over, count, skipped;

	if (now < r->ends)
		return;
	count = (now - r->ends) / settings.interval_ns + 1;
	if (settings.estimator != EWMA) {
		/* Intervals before the last ones are no longer needed. */
		skipped = count > settings.intervals ? count - settings.intervals : 0;
		if (skipped) {
			r->ends += skipped * settings.interval_ns;
			r->over += skipped;
			r->before = done_by(r, r->ends - settings.interval_ns);
		}
		for (u32 i = 0; i < MOST && r->ends <= now; i++)
			end_interval(r);
	} else {
		for (u32 i = 0; i < LONGEST && r->ends <= now; i++) {
			if (i > REMEMBERED && r->ends >= r->done_at + settings.interval_ns)
				break;
			end_interval(r);
		}
		if (r->ends <= now) {
			skipped = (now - r->ends) / settings.interval_ns + 1;
			r->ends += skipped * settings.interval_ns;
			r->over += skipped;
		}
	}
	count = r->over - before;
	for (u32 i = 0; i < MOST && i < count && i < settings.slots; i++) {
		r->recent[r->oldest & MOST] = 0;
		r->oldest = (r->oldest + 1) % settings.slots;
	}
}

/* The estimate in bits a second, rounded up. */
static __always_inline u64 used(const volatile struct router *r, u64 now)
{
	u64 most = 0;

	if (!r->over)
		return share(settings.rate, done_by(r, now), now ? now : 1);
	if (settings.estimator == EWMA)
		return share(settings.rate, r->mean, settings.interval_ns * SCALE);
	for (u32 i = 0; i < MOST && i < settings.intervals; i++)
		if (r->newest[i] > most)
			most = r->newest[i];
	return share(settings.rate, most, settings.interval_ns);
}

static __always_inline u64 approved(const volatile struct router *r)
{
	u64 sum = 0;

	if (!settings.sum)
		return r->recent[r->oldest & MOST];
	for (u32 i = 0; i < MOST && i < settings.slots; i++)
		sum += r->recent[i];
	return sum;
}

static __always_inline u64 rate_of(u32 code)
{
	return code ? 40000ull << code : 0;
}

/* The highest code under `left` and up to `asked`: a rate that fills the threshold to the last bit is not approved. */
static __always_inline u32 down(u64 left, u32 asked)
{
	u32 code = 0;

	for (u32 i = 1; i <= 15; i++)
		if (i <= asked && rate_of(i) < left)
			code = i;
	return code;
}

/* Handles a request for a rate; returns the code of the one that is approved. */
static __always_inline u32 admit(volatile struct router *r, u64 now, u32 asked)
{
	u64 allowed = settings.rate / MILLION * settings.threshold_ppm + settings.rate % MILLION * settings.threshold_ppm / MILLION;
	u64 taken, left;
	u32 code;

	taken = used(r, now) + approved(r);
	left = allowed > taken ? allowed - taken : 0;
	code = down(left, asked);
	if (code < asked && !settings.reduces)
		code = 0;
	for (u32 i = 0; i < MOST && i < settings.slots; i++)
		r->recent[i] += rate_of(code);
	r->asked++;
	if (!code)
		r->refused++;
	else if (code == asked)
		r->granted++;
	else
		r->reduced++;
	return code;
}

/*
 * Counts an outgoing packet of this much work, which may request a rate, and returns the approved rate. Not inlined, so that the verifier
 * checks it once, however it is called.
 */
__attribute__((noinline)) u32 decide(u64 clock, u64 work, u32 asked)
{
	u32 zero = 0, code = 0;
	struct router *r = bpf_map_lookup_elem(&routers, &zero);
	u64 now;

	if (!r)
		return 0;
	bpf_spin_lock(&r->lock);
	if (!r->ends) {
		r->begin = clock;
		r->ends = settings.interval_ns;
	}
	/* Packets of several processors come in the order of the lock. */
	now = clock > r->begin ? clock - r->begin : 0;
	advance(r, now);
	if (asked)
		code = admit(r, now, asked);
	if (r->done_at <= now + settings.queue_ns) {
		r->done_at = (r->done_at > now ? r->done_at : now) + work;
		r->work += work;
	}
	r->packets++;
	bpf_spin_unlock(&r->lock);
	return code;
}

/* Writes the answer in place of the option, and the checksum of an IPv4 header. */
static __always_inline void answer(struct __sk_buff *skb, const struct packet *p, u32 begin, u32 at, const struct body *body)
{
	u8 header[60] = {};
	u32 length = p->end;
	u16 sum;
	u64 all;

	if (bpf_skb_store_bytes(skb, begin + at + 2, body, sizeof(*body), 0) || p->is_v6)
		return;
	if (length < 20 || length > sizeof(header) || load(skb, 0, header, length))
		return;
	header[10] = header[11] = 0;
	/* The zeros behind the header add nothing. */
	all = bpf_csum_diff(0, 0, (__be32 *)header, sizeof(header), 0);
	all = (all & 0xffff) + (all >> 16);
	all = (all & 0xffff) + (all >> 16);
	sum = ~all;
	bpf_skb_store_bytes(skb, begin + 10, &sum, sizeof(sum), 0);
}

SEC("tcx/egress") int router(struct __sk_buff *skb)
{
	u64 now = settings.tested ? skb->tstamp : bpf_ktime_get_ns();
	u32 at = 0, asked = 0, code, nonce, over;
	struct body body;
	struct packet p;
	int begin;

	if (look(skb, &p))
		at = find(skb, &p);
	/* A request that was denied before stays denied, and one to which no answer can be written is none. */
	begin = at ? place(skb) : -1;
	if (begin >= 0 && !load(skb, at + 2, &body, sizeof(body)) && (body.function & 0xf0) == REQUEST)
		asked = body.function & 15;
	code = decide(now, (skb->wire_len * SECOND_BITS + settings.rate - 1) / settings.rate, asked);
	if (!asked)
		return GO_ON;
	__builtin_memcpy(&nonce, body.nonce, 4);
	nonce = bpf_ntohl(nonce);
	if (code) {
		/* Each step down overwrites its own pair of bits of the nonce (section 3.4), which is above two reserved ones. */
		over = ((1u << 2 * asked) - 1 & ~((1u << 2 * code) - 1)) << 2;
		nonce = (nonce & ~over) | (bpf_get_prandom_u32() & over);
		/* What this host sends itself has the TTL that the request was made for. */
		if (skb->ingress_ifindex)
			body.ttl--;
	} else {
		nonce = 0;
		body.ttl = 0;
	}
	body.function = REQUEST | code;
	nonce = bpf_htonl(nonce);
	__builtin_memcpy(body.nonce, &nonce, 4);
	answer(skb, &p, begin, at, &body);
	return GO_ON;
}
