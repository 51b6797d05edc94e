// SPDX-License-Identifier: BSD-2-Clause
/* Computes what has happened between two looks, and sorts processes. */

#include "cmd/top/top.h"

#include "base/alloc.h"
#include "base/proc.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_S 1e9

#define swap(a, b)                    \
	do {                          \
		__auto_type kept = a; \
		a = b;                \
		b = kept;             \
	} while (0)

void top_turn(struct top *top, uint64_t now_ns)
{
	swap(top->rules, top->last_rules);
	swap(top->rule_count, top->last_rule_count);
	swap(top->rule_capacity, top->last_rule_capacity);
	swap(top->processes, top->last_processes);
	swap(top->process_count, top->last_process_count);
	swap(top->process_capacity, top->last_process_capacity);
	top->rule_count = top->process_count = 0;
	top->transitions.length = 0;
	top->interval_ns = top->looked_ns ? now_ns - top->looked_ns : 0;
	top->looked_ns = now_ns;
}

bool top_is_chosen(const struct top *top, const char *name)
{
	return top->chosen && strncmp(top->chosen, name, TOP_NAME_BYTES - 1) == 0;
}

void top_choose_next(struct top *top)
{
	size_t next = 0;

	if (!top->counts || !top->rule_count)
		return;
	while (top->chosen && next < top->rule_count && !top_is_chosen(top, top->rules[next].name))
		next++;
	while (next < top->rule_count && top_is_chosen(top, top->rules[next].name))
		next++;
	next %= top->rule_count;
	snprintf(top->next, sizeof top->next, "%s", top->rules[next].name);
	top->chosen = top->next;
	top->transitions.length = 0;
	text_append(&top->transitions, "shown at the next refresh\n");
}

struct top_rule *top_add_rule(struct top *top)
{
	if (alloc_grow(&top->rules, &top->rule_capacity, top->rule_count, sizeof *top->rules))
		return NULL;
	top->rules[top->rule_count] = (struct top_rule){ 0 };
	return &top->rules[top->rule_count++];
}

/* Who is gone is called as its thread was. */
static void name_process(struct top_process *process)
{
	char path[64];
	ssize_t length;

	snprintf(path, sizeof path, "/proc/%d/comm", (int)process->now.pid);
	length = proc_read(path, process->name, sizeof process->name);
	if (length > 0)
		process->name[strcspn(process->name, "\n")] = 0;
	else
		snprintf(process->name, sizeof process->name, "%s",
			 process->now.comm[0] ? process->now.comm : "(gone)");
}

int top_look_at_processes(struct top *top)
{
	const struct states_process *rows;
	size_t count;
	uint64_t last_ns = top->read_ns;
	int result = top->states ? states_read(top->states, &rows, &count, &top->read_ns) : 0;

	top->since_ns = last_ns ? top->read_ns - last_ns : 0;
	for (size_t i = 0; top->states && !result && i < count; i++) {
		if (alloc_grow(&top->processes, &top->process_capacity, i, sizeof *top->processes))
			return -ENOMEM;
		top->processes[i] = (struct top_process){ .now = rows[i] };
		name_process(&top->processes[i]);
		top->process_count = i + 1;
	}
	if (top->states && !result)
		top->missed = states_missed(top->states);
	return result;
}

/* What a count has grown by; where it is less than before it has begun anew. */
static double growth(uint64_t now, uint64_t last)
{
	return (double)(now < last ? now : now - last);
}

static void compare_rule(const struct top *top, struct top_rule *rule, double seconds)
{
	const struct top_rule *last = NULL;

	for (size_t i = 0; i < top->last_rule_count && !last; i++) {
		const struct top_rule *one = &top->last_rules[i];

		last = strcmp(one->name, rule->name) || strcmp(one->unit, rule->unit) ? NULL : one;
	}
	if (!last || seconds <= 0)
		return;
	rule->matches_per_s = growth(rule->matches, last->matches) / seconds;
	rule->opened_per_s = growth(rule->opened, last->opened) / seconds;
	rule->cpu_percent = growth(rule->kernel_ns, last->kernel_ns) / NS_PER_S / seconds * 100;
}

static int by_top_pid(const void *left, const void *right)
{
	const struct top_process *a = left, *b = right;

	return (a->now.pid > b->now.pid) - (a->now.pid < b->now.pid);
}

/* The greatest first, then by pid. */
static int by(double left, double right, const void *a, const void *b)
{
	return left != right ? (left < right) - (left > right) : by_top_pid(a, b);
}

static int by_top_running(const void *left, const void *right)
{
	const struct top_process *a = left, *b = right;

	return by(a->percent[STATES_RUNNING], b->percent[STATES_RUNNING], a, b);
}

static int by_ready(const void *left, const void *right)
{
	const struct top_process *a = left, *b = right;

	return by(a->percent[STATES_READY], b->percent[STATES_READY], a, b);
}

static int by_blocked(const void *left, const void *right)
{
	const struct top_process *a = left, *b = right;

	return by(a->percent[STATES_BLOCKED], b->percent[STATES_BLOCKED], a, b);
}

static int by_switches(const void *left, const void *right)
{
	const struct top_process *a = left, *b = right;

	return by(a->switches_per_s, b->switches_per_s, a, b);
}

static int (*const orders[])(const void *left, const void *right) = {
	[TOP_BY_RUNNING] = by_top_running, [TOP_BY_READY] = by_ready, [TOP_BY_BLOCKED] = by_blocked,
	[TOP_BY_SWITCHES] = by_switches,   [TOP_BY_PID] = by_top_pid,
};

/* Without a look before, the time since the programs were attached is not known well: there are no shares yet. */
static void compare_process(const struct top *top, struct top_process *process, double seconds)
{
	static const struct top_process none;
	const struct top_process *last = NULL;

	if (top->last_process_count)
		last = bsearch(process, top->last_processes, top->last_process_count, sizeof *process, by_top_pid);
	last = last ? last : &none;
	for (unsigned i = 0; i < STATES_COUNT && seconds > 0; i++) {
		/* Who has left a CPU unseen has less than it seemed; so has another process of the same id. */
		if (process->now.ns[i] > last->now.ns[i])
			process->percent[i] = (double)(process->now.ns[i] - last->now.ns[i]) / NS_PER_S / seconds * 100;
	}
	if (seconds > 0)
		process->switches_per_s = growth(process->now.switches, last->now.switches) / seconds;
}

void top_compare(struct top *top)
{
	double seconds = (double)top->interval_ns / NS_PER_S;

	for (size_t i = 0; i < top->rule_count; i++)
		compare_rule(top, &top->rules[i], seconds);
	if (top->last_process_count)
		qsort(top->last_processes, top->last_process_count, sizeof *top->processes, by_top_pid);
	for (size_t i = 0; i < top->process_count; i++)
		compare_process(top, &top->processes[i], (double)top->since_ns / NS_PER_S);
	if (top->process_count)
		qsort(top->processes, top->process_count, sizeof *top->processes, orders[top->sort]);
}

void top_fini(struct top *top)
{
	states_free(top->states);
	text_fini(&top->transitions);
	alloc_free(top->rules);
	alloc_free(top->last_rules);
	alloc_free(top->processes);
	alloc_free(top->last_processes);
}
