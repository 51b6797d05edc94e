// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reads lines of callgrind's format (Callgrind Format Specification, valgrind's manual). Positions may be
 * relative, several parts add up. The project's own format has costs with fractions, and lines for inclusive costs.
 */

#include "profile/callgrind-priv.h"
#include "profile/formula.h"

#include "base/alloc.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int read_event_names(struct callgrind *callgrind)
{
	struct reading *reading = callgrind->reading;
	struct profile *profile = callgrind->profile;
	bool is_first = !profile->event_count;
	unsigned count = 0;

	for (read_skip_blanks(reading); reading->at < reading->end; read_skip_blanks(reading), count++) {
		const char *start = reading->at;
		int result = 0;

		while (reading->at < reading->end && !strchr(" \t\r", *reading->at))
			reading->at++;
		size_t length = (size_t)(reading->at - start);

		if (!is_first) {
			const char *known =
				count < profile->event_count ? profile_get_text(profile, profile->events[count]) : "";
			if (strlen(known) != length || memcmp(known, start, length) != 0)
				return callgrind_wrong(callgrind,
						       "this part has different event types from the one before");
		} else {
			result = profile_add_event(profile, start, length);
		}
		if (result)
			return read_failed(reading, result);
	}
	if (!count || count != profile->event_count)
		return callgrind_wrong(callgrind, "this part has different event types from the one before, or none");
	return 0;
}

static int read_positions(struct callgrind *callgrind)
{
	struct reading *reading = callgrind->reading;

	callgrind->position_count = 0;
	callgrind->line_position = callgrind->address_position = -1;
	for (read_skip_blanks(reading); reading->at < reading->end; read_skip_blanks(reading)) {
		const char *start = reading->at;

		while (reading->at < reading->end && !strchr(" \t\r", *reading->at))
			reading->at++;
		if (callgrind->position_count == POSITIONS_MAX)
			return callgrind_wrong(callgrind, "at most two positions are possible: instr line");
		if (reading->at - start == 4 && memcmp(start, "line", 4) == 0) {
			callgrind->line_position = (int)callgrind->position_count;
		} else if (reading->at - start == 5 && memcmp(start, "instr", 5) == 0) {
			callgrind->address_position = (int)callgrind->position_count;
		} else {
			reading->at = start;
			return callgrind_wrong(callgrind, "positions are 'instr' and 'line'");
		}
		callgrind->position_count++;
	}
	return callgrind->position_count ? 0 : callgrind_wrong(callgrind, "positions are 'instr' and 'line'");
}

/* A part's own sum of all: its totals, which come last, or its summary where the totals never came. */
static int read_sums(struct callgrind *callgrind, bool is_totals)
{
	if (!callgrind->profile->event_count)
		return callgrind_wrong(callgrind, "expected a line 'events:' before this");
	callgrind->has_sums = true;
	if (is_totals)
		memset(callgrind->head_sums, 0, sizeof callgrind->head_sums);
	return callgrind_read_costs(callgrind, NULL, is_totals ? callgrind->said : callgrind->head_sums);
}

static int keep_info(struct callgrind *callgrind, const char *key, size_t key_length)
{
	struct reading *reading = callgrind->reading;
	char name[PROFILE_KEY_BYTES], value[1024];
	size_t length;

	read_skip_blanks(reading);
	length = (size_t)(reading->end - reading->at);
	while (length && strchr(" \r", reading->at[length - 1]))
		length--;
	if (callgrind->profile->info_count >= INFOS_MAX || key_length >= sizeof name)
		return 0;
	length = length < sizeof value ? length : sizeof value - 1;
	memcpy(name, key, key_length);
	name[key_length] = 0;
	memcpy(value, reading->at, length);
	value[length] = 0;
	return read_failed(reading, profile_set_info(callgrind->profile, name, value));
}

/* "desc: key: value" is about the run, as "cmd: value" is. */
static int read_description(struct callgrind *callgrind)
{
	struct reading *reading = callgrind->reading;
	const char *key, *colon;

	read_skip_blanks(reading);
	key = reading->at;
	/* Names of objects may have colons. */
	if ((size_t)(reading->end - key) > strlen(PROFILE_BUILD_ID) &&
	    memcmp(key, PROFILE_BUILD_ID, strlen(PROFILE_BUILD_ID)) == 0)
		colon = memrchr(key, ':', (size_t)(reading->end - key));
	else
		colon = memchr(key, ':', (size_t)(reading->end - key));
	if (!colon)
		return 0;
	reading->at = colon + 1;
	return keep_info(callgrind, key, (size_t)(colon - key));
}

