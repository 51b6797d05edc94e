// SPDX-License-Identifier: BSD-2-Clause
/* Reads the lines that the project's own format has beside callgrind's. */

#include "profile/callgrind-priv.h"
#include "profile/threads.h"

#include <math.h>
#include <string.h>

/* "inclusive=~ 73 0.5", "deviation=~ 0.4 -", "edge=~": the mark is = measured, ~ derived or + estimated. */
static int read_mark(struct callgrind *callgrind, enum profile_origin *origin)
{
	struct reading *reading = callgrind->reading;
	const char *mark = reading->at < reading->end && *reading->at ? strchr("=~+", *reading->at) : NULL;

	if (!mark)
		return callgrind_wrong(callgrind, "expected =, ~ or +");
	*origin = *mark == '=' ? PROFILE_MEASURED : *mark == '~' ? PROFILE_DERIVED : PROFILE_ESTIMATED;
	reading->at++;
	return 0;
}

/* "-" is a value that is not known. */
static int read_values(struct callgrind *callgrind, double *row)
{
	struct reading *reading = callgrind->reading;
	unsigned event = 0;

	for (read_skip_blanks(reading); reading->at < reading->end; read_skip_blanks(reading), event++) {
		double value = NAN;
		int result = 0;

		if (*reading->at == '-')
			reading->at++;
		else
			result = read_cost(reading, true, &value);
		if (result)
			return result;
		if (event == callgrind->profile->event_count)
			return callgrind_wrong(callgrind, "there are more costs than event types");
		row[event] = value;
	}
	return 0;
}

/* "spot=LINE ADDRESS COSTS", "from=LINE ADDRESS CALLS COSTS": parts of the function's self cost and of the edge. */
static int read_own_spot(struct callgrind *callgrind, bool is_call)
{
	struct reading *reading = callgrind->reading;
	struct profile *profile = callgrind->profile;
	struct profile_spot wanted = { .function = callgrind->function.function,
				       .object = callgrind->spot_place.object,
				       .file = callgrind->spot_place.file,
				       .address = PROFILE_NO_ADDRESS };
	double calls = 0;
	uint64_t line;
	uint32_t spot, call;
	int result = read_whole(reading, &line);

	if (result)
		return result;
	wanted.line = line > UINT32_MAX ? 0 : (uint32_t)line;
	read_skip_blanks(reading);
	if (reading->at < reading->end && *reading->at == '-')
		reading->at++;
	else
		result = read_whole(reading, &wanted.address);
	read_skip_blanks(reading);
	if (!result && is_call)
		result = read_cost(reading, true, &calls);
	if (!result)
		result = read_failed(reading, profile_spot(profile, &wanted, &spot));
	if (!result && is_call)
		result = read_failed(reading, profile_call(profile, callgrind->edge, spot, calls, &call));
	if (result)
		return result;
	return callgrind_read_costs(
		callgrind, is_call ? profile_call_cost(profile, call) : profile_spot_self(profile, spot), NULL);
}

/* "thread: PID TID NAME", in the order of their numbers. */
int callgrind_read_thread(struct callgrind *callgrind)
{
	struct reading *reading = callgrind->reading;
	uint64_t pid, tid;
	uint32_t name, thread;
	int result;

	read_skip_blanks(reading);
	result = read_whole(reading, &pid);
	read_skip_blanks(reading);
	if (!result)
		result = read_whole(reading, &tid);
	read_skip_blanks(reading);
	if (!result)
		result = read_failed(reading, profile_text(callgrind->profile, reading->at,
							   (size_t)(reading->end - reading->at), &name));
	if (result)
		return result;
	return read_failed(reading,
			   profile_add_thread(callgrind->profile, (uint32_t)pid, (uint32_t)tid, name, &thread));
}

/* "by=THREAD COST": a thread's part of the function's self cost. */
static int read_own_part(struct callgrind *callgrind)
{
	struct reading *reading = callgrind->reading;
	uint64_t thread;
	double cost;
	int result = read_whole(reading, &thread);

	read_skip_blanks(reading);
	if (!result)
		result = read_cost(reading, true, &cost);
	if (result)
		return result;
	if (thread >= callgrind->profile->thread_count)
		return callgrind_wrong(callgrind, "the head has no thread of this number");
	return read_failed(reading,
			   profile_add_part(callgrind->profile, (uint32_t)thread, callgrind->function.function, cost));
}

/* What the project's own format has beside callgrind's. */
int callgrind_read_own(struct callgrind *callgrind, size_t length)
{
	struct profile *profile = callgrind->profile;
	struct profile_function *function;
	uint64_t flags;
	int result = 0;

	if (!callgrind->function.is_known)
		return callgrind_wrong(callgrind, "expected a line 'fn=' before this");
	function = &profile->functions[callgrind->function.function];
	if (is_word(callgrind->reading, length, "edge") && profile->edge_count)
		return read_mark(callgrind, &profile->edges[callgrind->edge].origin);
	if (profile->is_completed && is_word(callgrind->reading, length, "inclusive")) {
		result = read_mark(callgrind, &function->origin);
		return result ? result
			      : read_values(callgrind, profile_inclusive(profile, callgrind->function.function));
	}
	if (profile->is_completed && is_word(callgrind->reading, length, "deviation"))
		return read_values(callgrind, profile_deviation(profile, callgrind->function.function));
	if (is_word(callgrind->reading, length, "spot") ||
	    (is_word(callgrind->reading, length, "from") && profile->edge_count))
		return read_own_spot(callgrind, *callgrind->reading->line == 'f');
	if (is_word(callgrind->reading, length, "by"))
		return read_own_part(callgrind);
	if (is_word(callgrind->reading, length, "flags")) {
		result = read_whole(callgrind->reading, &flags);
		function->flags = (unsigned)flags & (PROFILE_UNATTACHED | PROFILE_IN_CYCLE | PROFILE_BY_CALLS);
		return result;
	}
	callgrind->reading->at = callgrind->reading->line;
	return read_wrong(callgrind->reading, NULL, "unknown kind of line in a profile");
}
