/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CMD_TOP_TOP_H
#define CMD_TOP_TOP_H

/* What `asterism top` shows: rules and processes, with what happened to them since the last look. */

#include "base/text.h"
#include "cmd/options/options.h"
#include "ebpf/states/states.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TOP_NAME_BYTES = 64, TOP_KEY_BYTES = 48, TOP_KEYS = 8 };

/* Counts since the rule began. */
struct top_rule {
	char name[TOP_NAME_BYTES]; /* cut; may hold anything */
	char unit[TOP_NAME_BYTES]; /* likewise; what is measured as one */
	char place[16];
	uint64_t matches, opened, peak, lost;
	uint64_t kernel_ns;                              /* of the unit's programs */
	bool is_measured, is_first;                      /* first of its unit, beside which the unit's cost is shown */
	char key[TOP_KEY_BYTES];                         /* who has most of the matches; "": not known */
	double matches_per_s, opened_per_s, cpu_percent; /* since the last look */
};

struct top_process {
	struct states_process now;
	char name[TOP_NAME_BYTES];
	double percent[STATES_COUNT]; /* of the time since the last look: 100 is one thread all the time */
	double switches_per_s;
};

enum top_sort { TOP_BY_RUNNING, TOP_BY_READY, TOP_BY_BLOCKED, TOP_BY_SWITCHES, TOP_BY_PID };

struct top {
	struct top_rule *rules, *last_rules;
	size_t rule_count, rule_capacity, last_rule_count, last_rule_capacity;
	struct top_process *processes, *last_processes;
	size_t process_count, process_capacity, last_process_count, last_process_capacity;
	struct states *states; /* NULL: processes are not shown */
	char no_states[128];   /* why */
	uint64_t lost;         /* results and events, as far as rules do not say */
	uint64_t missed;       /* times that were not counted */
	uint64_t looked_ns,
		interval_ns;            /* the last look, and how long it was after the one before; 0: there was none */
	uint64_t read_ns, since_ns;     /* the same of processes */
	const char *chosen;             /* a rule, of which transitions are shown; NULL: none */
	char next[TOP_NAME_BYTES];      /* its name, where a key has chosen it; cut */
	bool counts;                    /* some rule may be chosen */
	struct text_buffer transitions; /* of this look: lines; none where the rule was not found */
	enum top_sort sort;
	char filter[32];
	bool is_paused, asks_filter;
};

/* The terminal's room; rows 0: as many lines as there are. */
struct top_room {
	unsigned columns, rows;
};

/* A new look begins: what was counted becomes the last look. now_ns: CLOCK_MONOTONIC. */
void top_turn(struct top *top, uint64_t now_ns);

/* A rule of this look, zeroed; NULL: no memory. */
struct top_rule *top_add_rule(struct top *top);

/* Whether name is that of the chosen rule, as far as it is known. */
bool top_is_chosen(const struct top *top, const char *name);

/* Chooses the rule behind the chosen one, or the first; the next look has its transitions. */
void top_choose_next(struct top *top);

/* Reads processes. Returns 0, -ENOMEM, another -errno. */
int top_look_at_processes(struct top *top);

/* Finds out rates, and sorts. */
void top_compare(struct top *top);

void top_fini(struct top *top);

/* Appends the lines; each ends in a newline and has at most room->columns characters. */
void top_draw(const struct top *top, const struct top_room *room, struct text_buffer *text);

#endif
