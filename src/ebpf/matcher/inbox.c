// SPDX-License-Identifier: BSD-2-Clause
/*
 * Hands matches to the caller in order. They are drained from the ring as far as the inbox has room, put into time
 * order (rules in image order, runs in opening order; what was due at a deadline after all events of that instant) and
 * handed out one by one.
 */

#include "ebpf/matcher/matcher-priv.h"

#include "base/alloc.h"
#include "ebpf/kernel/consumer.h"
#include "ebpf/memory/log.h"
#include "ebpf/memory/stack-table.h"
#include "program/machine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct matcher_match *match_at(const struct matcher_inbox *inbox, uint32_t index)
{
	return (const struct matcher_match *)(inbox->bytes + inbox->items[index]);
}

/* Called for each record. It is taken even when the answer is to stop. */
static int keep_inbox_record(void *context, void *data, size_t size)
{
	struct matcher_inbox *inbox = context;
	size_t record_max = sizeof(struct matcher_match) + PROGRAM_SLOT_BYTES_MAX + 8 + PLAN_HISTORY_BYTES_MAX +
			    sizeof(struct matcher_origin);

	memcpy(inbox->bytes + inbox->used, data, size);
	inbox->items[inbox->count++] = (uint32_t)inbox->used;
	inbox->used += (size + 7) / 8 * 8;
	return inbox->used + record_max > inbox->capacity || inbox->count == inbox->item_capacity ? -ECANCELED : 0;
}

#define COMPARE(member)             \
	if (a->member != b->member) \
	return a->member < b->member ? -1 : 1

/* Of a match at an event from outside, its own place. */
static struct matcher_origin origin_of(const struct ebpf_matcher *matcher, const struct matcher_match *match)
{
	const struct plan_rule *rule = &matcher->plan->rules[match->rule];
	struct matcher_origin origin = { .level = 0 };

	if (rule->raised)
		memcpy(&origin, (const uint8_t *)(match + 1) + rule->area_bytes, sizeof origin);
	if (!origin.level)
		origin = (struct matcher_origin){ match->made, match->rule, match->ordinal, 0, 0 };
	return origin;
}

static int compare_origins(const struct matcher_origin *a, const struct matcher_origin *b)
{
	COMPARE(level);
	COMPARE(rule);
	COMPARE(made);
	COMPARE(ordinal);
	COMPARE(turn);
	return 0;
}

static int compare_inbox_matches(const void *left, const void *right, void *context)
{
	const struct ebpf_matcher *matcher = context;
	const uint32_t *x = left, *y = right;
	const struct matcher_match *a = (const struct matcher_match *)(matcher->inbox.bytes + *x);
	const struct matcher_match *b = (const struct matcher_match *)(matcher->inbox.bytes + *y);

	COMPARE(ts);
	COMPARE(at_deadline);
	if (!a->at_deadline) {
		struct matcher_origin from_a = origin_of(matcher, a), from_b = origin_of(matcher, b);
		int result;

		COMPARE(cpu);
		result = compare_origins(&from_a, &from_b);
		if (result)
			return result;
		COMPARE(rule);
		COMPARE(made);
		COMPARE(ordinal);
	}
	return *x < *y ? -1 : *x > *y; /* as they came */
}

/* The events that the run kept, behind its slots or in the rule's log. */
static uint32_t find_events(struct ebpf_matcher *matcher, const struct matcher_match *match)
{
	const struct plan_rule *rule = &matcher->plan->rules[match->rule];
	const uint8_t *at = (const uint8_t *)(match + 1) + rule->rule->slot_bytes;
	uint64_t count = 0;

	if (rule->history.log_entries)
		return memory_log_read(&matcher->memory, match, matcher->inbox.events);
	if (rule->history.entries)
		memcpy(&count, at, sizeof count);
	at += sizeof count;
	if (count > rule->history.entries)
		count = rule->history.entries;
	for (uint64_t i = 0; i < count; i++, at += rule->history.entry_bytes) {
		const struct matcher_kept *kept = (const struct matcher_kept *)at;

		matcher->inbox.events[i] =
			(struct program_match_event){ .record = (const struct event_header *)(kept + 1),
						      .element = (uint32_t)kept->element };
	}
	return (uint32_t)count;
}

