// SPDX-License-Identifier: BSD-2-Clause
/*
 * Opens a set of counters: what names mean, which of a type's sources serve, and that no thread of a process which runs
 * is left out.
 */

#include "api/counter-priv.h"

#include "api/sized.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/diag.h"
#include "counters/installed.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { TYPES_MAX = 256, TRIES_MAX = 16 };

static int find_counter_type(const struct counters *counters, const char *name, struct asterism_diag *diag,
			     uint32_t *index)
{
	const struct counter_type *type = name ? counters_find(counters, name) : NULL;
	const char **names, *nearest = NULL;
	char hint[COUNTER_NAME_MAX * 2 + 32];

	if (!name)
		return diag_error(diag, NULL, -EINVAL, "types[]: a counter has no name");
	if (type) {
		*index = (uint32_t)(type - counters->types);
		return 0;
	}
	names = alloc_zero(counters->type_count, sizeof *names);
	for (size_t i = 0; names && i < counters->type_count; i++)
		names[i] = counters->types[i].name;
	if (names)
		nearest = diag_nearest(name, names, counters->type_count);
	alloc_free(names);
	diag_error(diag, NULL, -ENOENT, "unknown counter '%s'", name);
	if (nearest)
		snprintf(hint, sizeof hint, "did you mean %s?", nearest);
	else
		snprintf(hint, sizeof hint, "'asterism counters list' shows all counters");
	diag_hint(diag, hint);
	return -ENOENT;
}

static int find_counter_types(struct asterism_counter_set *set, const char *const *types, size_t count)
{
	int result = 0;

	set->items = alloc_zero(count, sizeof *set->items);
	set->ways = alloc_zero(set->counters->type_count, sizeof *set->ways);
	if (!set->items || !set->ways)
		return diag_no_memory(set->diag);
	for (; !result && set->count < count; set->count++)
		result = find_counter_type(set->counters, types[set->count], set->diag, &set->items[set->count].type);
	return result;
}

/* What is not here, and why. */
static int check_way(const struct asterism_counter_set *set, uint32_t type)
{
	const struct tally_way *way = &set->ways[type];
	const char *name = set->counters->types[type].name;
	bool is_ours = way->error == -EACCES || way->error == -ESRCH || way->error == -EMFILE || way->error == -ENOMEM;

	if (way->state != TALLY_NOT_HERE && !way->is_of_command)
		return 0;
	if (way->is_of_command) {
		diag_error(set->diag, NULL, -EACCES, "permission denied: cannot count %s for the whole machine", name);
		diag_hint(set->diag, "count a process instead, or run as root or with CAP_PERFMON");
		return -EACCES;
	}
	diag_error(set->diag, NULL, -EOPNOTSUPP, "%s is not available on this machine: %s", name, way->reason);
	diag_hint(set->diag, "'asterism counters --probe' shows which counters are available, and why others are not");
	return is_ours ? way->error : -EOPNOTSUPP;
}

static int probe(struct asterism_counter_set *set)
{
	bool *wanted = alloc_zero(set->counters->type_count, sizeof *wanted);
	int result = 0;

	if (!wanted)
		return diag_no_memory(set->diag);
	for (size_t i = 0; i < set->count; i++)
		wanted[set->items[i].type] = true;
	tally_probe(set->counters, wanted, &set->scope, set->ways);
	alloc_free(wanted);
	for (size_t i = 0; !result && i < set->count; i++)
		result = check_way(set, set->items[i].type);
	return result;
}

static int open_tallies(struct asterism_counter_set *set)
{
	const struct tally_ways ways = { set->counters, set->ways };

	set->operand_count = 0;
	for (size_t i = 0; i < set->count; i++) {
		struct counter_item *item = &set->items[i];
		char reason[METER_REASON_BYTES] = "";
		int result = tally_open(&ways, item->type, &set->scope, reason, &item->tally);

		if (result)
			return diag_error(set->diag, NULL, result, "cannot count %s: %s",
					  set->counters->types[item->type].name, reason);
		item->first = set->operand_count;
		set->operand_count += tally_operand_count(item->tally);
	}
	return 0;
}

static void close_tallies(struct asterism_counter_set *set)
{
	for (size_t i = 0; i < set->count; i++) {
		tally_free(set->items[i].tally);
		set->items[i].tally = NULL;
	}
}

static int list_threads(struct asterism_counter_set *set, struct meter_threads *threads)
{
	int result = measure_threads_list(set->scope.pid, threads);

	if (result == -ESRCH)
		return diag_error(set->diag, NULL, result, "process %d does not exist", (int)set->scope.pid);
	if (result == -E2BIG)
		return diag_error(set->diag, NULL, result, "process %d has more than %d threads", (int)set->scope.pid,
				  METER_THREADS_MAX);
	return result ? diag_error(set->diag, NULL, result, "cannot list the threads of process %d: %s",
				   (int)set->scope.pid, strerror(-result))
		      : 0;
}

static bool is_apart(const struct asterism_counter_set *set)
{
	for (size_t i = 0; i < set->count; i++) {
		if (tally_is_apart(set->items[i].tally))
			return true;
	}
	return false;
}

/*
 * A thread that was made by one that was not counted yet is counted by nothing. There is none if all that are there
 * afterwards were there before. One that was made while a group was opened has a part of it, which is -ECHILD; forks
 * have the kernel refuse members of groups, too, with -ENODEV, or -EINVAL, after which operands are apart. Returns 1
 * where it is to be tried again.
 */