/* "event: Sum = 2 Ir + Dr : long name" may come before "events:". What is none is of no use to any reader. */
static int read_event(struct callgrind *callgrind)
{
	struct reading *reading = callgrind->reading;
	int result =
		callgrind->profile->info_count >= INFOS_MAX
			? 0
			: profile_describe_event(callgrind->profile, reading->at, (size_t)(reading->end - reading->at));

	return result == -EINVAL ? 0 : read_failed(reading, result);
}

static int read_head(struct callgrind *callgrind, size_t length)
{
	struct reading *reading = callgrind->reading;

	reading->at = reading->line + length + 1;
	if (is_word(reading, length, "events"))
		return read_event_names(callgrind);
	if (is_word(reading, length, "positions"))
		return read_positions(callgrind);
	if (is_word(reading, length, "totals") || is_word(reading, length, "summary"))
		return read_sums(callgrind, *reading->line == 't');
	if (is_word(reading, length, "event"))
		return read_event(callgrind);
	if (is_word(reading, length, "desc"))
		return read_description(callgrind);
	if (callgrind->is_own && is_word(reading, length, "thread"))
		return callgrind_read_thread(callgrind);
	if (callgrind->is_own && is_word(reading, length, "completed") && !callgrind->profile->is_completed)
		return read_failed(reading, profile_add_inclusive(callgrind->profile));
	if (is_word(reading, length, "part")) {
		memset(callgrind->last, 0, sizeof callgrind->last);
		return 0;
	}
	return keep_info(callgrind, reading->line, length);
}

static int read_function(struct callgrind *callgrind)
{
	int result;

	if (!callgrind->profile->event_count)
		return callgrind_wrong(callgrind, "expected a line 'events:' before the first function");
	result = callgrind_read_name(callgrind, KIND_FUNCTION, &callgrind->here, &callgrind->function);
	if (!result)
		callgrind->is_inlined = false;
	return result;
}

static int read_callee(struct callgrind *callgrind)
{
	const struct place place = {
		.object = callgrind->has_called_object ? callgrind->called.object : callgrind->here.object,
		.file = callgrind->has_called_file ? callgrind->called.file : callgrind->here.file,
	};

	if (!callgrind->profile->event_count)
		return callgrind_wrong(callgrind, "expected a line 'events:' before the first function");
	callgrind->has_callee = true;
	return callgrind_read_name(callgrind, KIND_FUNCTION, &place, &callgrind->callee);
}

static int read_calls(struct callgrind *callgrind)
{
	int result;

	if (!callgrind->has_callee)
		return callgrind_wrong(callgrind, "calls without a 'cfn=' before them");
	if (!callgrind->function.is_known)
		return callgrind_wrong(callgrind, "calls without a 'fn=' before them");
	result = read_cost(callgrind->reading, callgrind->is_own, &callgrind->calls);
	if (!result)
		result = read_failed(callgrind->reading,
				     profile_edge(callgrind->profile, callgrind->function.function,
						  callgrind->callee.function, callgrind->calls, &callgrind->edge));
	callgrind->awaited = AWAIT_CALL;
	callgrind->has_called_object = callgrind->has_called_file = callgrind->has_callee = false;
	return result;
}

static int read_place(struct callgrind *callgrind, int kind, uint32_t *place)
{
	struct named named = { 0 };
	int result = callgrind_read_name(callgrind, kind, &callgrind->here, &named);

	if (!result)
		*place = named.text;
	return result;
}

