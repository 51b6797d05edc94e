/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TESTS_ENGINE_RIG_H
#define TESTS_ENGINE_RIG_H

/* Rule text at work on events in short notation, and the matches as text. */

#include "base/diag.h"
#include "engine/engine.h"
#include "event/catalog.h"
#include "program/load.h"

#include <stdbool.h>

enum { RIG_LOG_BYTES = 1 << 16 };

struct rig {
	struct event_catalog *catalog;
	struct asterism_diag *diag;
	struct program *program;
	struct engine *engine;
	uint64_t ts, seq;
	char log[RIG_LOG_BYTES];
	size_t used;
	uint64_t matches;
	bool quiet; /* only counts matches */
	int result; /* what the next matches return */
};

/*
 * Compiles the rules and makes an engine. The types A to E (x: i64, s: string[16]) are declared. Fails the test with
 * the compiler's message.
 */
void rig_open(struct rig *rig, const char *rules);
void rig_close(struct rig *rig);

/* Only the program, without an engine. */
void rig_compile(struct rig *rig, const char *rules);
int rig_start(struct rig *rig);

/*
 * Feeds events: "A1" is an A with x = 1, one ns after the event before it; "A1@50" at 50 ns; "A1#7" of thread 7;
 * "?" an event of a type that the program does not know. Returns the first result that is not 0.
 */
int rig_feed(struct rig *rig, const char *events);

/*
 * Compares the matches since the last call with text: per match "rule(1,10) ", the events by seq where the rule returns
 * them, else "rule@ts ", with "=n" for the first value if the rule returns an integer; "!" behind it when tainted.
 */
#define rig_assert_matches(rig, text)                  \
	do {                                           \
		assert_string_equal((rig)->log, text); \
		rig_forget(rig);                       \
	} while (0)

void rig_forget(struct rig *rig);

/* The counters of the rule with this index. */
struct program_rule_stats rig_stats(const struct rig *rig, uint32_t rule);

#endif