static int open_once(struct asterism_counter_set *set, struct meter_threads *now, bool may_be_apart)
{
	size_t said = asterism_diag_count(set->diag, ASTERISM_NOTE);
	int result = list_threads(set, &set->threads);

	if (result)
		return result;
	result = open_tallies(set);
	if (result == -ECHILD || result == -ENODEV) {
		diag_forget(set->diag, said);
		return 1;
	}
	if (!result && is_apart(set) && !may_be_apart)
		return 1;
	result = result ? result : list_threads(set, now);
	return result ? result : !measure_threads_hold(&set->threads, now);
}

static int open_process(struct asterism_counter_set *set)
{
	struct meter_threads now = { 0 };
	int result = list_threads(set, &set->threads);

	set->scope.threads = &set->threads;
	result = result ? result : probe(set);
	for (int left = TRIES_MAX; !result && left--;) {
		result = open_once(set, &now, left < TRIES_MAX / 2);
		if (result <= 0)
			break;
		close_tallies(set);
		result = left ? 0
			      : diag_error(set->diag, NULL, -EAGAIN,
					   "process %d starts threads or processes faster than counters can be "
					   "attached to them",
					   (int)set->scope.pid);
	}
	measure_threads_fini(&now);
	return result;
}

static void warn_of(const struct asterism_counter_set *set, const struct counter_item *item)
{
	const char *name = set->counters->types[item->type].name;

	if (tally_is_apart(item->tally))
		diag_add(set->diag, ASTERISM_WARNING, NULL, "open fewer types",
			 "%s needs more hardware counters at the same time than this machine has", name);
	if (tally_is_of_user(item->tally))
		diag_add(set->diag, ASTERISM_WARNING, NULL,
			 "run as root or with CAP_PERFMON to count kernel code as well",
			 "%s counts user code only: no permission to count kernel code", name);
	if (set->scope.pid >= 0 && !set->scope.fake && tally_is_of_machine(item->tally))
		diag_add(set->diag, ASTERISM_WARNING, NULL, NULL,
			 "%s counts the whole machine: its source cannot count single processes", name);
}

static int choose_scope(struct asterism_counter_set *set, const struct asterism_counter_options *options)
{
	switch (options->scope) {
	case ASTERISM_COUNTER_OWN:
		set->scope.pid = getpid();
		return 0;
	case ASTERISM_COUNTER_PROCESS:
		set->scope.pid = options->pid;
		return options->pid > 0
			       ? 0
			       : diag_error(set->diag, NULL, -EINVAL, "invalid process id %d", (int)options->pid);
	case ASTERISM_COUNTER_MACHINE:
		set->scope.pid = -1;
		return 0;
	default:
		return diag_error(set->diag, NULL, -EINVAL, "invalid scope %d", options->scope);
	}
}

static int check_arguments(struct asterism_counter_set *set, const char *const *types, size_t count,
			   const struct asterism_counter_options *given, struct asterism_counter_options *options)
{
	if (given && sized_take(options, sizeof *options, given))
		return sized_refuse(set->diag, "options", given, sizeof *options);
	if (!types || !count || count > TYPES_MAX)
		return diag_error(set->diag, NULL, -EINVAL, "the number of types is not between 1 and %d", TYPES_MAX);
	if (options->catalog_count && !options->catalogs)
		return diag_error(set->diag, NULL, -EINVAL, "no catalogs were given");
	for (size_t i = 0; i < options->catalog_count; i++) {
		if (!options->catalogs[i])
			return diag_error(set->diag, NULL, -EINVAL, "a catalog has no path");
	}
	return choose_scope(set, options);
}

static int open_set(struct asterism_counter_set *set, const char *const *types, size_t count,
		    const struct asterism_counter_options *given)
{
	struct asterism_counter_options options = { 0 };
	int result = check_arguments(set, types, count, given, &options);

	if (!result)
		result = counters_load(options.catalogs, options.catalog_count, set->diag, &set->counters);
	if (!result)
		result = find_counter_types(set, types, count);
	if (!result)
		result = meter_fake_of_environment(set->diag, &set->scope.fake);
	if (!result && set->scope.pid >= 0)
		result = open_process(set);
	else if (!result && !(result = probe(set)))
		result = open_tallies(set);
	if (result)
		return result;
	set->counts = alloc_zero(set->operand_count, sizeof *set->counts);
	set->zeroes = alloc_zero(set->operand_count, sizeof *set->zeroes);
	if (!set->counts || !set->zeroes)
		return diag_no_memory(set->diag);
	set->opened_ns = clock_now_ns();
	for (size_t i = 0; i < set->count; i++)
		warn_of(set, &set->items[i]);
	return 0;
}

int asterism_counter_open(const char *const *types, size_t count, const struct asterism_counter_options *options,
			  struct asterism_diag *diag, struct asterism_counter_set **opened)
{
	struct asterism_counter_set *set = alloc_zero(1, sizeof *set);
	int result;

	if (!set)
		return diag_no_memory(diag);
	set->diag = asterism_diag_new();
	if (!set->diag)
		result = diag_no_memory(diag);
	else if (!opened)
		result = diag_error(set->diag, NULL, -EINVAL, "the set to return is NULL");
	else
		result = open_set(set, types, count, options);
	if (set->diag && diag)
		diag_take(diag, set->diag);
	if (result)
		asterism_counter_free(set);
	else
		*opened = set;
	return result;
}

void asterism_counter_free(struct asterism_counter_set *set)
{
	if (!set)
		return;
	if (set->items)
		close_tallies(set);
	alloc_free(set->items);
	alloc_free(set->counts);
	alloc_free(set->zeroes);
	alloc_free(set->ways);
	measure_threads_fini(&set->threads);
	meter_fake_free(set->scope.fake);
	counters_free(set->counters);
	asterism_diag_free(set->diag);
	alloc_free(set);
}