static void find_stack(struct ebpf_matcher *matcher, const struct matcher_match *match, struct program_match *reported)
{
	struct memory_stack *stack = matcher->inbox.stack;

	if (!stack)
		return;
	memory_stack_read(&matcher->memory, match, stack);
	reported->stack = stack->frames;
	reported->stack_count = stack->count;
	reported->stack_copy = stack->has_copy ? &stack->copy : NULL;
}

static int hand_out_match(struct ebpf_matcher *matcher, const struct matcher_match *match)
{
	struct program_match reported = {
		.rule = match->rule,
		.notice = program_notice_of(matcher->program, &matcher->program->rules[match->rule], match + 1),
		.tainted = match->tainted != 0,
		.ts = match->ts,
		.cpu = match->cpu,
		.pid = match->pid,
		.tid = match->tid,
		.comm = match->comm,
		.slots = match + 1,
		.done = match->done & UINT32_MAX,
		.events = matcher->inbox.events,
		.event_count = find_events(matcher, match),
	};

	find_stack(matcher, match, &reported);
	int result = matcher->options.on_match ? matcher->options.on_match(matcher->options.context, &reported) : 0;

	if (matcher->plan->rules[match->rule].history.log_entries)
		memory_log_forget(&matcher->memory, match);
	return result;
}

/* Hands out what the inbox holds. What a negative answer leaves behind stays for the next time. */
static int empty(struct ebpf_matcher *matcher)
{
	struct matcher_inbox *inbox = &matcher->inbox;

	while (inbox->next < inbox->count) {
		int result = hand_out_match(matcher, match_at(inbox, inbox->next++));

		if (result < 0)
			return result;
	}
	inbox->next = inbox->count = 0;
	inbox->used = 0;
	return 0;
}

int matcher_inbox_drain(struct ebpf_matcher *matcher)
{
	struct matcher_inbox *inbox = &matcher->inbox;
	int result = empty(matcher), taken;

	while (!result) {
		taken = consumer_read(matcher->inbox.ring);
		if (taken < 0 && taken != -ECANCELED)
			return taken;
		qsort_r(inbox->items, inbox->count, sizeof *inbox->items, compare_inbox_matches, matcher);
		result = empty(matcher);
		if (taken >= 0)
			break;
	}
	return result;
}

/* As many as a match may have. */
static uint32_t most_events(const struct plan *plan)
{
	uint32_t most = PLAN_HISTORY_MAX;

	for (uint32_t i = 0; i < plan->program->rule_count; i++)
		if (plan->rules[i].history.log_entries > most)
			most = plan->rules[i].history.log_entries;
	return most;
}

int matcher_inbox_open(struct ebpf_matcher *matcher, struct asterism_diag *diag)
{
	struct matcher_inbox *inbox = &matcher->inbox;

	inbox->capacity = matcher->options.ring_bytes;
	inbox->item_capacity = inbox->capacity / sizeof(struct matcher_match);
	inbox->bytes = alloc_zero(inbox->capacity, 1);
	inbox->items = alloc_zero(inbox->item_capacity, sizeof *inbox->items);
	inbox->events = alloc_zero(most_events(matcher->plan), sizeof *inbox->events);
	if (matcher->memory.stacks.entries)
		inbox->stack = alloc_zero(1, sizeof *inbox->stack);
	if (!inbox->bytes || !inbox->items || !inbox->events || (matcher->memory.stacks.entries && !inbox->stack))
		return diag_no_memory(diag);
	int result = consumer_new(matcher->memory.ring_fd, inbox->capacity, keep_inbox_record, inbox, &inbox->ring);

	if (result == -ENOMEM)
		return diag_no_memory(diag);
	return result ? diag_error(diag, NULL, result, "cannot map the ring of matches: %s", strerror(-result)) : 0;
}

void matcher_inbox_close(struct ebpf_matcher *matcher)
{
	consumer_free(matcher->inbox.ring);
	alloc_free(matcher->inbox.bytes);
	alloc_free(matcher->inbox.items);
	alloc_free(matcher->inbox.events);
	alloc_free(matcher->inbox.stack);
}

int ebpf_matcher_fd(const struct ebpf_matcher *matcher)
{
	return consumer_fd(matcher->inbox.ring);
}
