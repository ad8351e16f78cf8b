/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What is set before an object is loaded. It is a section of its own, so that a loader finds it by the section's name; the
 * loader's side is kernel/loader/src/settings.rs.
 */
#ifndef FIRSTFLIGHT_SETTINGS_H
#define FIRSTFLIGHT_SETTINGS_H

/* As many parameters as a scheme has, and some more. */
#define PARAMETERS 16

#ifndef READS
#define READS 0
#endif

struct settings {
	/* The name under which the congestion control is registered, and the scheme's: what a list of loaded objects reads. */
	char name[16];
	char scheme[32];
	/* The congestion control to hand over to. */
	char law[16];
	/* Whether each event and its answer goes to the ring buffer. */
	u32 traced;
	/* Bit i is set if the user set parameter i. */
	u32 given;
	/* How many of the parameters the scheme of this object reads; 0 of one that has its defaults built in. */
	u32 reads, pad;
	/*
	 * The parameters in the order of the registry's list, those not given at their defaults: a count, nanoseconds, bits a
	 * second, bytes, millionths, or the place of a word among the words of the parameter.
	 */
	u64 parameters[PARAMETERS];
};

const volatile struct settings settings SEC(".rodata.settings") = {
	.name = "ff_scheme",
	.scheme = SCHEME,
	.law = "cubic",
	.reads = READS,
};

#endif