static int read_assignment(struct callgrind *callgrind, size_t length)
{
	struct reading *reading = callgrind->reading;
	uint32_t ignored;

	reading->at = reading->line + length + 1;
	if (is_word(reading, length, "fn"))
		return read_function(callgrind);
	if (is_word(reading, length, "cfn"))
		return read_callee(callgrind);
	if (is_word(reading, length, "calls"))
		return read_calls(callgrind);
	if (is_word(reading, length, "jump") || is_word(reading, length, "jcnd")) {
		callgrind->awaited = AWAIT_JUMP;
		return 0;
	}
	if (is_word(reading, length, "fl") || is_word(reading, length, "fi") || is_word(reading, length, "fe")) {
		callgrind->is_inlined = reading->line[1] == 'i';
		return read_place(callgrind, KIND_FILE, &callgrind->here.file);
	}
	/* Where a jump goes to is not kept, but what gets a number there may come again. */
	if (is_word(reading, length, "jfi") || is_word(reading, length, "jfn"))
		return read_place(callgrind, reading->line[2] == 'i' ? KIND_FILE : KIND_FUNCTION, &ignored);
	if (is_word(reading, length, "ob"))
		return read_place(callgrind, KIND_OBJECT, &callgrind->here.object);
	if (is_word(reading, length, "cob")) {
		callgrind->has_called_object = true;
		return read_place(callgrind, KIND_OBJECT, &callgrind->called.object);
	}
	if (is_word(reading, length, "cfi") || is_word(reading, length, "cfl")) {
		callgrind->has_called_file = true;
		return read_place(callgrind, KIND_FILE, &callgrind->called.file);
	}
	if (callgrind->is_own && is_word(reading, length, "sob"))
		return read_place(callgrind, KIND_OBJECT, &callgrind->spot_place.object);
	if (callgrind->is_own && is_word(reading, length, "sfl"))
		return read_place(callgrind, KIND_FILE, &callgrind->spot_place.file);
	if (callgrind->is_own)
		return callgrind_read_own(callgrind, length);
	reading->at = reading->line;
	return read_wrong(reading, NULL, "callgrind's format has no '%.*s='", (int)(length < 40 ? length : 40),
			  reading->line);
}

/* One position: N, 0xN, +N, -N or *, the latter three against the last line of costs. */
static int read_position(struct callgrind *callgrind, unsigned index)
{
	struct reading *reading = callgrind->reading;
	char sign = *reading->at;
	uint64_t number = 0;
	int result = 0;

	if (sign == '+' || sign == '-' || sign == '*')
		reading->at++;
	if (sign != '*')
		result = read_whole(reading, &number);
	if (result)
		return result;
	if (sign == '-')
		callgrind->last[index] -= number;
	else if (sign == '+')
		callgrind->last[index] += number;
	else if (sign != '*')
		callgrind->last[index] = number;
	return 0;
}

static void note_position(struct callgrind *callgrind)
{
	struct profile_function *function = &callgrind->profile->functions[callgrind->function.function];

	if (callgrind->line_position >= 0 && !function->line && !callgrind->is_inlined)
		function->line = (uint32_t)callgrind->last[callgrind->line_position];
	if (callgrind->address_position >= 0) {
		uint64_t address = callgrind->last[callgrind->address_position];

		function->low = address < function->low ? address : function->low;
		function->high = address > function->high ? address : function->high;
	}
}

/* What of a cost line is where: HASH_NONE where it has neither a line nor an address. */
static int find_spot(struct callgrind *callgrind, uint32_t *spot)
{
	struct profile_spot wanted = { .function = callgrind->function.function, .address = PROFILE_NO_ADDRESS };

	*spot = HASH_NONE;
	if (callgrind->line_position >= 0)
		wanted.line = (uint32_t)callgrind->last[callgrind->line_position];
	if (wanted.line) {
		wanted.file = callgrind->here.file;
	} else if (callgrind->address_position >= 0) {
		wanted.object = callgrind->here.object;
		wanted.address = callgrind->last[callgrind->address_position];
	}
	/* Of a function the project's own format says it in lines of their own. */
	if (callgrind->is_own || callgrind->reading->without_places ||
	    (!wanted.line && wanted.address == PROFILE_NO_ADDRESS))
		return 0;
	return read_failed(callgrind->reading, profile_spot(callgrind->profile, &wanted, spot));
}

static int read_call_cost(struct callgrind *callgrind, uint32_t spot)
{
	const char *costs = callgrind->reading->at;
	uint32_t call;
	int result = callgrind_read_costs(callgrind, profile_cost(callgrind->profile, callgrind->edge), NULL);

	if (result || spot == HASH_NONE)
		return result;
	result = read_failed(callgrind->reading,
			     profile_call(callgrind->profile, callgrind->edge, spot, callgrind->calls, &call));
	callgrind->reading->at = costs;
	return result ? result : callgrind_read_costs(callgrind, profile_call_cost(callgrind->profile, call), NULL);
}

static double *context_row(const struct callgrind *callgrind)
{
	return callgrind->profile->context_self + (size_t)callgrind->function.context * callgrind->profile->event_count;
}

