// SPDX-License-Identifier: BSD-2-Clause
/* Keeps a profile: vectors of functions, edges and contexts, found by hashes of numbers of texts. */

#include "profile/profile.h"

#include "base/alloc.h"
#include "base/hash.h"

#include <errno.h>
#include <math.h>
#include <string.h>

enum { COUNT_MAX = INT32_MAX };

/* Of two numbers, good in all bits. Files choose numbers and texts, but not what meets in one place. */
static uint64_t hash_pair(uint64_t seed, uint32_t a, uint32_t b)
{
	uint64_t hash = (seed ^ ((uint64_t)a << 32 | b)) * UINT64_C(0x9e3779b97f4a7c15);

	hash = (hash ^ hash >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
	return hash ^ hash >> 32;
}

static uint64_t hash_name(const struct profile *profile, uint32_t name)
{
	return hash_pair(profile->seed, name, 0);
}

struct profile *profile_new(void)
{
	struct profile *profile = alloc_zero(1, sizeof *profile);
	uint32_t empty;

	if (profile) {
		profile->seed = hash_seed(profile);
		profile->arena = arena_new();
	}
	if (!profile || !profile->arena || profile_text(profile, "", 0, &empty)) {
		profile_free(profile);
		return NULL;
	}
	return profile;
}

void profile_free(struct profile *profile)
{
	if (!profile)
		return;
	hash_table_fini(&profile->texts.numbers);
	hash_table_fini(&profile->by_name);
	hash_table_fini(&profile->by_identity);
	hash_table_fini(&profile->by_pair);
	hash_table_fini(&profile->by_spot);
	hash_table_fini(&profile->by_call);
	hash_table_fini(&profile->by_part);
	alloc_free(profile->texts.texts);
	alloc_free(profile->infos);
	alloc_free(profile->functions);
	alloc_free(profile->self);
	alloc_free(profile->edges);
	alloc_free(profile->costs);
	alloc_free(profile->spots);
	alloc_free(profile->spot_self);
	alloc_free(profile->calls);
	alloc_free(profile->call_costs);
	alloc_free(profile->contexts);
	alloc_free(profile->context_self);
	alloc_free(profile->paths);
	alloc_free(profile->threads);
	alloc_free(profile->parts);
	alloc_free(profile->inclusive);
	alloc_free(profile->deviation);
	arena_free(profile->arena);
	alloc_free(profile);
}

/* The number of the text, or HASH_NONE. */
static uint32_t find_profile_text(const struct profile_texts *texts, const char *text, size_t length, uint64_t hash)
{
	uint32_t number;

	for (size_t step = 0; (number = hash_table_next(&texts->numbers, hash, &step)) != HASH_NONE;) {
		if (strncmp(texts->texts[number], text, length) == 0 && !texts->texts[number][length])
			break;
	}
	return number;
}

static uint64_t hash_of_text(const struct profile *profile, const char *text, size_t length)
{
	return hash_pair(profile->seed, (uint32_t)length, hash_fold(hash_bytes(profile->seed, text, length)));
}

int profile_text(struct profile *profile, const char *text, size_t length, uint32_t *number)
{
	struct profile_texts *texts = &profile->texts;
	uint64_t hash = hash_of_text(profile, text, length);
	uint32_t found = find_profile_text(texts, text, length, hash);

	if (found == HASH_NONE) {
		if (texts->count >= COUNT_MAX)
			return -E2BIG;
		if (alloc_grow(&texts->texts, &texts->capacity, texts->count, sizeof *texts->texts) ||
		    hash_table_reserve(&texts->numbers, NULL, texts->count + 1) ||
		    !(texts->texts[texts->count] = arena_text(profile->arena, text, length)))
			return -ENOMEM;
		found = (uint32_t)texts->count++;
		hash_table_add(&texts->numbers, hash, found);
	}
	*number = found;
	return 0;
}

/* Names of events stand side by side in files: one is a word, whatever a column of CSV is called. */
int profile_add_event(struct profile *profile, const char *name, size_t length)
{
	char *word = alloc_zero(length + 2, 1);
	uint32_t number;
	int result;

	if (!word)
		return -ENOMEM;
	for (size_t i = 0; i < length; i++)
		word[i] = (unsigned char)name[i] <= ' ' || name[i] == 0x7f ? '_' : name[i];
	if (!length)
		*word = '_';
	result = profile_text(profile, word, length ? length : 1, &number);
	alloc_free(word);
	if (result)
		return result;
	if (profile->event_count == PROFILE_EVENTS_MAX)
		return -E2BIG;
	profile->events[profile->event_count++] = number;
	return 0;
}

int profile_set_info(struct profile *profile, const char *key, const char *value)
{
	struct profile_info info;
	int result = profile_text(profile, key, strlen(key), &info.key);

	if (!result)
		result = profile_text(profile, value, strlen(value), &info.value);
	if (result)
		return result;
	for (size_t i = 0; i < profile->info_count; i++) {
		if (profile->infos[i].key == info.key) {
			profile->infos[i].value = info.value;
			return 0;
		}
	}
	if (alloc_grow(&profile->infos, &profile->info_capacity, profile->info_count, sizeof info))
		return -ENOMEM;
	profile->infos[profile->info_count++] = info;
	return 0;
}

const char *profile_get_info(const struct profile *profile, const char *key)
{
	for (size_t i = 0; i < profile->info_count; i++) {
		if (strcmp(profile_get_text(profile, profile->infos[i].key), key) == 0)
			return profile_get_text(profile, profile->infos[i].value);
	}
	return NULL;
}

/* One more row of costs, of zeros. */
static int add_cost_row(const struct profile *profile, double **rows, size_t *capacity, size_t count)
{
	size_t bytes = profile->event_count * sizeof **rows;

	if (count >= COUNT_MAX)
		return -E2BIG;
	if (alloc_grow(rows, capacity, count, bytes))
		return -ENOMEM;
	memset(*rows + count * profile->event_count, 0, bytes);
	return 0;
}

static int add_inclusive_row(struct profile *profile, size_t count)
{
	int result = add_cost_row(profile, &profile->inclusive, &profile->inclusive_capacity, count);

	if (!result)
		result = add_cost_row(profile, &profile->deviation, &profile->deviation_capacity, count);
	for (unsigned i = 0; !result && i < profile->event_count; i++)
		profile->deviation[count * profile->event_count + i] = NAN;
	return result;
}

/* The first function of the name, or HASH_NONE. */
static uint32_t find_first_function(const struct profile *profile, uint32_t name)
{
	uint32_t number;

	for (size_t step = 0;
	     (number = hash_table_next(&profile->by_name, hash_name(profile, name), &step)) != HASH_NONE;) {
		if (profile->functions[number].name == name)
			break;
	}
	return number;
}

/* Many objects may have a function of one name: none is passed on the way to another. */
static void link_name(struct profile *profile, uint32_t function)
{
	uint32_t name = profile->functions[function].name, first = find_first_function(profile, name);

	if (first == HASH_NONE) {
		hash_table_add(&profile->by_name, hash_name(profile, name), function);
		first = function;
	} else {
		profile->functions[profile->functions[first].last].next = function;
	}
	profile->functions[first].last = function;
}

int profile_function(struct profile *profile, uint32_t name, uint32_t object, uint32_t *function)
{
	uint64_t hash = hash_pair(profile->seed, name, object);
	uint32_t number;
	int result;

	for (size_t step = 0; (number = hash_table_next(&profile->by_identity, hash, &step)) != HASH_NONE;) {
		if (profile->functions[number].name == name && profile->functions[number].object == object) {
			*function = number;
			return 0;
		}
	}
	result = add_cost_row(profile, &profile->self, &profile->self_capacity, profile->function_count);
	if (!result && profile->is_completed)
		result = add_inclusive_row(profile, profile->function_count);
	if (result)
		return result;
	if (alloc_grow(&profile->functions, &profile->function_capacity, profile->function_count,
		       sizeof *profile->functions) ||
	    hash_table_reserve(&profile->by_name, NULL, profile->function_count + 1) ||
	    hash_table_reserve(&profile->by_identity, NULL, profile->function_count + 1))
		return -ENOMEM;
	*function = (uint32_t)profile->function_count++;
	profile->functions[*function] =
		(struct profile_function){ .name = name, .object = object, .low = UINT64_MAX, .next = HASH_NONE };
	hash_table_add(&profile->by_identity, hash, *function);
	link_name(profile, *function);
	return 0;
}

uint32_t profile_find_name(const struct profile *profile, const char *name, size_t *step)
{
	size_t length = strlen(name);
	uint32_t number;

	if (*step) {
		number = profile->functions[*step - 1].next;
	} else {
		number = find_profile_text(&profile->texts, name, length, hash_of_text(profile, name, length));
		if (number != HASH_NONE)
			number = find_first_function(profile, number);
	}
	if (number != HASH_NONE)
		*step = number + (size_t)1;
	return number;
}

uint32_t profile_find_edge(const struct profile *profile, uint32_t caller, uint32_t callee)
{
	uint64_t hash = hash_pair(profile->seed, caller, callee);
	uint32_t number;

	for (size_t step = 0; (number = hash_table_next(&profile->by_pair, hash, &step)) != HASH_NONE;) {
		if (profile->edges[number].caller == caller && profile->edges[number].callee == callee)
			break;
	}
	return number;
}

int profile_edge(struct profile *profile, uint32_t caller, uint32_t callee, double calls, uint32_t *edge)
{
	int result;

	*edge = profile_find_edge(profile, caller, callee);
	if (*edge == HASH_NONE) {
		result = add_cost_row(profile, &profile->costs, &profile->cost_capacity, profile->edge_count);
		if (result)
			return result;
		if (alloc_grow(&profile->edges, &profile->edge_capacity, profile->edge_count, sizeof *profile->edges) ||
		    hash_table_reserve(&profile->by_pair, NULL, profile->edge_count + 1))
			return -ENOMEM;
		*edge = (uint32_t)profile->edge_count++;
		profile->edges[*edge] = (struct profile_edge){ .caller = caller, .callee = callee };
		hash_table_add(&profile->by_pair, hash_pair(profile->seed, caller, callee), *edge);
	}
	profile->edges[*edge].calls += calls;
	return 0;
}

static uint64_t hash_spot(const struct profile *profile, const struct profile_spot *spot)
{
	uint64_t hash = hash_pair(profile->seed, spot->function, spot->line);

	hash = hash_pair(hash, spot->object, spot->file);
	return hash_pair(hash, (uint32_t)(spot->address >> 32), (uint32_t)spot->address);
}

static bool is_spot(const struct profile_spot *a, const struct profile_spot *b)
{
	return a->function == b->function && a->object == b->object && a->file == b->file && a->line == b->line &&
	       a->address == b->address;
}

int profile_spot(struct profile *profile, const struct profile_spot *wanted, uint32_t *spot)
{
	uint64_t hash = hash_spot(profile, wanted);
	int result;

	for (size_t step = 0; (*spot = hash_table_next(&profile->by_spot, hash, &step)) != HASH_NONE;) {
		if (is_spot(&profile->spots[*spot], wanted))
			return 0;
	}
	result = add_cost_row(profile, &profile->spot_self, &profile->spot_self_capacity, profile->spot_count);
	if (result)
		return result;
	if (alloc_grow(&profile->spots, &profile->spot_capacity, profile->spot_count, sizeof *profile->spots) ||
	    hash_table_reserve(&profile->by_spot, NULL, profile->spot_count + 1))
		return -ENOMEM;
	*spot = (uint32_t)profile->spot_count++;
	profile->spots[*spot] = *wanted;
	hash_table_add(&profile->by_spot, hash, *spot);
	return 0;
}

int profile_call(struct profile *profile, uint32_t edge, uint32_t spot, double calls, uint32_t *call)
{
	uint64_t hash = hash_pair(profile->seed, edge, spot);
	int result;

	for (size_t step = 0; (*call = hash_table_next(&profile->by_call, hash, &step)) != HASH_NONE;) {
		if (profile->calls[*call].edge == edge && profile->calls[*call].spot == spot)
			break;
	}
	if (*call == HASH_NONE) {
		result = add_cost_row(profile, &profile->call_costs, &profile->call_cost_capacity, profile->call_count);
		if (result)
			return result;
		if (alloc_grow(&profile->calls, &profile->call_capacity, profile->call_count, sizeof *profile->calls) ||
		    hash_table_reserve(&profile->by_call, NULL, profile->call_count + 1))
			return -ENOMEM;
		*call = (uint32_t)profile->call_count++;
		profile->calls[*call] = (struct profile_call){ .edge = edge, .spot = spot };
		hash_table_add(&profile->by_call, hash, *call);
	}
	profile->calls[*call].calls += calls;
	return 0;
}

int profile_context(struct profile *profile, uint32_t function, uint32_t callers, uint32_t *context)
{
	int result =
		add_cost_row(profile, &profile->context_self, &profile->context_self_capacity, profile->context_count);

	if (result)
		return result;
	if (alloc_grow(&profile->contexts, &profile->context_capacity, profile->context_count,
		       sizeof *profile->contexts))
		return -ENOMEM;
	*context = (uint32_t)profile->context_count++;
	profile->contexts[*context] = (struct profile_context){ .function = function, .callers = callers };
	return 0;
}

/* The function called so that calls callee; where no function of that name does, one of that name. */
static uint32_t find_caller(const struct profile *profile, uint32_t name, uint32_t callee)
{
	uint32_t first = find_first_function(profile, name);

	for (uint32_t number = first; number != HASH_NONE; number = profile->functions[number].next) {
		if (profile_find_edge(profile, number, callee) != HASH_NONE)
			return number;
	}
	return first;
}

static int add_to_path(struct profile *profile, struct profile_context *context, uint32_t function)
{
	if (alloc_grow(&profile->paths, &profile->path_capacity, profile->path_count, sizeof *profile->paths))
		return -ENOMEM;
	profile->paths[profile->path_count++] = function;
	context->length++;
	return 0;
}

static int resolve_profile(struct profile *profile, struct profile_context *context)
{
	const char *at = profile_get_text(profile, context->callers);
	uint32_t function = context->function;

	context->path = profile->path_count;
	if (add_to_path(profile, context, function))
		return -ENOMEM;
	while (*at) {
		size_t length = strcspn(at, "'");
		uint32_t name = find_profile_text(&profile->texts, at, length, hash_of_text(profile, at, length));

		function = name == HASH_NONE ? HASH_NONE : find_caller(profile, name, function);
		if (function == HASH_NONE)
			break;
		if (add_to_path(profile, context, function))
			return -ENOMEM;
		at += length + (at[length] == '\'');
	}
	return 0;
}

/* Costs of functions that none of their contexts has were had without a caller. */
static int add_plain_contexts(struct profile *profile, double *rest)
{
	unsigned events = profile->event_count;
	size_t had = profile->context_count;
	int result = 0;

	memcpy(rest, profile->self, profile->function_count * events * sizeof *rest);
	for (size_t i = 0; i < had; i++) {
		for (unsigned j = 0; j < events; j++)
			rest[(size_t)profile->contexts[i].function * events + j] -=
				profile->context_self[i * events + j];
	}
	for (size_t i = 0; !result && i < profile->function_count; i++) {
		double *row = rest + i * events;
		uint32_t context;

		/* The first event stands for all. */
		if (*row <= 0 && *profile_self(profile, (uint32_t)i) > 0)
			continue;
		result = profile_context(profile, (uint32_t)i, 0, &context);
		if (!result)
			memcpy(profile->context_self + (size_t)context * events, row, events * sizeof *row);
	}
	return result;
}

int profile_resolve_contexts(struct profile *profile)
{
	bool *is_called = alloc_zero(profile->function_count + 1, sizeof *is_called);
	double *rest = alloc_zero(profile->function_count * profile->event_count + 1, sizeof *rest);
	int result = is_called && rest ? 0 : -ENOMEM;

	for (size_t i = 0; !result && i < profile->edge_count; i++) {
		if (profile->edges[i].caller != profile->edges[i].callee)
			is_called[profile->edges[i].callee] = true;
	}
	if (!result && profile->context_count)
		result = add_plain_contexts(profile, rest);
	for (size_t i = 0; !result && i < profile->context_count; i++) {
		struct profile_context *context = &profile->contexts[i];

		result = resolve_profile(profile, context);
		if (!result)
			context->is_root = !is_called[profile->paths[context->path + context->length - 1]];
	}
	alloc_free(is_called);
	alloc_free(rest);
	return result;
}

int profile_add_inclusive(struct profile *profile)
{
	int result = 0;

	for (size_t i = 0; !result && i < profile->function_count; i++)
		result = add_inclusive_row(profile, i);
	profile->is_completed = !result;
	return result;
}

double profile_total(const struct profile *profile, unsigned event)
{
	double sum = 0;

	for (size_t i = 0; i < profile->function_count; i++)
		sum += profile->self[i * profile->event_count + event];
	return sum;
}

int profile_find_event(const struct profile *profile, const char *name)
{
	for (unsigned i = 0; i < profile->event_count; i++) {
		if (strcmp(profile_get_text(profile, profile->events[i]), name) == 0)
			return (int)i;
	}
	return PROFILE_NONE;
}
