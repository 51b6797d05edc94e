// SPDX-License-Identifier: BSD-2-Clause
/* Checks whether stacks can be true: whether a simulated run made all the calls that they have. */

#include "profile/stacks.h"

#include "profile/attach.h"
#include "profile/read-priv.h"

#include "base/alloc.h"

#include <errno.h>
#include <string.h>

/* What was simulated, by canonical names alone: stacks say nothing of objects. */
struct known {
	struct profile *profile;
	bool *is_called;
};

static int add_function(struct profile *profile, const char *name, uint32_t *function)
{
	char canonical[PROFILE_CANONICAL_BYTES];
	uint32_t text;
	int result;

	profile_canonical(name, canonical);
	result = profile_text(profile, canonical, strlen(canonical), &text);
	return result ? result : profile_function(profile, text, 0, function);
}

static int know_edges(const struct profile *simulated, struct known *known)
{
	uint32_t *to = alloc_zero(simulated->function_count + 1, sizeof *to), edge;
	int result;

	known->is_called = alloc_zero(simulated->function_count + 1, sizeof *known->is_called);
	known->profile = profile_new();
	result = to && known->is_called && known->profile ? 0 : -ENOMEM;
	for (uint32_t i = 0; !result && i < simulated->function_count; i++)
		result = add_function(known->profile, profile_name(simulated, i), &to[i]);
	for (uint32_t i = 0; !result && i < simulated->edge_count; i++) {
		const struct profile_edge *made = &simulated->edges[i];

		result = profile_edge(known->profile, to[made->caller], to[made->callee], made->calls, &edge);
		known->is_called[to[made->callee]] = true;
	}
	/* Stacks that begin there are whole, whatever the dynamic linker does before. */
	for (size_t i = 0; !result && i < 2; i++) {
		size_t step = 0;
		uint32_t start = profile_find_name(known->profile, i ? "main" : "(below main)", &step);

		if (start != HASH_NONE)
			known->is_called[start] = false;
	}
	alloc_free(to);
	return result;
}

struct stack {
	uint32_t *frames; /* functions of what is known; HASH_NONE: not known */
	size_t count, capacity;
	double cost;
};

static int add_stack_frame(const struct known *known, struct stack *stack, const char *name, size_t length)
{
	char text[PROFILE_CANONICAL_BYTES], canonical[PROFILE_CANONICAL_BYTES];
	size_t step = 0;

	/* perf's scripts mark code of the kernel and code made at run time so. */
	if (length > 4 && memcmp(name + length - 4, "_[", 2) == 0)
		length -= 4;
	length = length < sizeof text - 1 ? length : sizeof text - 1;
	memcpy(text, name, length);
	text[length] = 0;
	profile_canonical(text, canonical);
	if (alloc_grow(&stack->frames, &stack->capacity, stack->count, sizeof *stack->frames))
		return -ENOMEM;
	stack->frames[stack->count++] = profile_find_name(known->profile, canonical, &step);
	return 0;
}

/* "a;b;c 12": names may have blanks, so the cost is what stands behind the last one. */
static int read_stack(struct reading *reading, const struct known *known, struct stack *stack)
{
	const char *last;
	int result = 0;

	while (reading->end > reading->line && strchr(" \t\r", reading->end[-1]))
		reading->end--;
	last = memrchr(reading->line, ' ', (size_t)(reading->end - reading->line));
	if (!last)
		return read_wrong(reading, "main;work;malloc 12", "expected a stack and its cost");
	reading->at = last + 1;
	result = read_cost(reading, true, &stack->cost);
	if (!result && reading->at < reading->end)
		result = read_wrong(reading, "main;work;malloc 12", "end the line with the cost of the stack");
	if (result)
		return result;
	stack->count = 0;
	for (const char *at = reading->line; !result && at < last;) {
		const char *end = memchr(at, ';', (size_t)(last - at));

		end = end ? end : last;
		result = read_failed(reading, add_stack_frame(known, stack, at, (size_t)(end - at)));
		at = end + 1;
	}
	return result;
}

static int note_wrong(struct profile_stacks *result, const struct known *known, uint32_t caller, uint32_t callee,
		      double cost)
{
	uint32_t from, to, edge;
	int failed = add_function(result->calls, profile_name(known->profile, caller), &from);

	if (!failed)
		failed = add_function(result->calls, profile_name(known->profile, callee), &to);
	if (!failed)
		failed = profile_edge(result->calls, from, to, 1, &edge);
	if (!failed)
		*profile_cost(result->calls, edge) += cost;
	return failed;
}

static int judge_stack(const struct known *known, const struct stack *stack, struct profile_stacks *result)
{
	size_t first = stack->count > 1 && stack->frames[0] == HASH_NONE;
	bool is_wrong = false, is_unknown = false;

	for (size_t i = first; i < stack->count; i++) {
		uint32_t caller = i > first ? stack->frames[i - 1] : HASH_NONE, callee = stack->frames[i];

		is_unknown = is_unknown || callee == HASH_NONE;
		if (caller == HASH_NONE || callee == HASH_NONE ||
		    profile_find_edge(known->profile, caller, callee) != HASH_NONE)
			continue;
		is_wrong = true;
		if (note_wrong(result, known, caller, callee, stack->cost))
			return -ENOMEM;
	}
	result->count++;
	result->total += stack->cost;
	result->wrong += is_wrong ? stack->cost : 0;
	result->unjudged += is_unknown && !is_wrong ? stack->cost : 0;
	if (first < stack->count && stack->frames[first] != HASH_NONE && known->is_called[stack->frames[first]])
		result->rootless += stack->cost;
	return 0;
}

int profile_check_stacks(const struct diag_source *stacks, const struct profile *simulated, struct asterism_diag *diag,
			 struct profile_stacks *result)
{
	struct reading reading = { .source = stacks, .diag = diag, .at = stacks->text, .end = stacks->text };
	struct known known = { 0 };
	struct stack stack = { 0 };
	int failed;

	*result = (struct profile_stacks){ .calls = profile_new() };
	failed = result->calls ? profile_add_event(result->calls, "cost", 4) : -ENOMEM;
	if (!failed)
		failed = know_edges(simulated, &known);
	if (failed)
		failed = diag_no_memory(diag);
	while (!failed && read_next_line(&reading)) {
		const char *end = reading.end;

		read_skip_blanks(&reading);
		if (reading.at == reading.end || *reading.at == '#')
			continue;
		failed = read_stack(&reading, &known, &stack);
		if (!failed)
			failed = read_failed(&reading, judge_stack(&known, &stack, result));
		reading.end = end;
	}
	if (!failed && !result->count)
		failed = read_wrong(&reading, "main;work;malloc 12", "the file has no stacks");
	profile_free(known.profile);
	alloc_free(known.is_called);
	alloc_free(stack.frames);
	return failed;
}
