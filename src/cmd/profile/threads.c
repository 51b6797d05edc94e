// SPDX-License-Identifier: BSD-2-Clause
/* `asterism profile report --threads`: which threads cost what; --thread: the samples of one. */

#include "base/alloc.h"
#include "base/text.h"
#include "cli/print.h"
#include "cmd/options/options.h"
#include "cmd/options/status.h"
#include "cmd/profile/profile-priv.h"
#include "cmd/text/json-text.h"
#include "profile/threads.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* A thread, or the process that is the sum of its threads. */
struct thread_row {
	double cost, process_cost;
	uint32_t pid, thread, count; /* count: of threads, of a process */
	bool is_process;
};

static int by_process(const void *left, const void *right)
{
	const struct thread_row *a = left, *b = right;

	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	return a->thread < b->thread ? -1 : a->thread > b->thread;
}

/* Processes by their cost, each with its threads by theirs behind it. */
static int by_cost(const void *left, const void *right)
{
	const struct thread_row *a = left, *b = right;

	if (a->process_cost != b->process_cost)
		return a->process_cost < b->process_cost ? 1 : -1;
	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	if (a->is_process != b->is_process)
		return a->is_process ? -1 : 1;
	if (a->cost != b->cost)
		return a->cost < b->cost ? 1 : -1;
	return a->thread < b->thread ? -1 : a->thread > b->thread;
}

/* The process of the threads from begin to end; its name is that of its first thread, or its own thread's. */
static struct thread_row sum_up(const struct profile *profile, struct thread_row *begin, const struct thread_row *end)
{
	struct thread_row process = { .pid = begin->pid, .thread = begin->thread, .is_process = true };

	for (const struct thread_row *row = begin; row < end; row++) {
		process.cost += row->cost;
		process.count++;
		if (profile->threads[row->thread].tid == row->pid)
			process.thread = row->thread;
	}
	process.process_cost = process.cost;
	for (struct thread_row *row = begin; row < end; row++)
		row->process_cost = process.cost;
	return process;
}

/* NULL: out of memory. */
static struct thread_row *rank(const struct profile *profile, size_t *count)
{
	struct thread_row *rows = alloc_zero(2 * profile->thread_count + 1, sizeof *rows);
	double *costs = profile_thread_costs(profile);
	size_t threads = profile->thread_count, begin = 0;

	*count = threads;
	for (size_t i = 0; rows && costs && i < threads; i++)
		rows[i] =
			(struct thread_row){ .cost = costs[i], .pid = profile->threads[i].pid, .thread = (uint32_t)i };
	if (rows && costs) {
		qsort(rows, threads, sizeof *rows, by_process);
		for (size_t i = 1; i <= threads; i++) {
			if (i < threads && rows[i].pid == rows[begin].pid)
				continue;
			rows[(*count)++] = sum_up(profile, rows + begin, rows + i);
			begin = i;
		}
		qsort(rows, *count, sizeof *rows, by_cost);
	}
	alloc_free(costs);
	if (costs)
		return rows;
	alloc_free(rows);
	return NULL;
}

static void put_rows(const struct profile *profile, const struct profile_unit *unit, const struct thread_row *rows,
		     size_t count)
{
	profile_put_head(stdout, profile, unit->event);
	printf("\n%-*s %8s %8s  name\n", profile_share_width(unit), "self", "process", "thread");
	for (size_t i = 0; i < count; i++) {
		const struct profile_thread *thread = &profile->threads[rows[i].thread];

		profile_put_share(stdout, rows[i].cost, unit, PROFILE_MEASURED, NAN);
		if (rows[i].is_process)
			printf(" %8u %8s  ", rows[i].pid, "");
		else
			printf(" %8s %8u    ", "", thread->tid);
		text_write(stdout, profile_get_text(profile, thread->name), TEXT_WORDS);
		if (rows[i].is_process)
			printf(", %u thread%s", rows[i].count, rows[i].count == 1 ? "" : "s");
		fputc('\n', stdout);
	}
}

static void put_json(const struct profile *profile, const struct profile_unit *unit, const struct thread_row *rows,
		     size_t count)
{
	json_t *report = profile_head_json(profile, unit), *processes = json_array(), *threads = json_array();

	for (size_t i = 0; i < count; i++) {
		const struct profile_thread *thread = &profile->threads[rows[i].thread];
		json_t *row = json_pack("{s:I,s:o,s:o}", "process", (json_int_t)rows[i].pid, "name",
					json_text(profile_get_text(profile, thread->name)), "self",
					profile_cost_json(rows[i].cost, unit));

		if (rows[i].is_process)
			json_object_set_new(row, "threads", json_integer(rows[i].count));
		else
			json_object_set_new(row, "thread", json_integer(thread->tid));
		json_array_append_new(rows[i].is_process ? processes : threads, row);
	}
	json_object_set_new(report, "processes", processes);
	json_object_set_new(report, "threads", threads);
	json_text_put(report);
}

static int tell_unknown(void)
{
	cli_error("the profile does not say which thread its samples are of");
	cli_hint("profiles of 'asterism profile record' do; a completed profile is of one thread, that of complete "
		 "--thread");
	return STATUS_USAGE;
}

int profile_report_threads(const struct cli_arguments *arguments, struct profile *profile)
{
	struct profile_unit unit;
	struct thread_row *rows;
	size_t count;

	if (!profile->thread_count)
		return tell_unknown();
	if (profile_chosen_unit(arguments, profile, &unit))
		return STATUS_USAGE;
	rows = rank(profile, &count);
	if (!rows) {
		cli_error("out of memory");
		return STATUS_USAGE;
	}
	if (profile_wants_json(arguments))
		put_json(profile, &unit, rows, count);
	else
		put_rows(profile, &unit, rows, count);
	alloc_free(rows);
	return STATUS_FINE;
}

int profile_choose_thread(const struct cli_arguments *arguments, struct profile *profile)
{
	uint32_t tid = (uint32_t)arguments->options[OPTION_SAMPLED_THREAD].number;
	int result;

	if (!cli_has(arguments, OPTION_SAMPLED_THREAD))
		return STATUS_FINE;
	if (!profile->thread_count)
		return tell_unknown();
	result = profile_keep_thread(profile, tid);
	if (!result)
		return STATUS_FINE;
	if (result == -ENOENT) {
		cli_error("no thread %u was sampled", tid);
		cli_hint("asterism profile report --threads PROFILE lists the threads");
	} else {
		cli_error("out of memory");
	}
	return STATUS_USAGE;
}