static int read_cost_line(struct callgrind *callgrind)
{
	struct reading *reading = callgrind->reading;
	struct profile *profile = callgrind->profile;
	enum awaited awaited = callgrind->awaited;
	uint32_t spot;
	int result = 0;

	callgrind->awaited = AWAIT_COST;
	for (unsigned i = 0; i < callgrind->position_count && !result; i++) {
		read_skip_blanks(reading);
		if (reading->at == reading->end)
			return callgrind_wrong(callgrind, "expected a position");
		result = read_position(callgrind, i);
	}
	if (result || awaited == AWAIT_JUMP)
		return result;
	if (!callgrind->function.is_known)
		return callgrind_wrong(callgrind, "a cost without a 'fn=' before it");
	note_position(callgrind);
	result = find_spot(callgrind, &spot);
	if (result)
		return result;
	if (awaited == AWAIT_CALL)
		return read_call_cost(callgrind, spot);
	const char *costs = reading->at;

	result = callgrind_read_costs(callgrind, profile_self(profile, callgrind->function.function), callgrind->sums);
	reading->at = costs;
	if (!result && spot != HASH_NONE)
		result = callgrind_read_costs(callgrind, profile_spot_self(profile, spot), NULL);
	if (result || callgrind->function.context == HASH_NONE)
		return result;
	reading->at = costs;
	return callgrind_read_costs(callgrind, context_row(callgrind), NULL);
}

static int read_callgrind_line(struct callgrind *callgrind)
{
	struct reading *reading = callgrind->reading;
	size_t length;
	char c;

	read_skip_blanks(reading);
	if (reading->at == reading->end || *reading->at == '#')
		return 0;
	c = *reading->at;
	if ((c >= '0' && c <= '9') || c == '+' || c == '-' || c == '*')
		return read_cost_line(callgrind);
	if (callgrind->awaited != AWAIT_COST)
		return callgrind_wrong(callgrind, "expected the position of the calls or the jump in the next line");
	for (length = 0; reading->line + length < reading->end; length++) {
		if (reading->line[length] == '=')
			return read_assignment(callgrind, length);
		if (reading->line[length] == ':')
			return read_head(callgrind, length);
	}
	return callgrind_wrong(callgrind, "this line is not in callgrind's format");
}

/* A simulation that was stopped while it wrote has no totals, or not the costs that they say. */
static void compare_sums(struct callgrind *callgrind)
{
	double said = callgrind->said[0] + callgrind->head_sums[0], missing = said - callgrind->sums[0];

	if (!callgrind->has_sums || fabs(missing) <= said * 1e-9)
		return;
	callgrind->profile->missing = fabs(missing) / (missing > 0 ? said : callgrind->sums[0]);
	diag_add(callgrind->reading->diag, ASTERISM_WARNING, NULL,
		 "repeat the run and let it end by itself: whatever is missing here is missing from every result",
		 "%s is incomplete: its totals have %.0f %s, its lines %.0f", callgrind->reading->source->file, said,
		 profile_get_text(callgrind->profile, callgrind->profile->events[0]), callgrind->sums[0]);
}

static int finish_callgrind(struct callgrind *callgrind)
{
	const char *samples = profile_get_info(callgrind->profile, "samples");

	if (callgrind->awaited != AWAIT_COST)
		return callgrind_wrong(callgrind, "the file ends after calls, without their cost");
	if (!callgrind->profile->event_count)
		return callgrind_wrong(callgrind, "the file has no line 'events:'");
	compare_sums(callgrind);
	if (samples)
		callgrind->profile->samples = strtod(samples, NULL);
	if (!(callgrind->profile->samples >= 0 && isfinite(callgrind->profile->samples)))
		callgrind->profile->samples = 0;
	return profile_resolve_contexts(callgrind->profile) ? diag_no_memory(callgrind->reading->diag) : 0;
}

int profile_read_callgrind(struct reading *reading, bool is_own)
{
	struct callgrind callgrind = { .reading = reading,
				       .profile = reading->profile,
				       .is_own = is_own,
				       .position_count = 1,
				       .address_position = -1 };
	int result = 0;

	while (!result && read_next_line(reading))
		result = read_callgrind_line(&callgrind);
	if (!result)
		result = finish_callgrind(&callgrind);
	for (int i = 0; i < KINDS; i++)
		alloc_free(callgrind.names[i]);
	return result;
}
