/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef COUNTERS_MEASURE_TALLY_H
#define COUNTERS_MEASURE_TALLY_H

/* Which types this machine has, and what types come to: of a source, or by a formula of others. */

#include "counters/measure/meter.h"

enum tally_state { TALLY_NOT_HERE, TALLY_APPROXIMATE, TALLY_AVAILABLE };

/* How a type is to be had. */
struct tally_way {
	enum tally_state state;
	const struct counter_source *source;   /* either this */
	const struct counter_formula *formula; /* or this */
	bool is_of_command;                    /* not of the machine: that is not permitted */
	char reason[METER_REASON_BYTES];       /* why it is not here */
	int error;                             /* of the source that was tried last; 0: it serves, or there is none */
};

/*
 * Opens and reads each source of the wanted types (NULL: all), and of those that they are derived from, once. ways has
 * one for each type.
 */
void tally_probe(const struct counters *counters, const bool *wanted, const struct meter_scope *scope,
		 struct tally_way *ways);

/* One type that is read, with all that it is derived from. */
struct tally;

/* Types, and how each is to be had. */
struct tally_ways {
	const struct counters *counters;
	const struct tally_way *ways;
};

struct tally_value {
	double value;                  /* since the last time; of gauges and ratios what they are; NAN: not known */
	double running;                /* the least share of the time that an operand counted */
	double enabled_ns, running_ns; /* of that operand; 0: its source has no time of its own */
};

/* What an operand has come to since its tally was opened. */
struct tally_count {
	double total; /* of a gauge: what it is */
	double enabled_ns, running_ns;
	unsigned missed; /* readings between which it did not count */
};

/*
 * Opens what the type needs, operands of a formula in one group where the kernel can: else *is_apart. Returns 0, or
 * -errno with a reason.
 */
int tally_open(const struct tally_ways *ways, uint32_t type, const struct meter_scope *scope,
	       char reason[METER_REASON_BYTES], struct tally **tally);
void tally_free(struct tally *tally);

/* Whether operands are not counted together; count user code alone; count the machine, or a part of them. */
bool tally_is_apart(const struct tally *tally);
bool tally_is_of_user(const struct tally *tally);
bool tally_is_of_machine(const struct tally *tally);

size_t tally_operand_count(const struct tally *tally);

/* Reads all operands: a count of each. Returns 0, or -errno with a reason. */
int tally_read(struct tally *tally, char reason[METER_REASON_BYTES], struct tally_count *counts);

/* What the type has come to between two readings. */
void tally_between(const struct tally *tally, const struct tally_count *from, const struct tally_count *to,
		   struct tally_value *value);

/* Since the last one, or since it was opened. Returns 0, or -errno with a reason. */
int tally_take(struct tally *tally, char reason[METER_REASON_BYTES], struct tally_value *value);

#endif
