/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The settings of an object before it is loaded. They are a separate section, so that a loader finds them by its name; the
 * loader's side is kernel/loader/src/settings.rs.
 */
#ifndef FIRSTFLIGHT_SETTINGS_H
#define FIRSTFLIGHT_SETTINGS_H

/* As many parameters as a scheme can have. */
#define PARAMETERS 16

/*
 * The parameters in the order of the registry's list, those not given at their defaults: a count, nanoseconds, bits a second, bytes,
 * millionths, or the place of a word among the words of the parameter. Bit i of `given` is set if the user set parameter i. The twin
 * is crates/library/core/src/registry/numbers.rs.
 */
struct numbers {
	u32 given, pad;
	u64 values[PARAMETERS];
};

struct settings {
	/* The name under which the congestion control is registered, and the scheme's: what a list of loaded objects reads. */
	char name[16];
	char scheme[32];
	/* The congestion control to hand over to. */
	char law[16];
	/* Whether each event and its answer goes to the ring buffer. */
	u32 traced, pad;
	struct numbers numbers;
};

const volatile struct settings settings SEC(".rodata.settings") = {
	.name = "ff_scheme",
	.scheme = SCHEME,
	.law = "cubic",
};

/* The parameters that the loader wrote: a compiler that sees where they are takes the zeros that they are built with. */
static __always_inline const struct numbers *numbers(void)
{
	const struct numbers *found = (const struct numbers *)&settings.numbers;

	barrier_var(found);
	return found;
}

#endif
