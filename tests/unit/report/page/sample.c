// SPDX-License-Identifier: BSD-2-Clause
/*
 * Threads in a round: a processor takes one that is ready, lets it run for a while, in which it wakes another; then it
 * waits, or is preempted. Times are drawn from a fixed sequence, so pages of one sample are equal.
 */

#include "sample.h"

#include "report/names.h"
#include "report/page/page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { START = 1000000000, TEXT = 1 << 14 };

struct report_view sample_view;
uint64_t sample_limit;

struct life {
	uint64_t since; /* began to wait, or was woken */
	uint32_t waker;
	bool is_ready;
};

static uint64_t drawn(uint64_t *seed, uint64_t most)
{
	*seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (*seed >> 33) % most;
}

static const char *const hostile[] = {
	"</script>",
	"<img onerror=1>",
	"\xe2\x80\xae"
	"evil",
	"a\"b'c&amp;",
	"\xff\xfe\x1b[31m",
	"<!--",
	"]]>",
	"`${x}`",
};

static void name_thread(const struct sample *sample, struct report_thread *thread, uint32_t i)
{
	static const char *const names[] = { "nginx",       "postgres", "redis-server", "worker",
					     "kworker/0:1", "bash",     "java",         "rsyslogd" };
	uint32_t process = i / sample->threads_of_process;
	if (sample->is_hostile)
		snprintf(thread->comm, sizeof thread->comm, "%s", hostile[i % 8]);
	else
		snprintf(thread->comm, sizeof thread->comm, "%s", names[process % 8]);
	thread->tid = 1000 + i;
	thread->pid = 1000 + process * sample->threads_of_process;
	thread->parent = REPORT_NONE;
	thread->birth = START;
	thread->is_kernel = process % 8 == 4;
	thread->prio = i % 11 == 3 ? 49 : 120;
}

/* What is told, and where it is at. */
struct round {
	const struct sample *sample;
	struct report *report;
	struct report_thread *threads;
	struct life *lives;
	uint32_t reasons[4];
	uint64_t seed;
	int code;
};

static void tell(struct round *round, struct report_slice slice)
{
	if (slice.thread != REPORT_NONE) {
		struct report_thread *thread = &round->threads[slice.thread];
		thread->state_ns[slice.state] += slice.end - slice.begin;
		thread->runs += slice.state == REPORT_RUNNING;
		slice.prio = thread->prio;
	}
	if (round->code == 0 && slice.end > slice.begin)
		round->code = round->report->kind->slice(round->report, &slice);
}

static void wake(struct round *round, uint32_t thread, uint32_t waker, uint64_t now)
{
	struct life *life = &round->lives[thread];
	if (thread == 0 || life->is_ready || now <= life->since)
		return;
	tell(round, (struct report_slice){ life->since, now, thread, REPORT_NONE,
					   round->reasons[drawn(&round->seed, 3)], 0, REPORT_BLOCKED, 0 });
	*life = (struct life){ now, waker, true };
}

/* One run on a processor, from now on. Returns when it ends. */
static uint64_t run(struct round *round, uint16_t cpu, uint64_t now)
{
	const struct sample *sample = round->sample;
	uint32_t thread = cpu + 1 + (uint32_t)drawn(&round->seed, (sample->threads - 1) / sample->cpus) * sample->cpus;
	if (thread >= sample->threads)
		thread = cpu + 1;
	wake(round, thread, REPORT_INTERRUPT, now);
	struct life *life = &round->lives[thread];
	uint64_t length = (uint64_t)300 << drawn(&round->seed, 12), end = now + length + drawn(&round->seed, length);
	if (life->is_ready)
		tell(round, (struct report_slice){ life->since, now, thread, life->waker, round->reasons[3], cpu,
						   REPORT_READY, 0 });
	tell(round, (struct report_slice){ now, end, thread, REPORT_NONE, 0, cpu, REPORT_RUNNING, 0 });
	*life = (struct life){ end, REPORT_NONE, false };
	uint32_t other = cpu + 1 + (uint32_t)drawn(&round->seed, (sample->threads - 1) / sample->cpus) * sample->cpus;
	if (other < sample->threads && other != thread && round->lives[other].since < end)
		wake(round, other, thread, end);
	return end + (drawn(&round->seed, 3) == 0 ? drawn(&round->seed, 200000) : 0);
}

static void match(struct round *round, uint32_t thread, uint64_t now)
{
	static char values[TEXT];
	snprintf(values, sizeof values,
		 "{\"thread\":%u,\"stack\":[\"inner+0x1c (/usr/bin/server) server.c:120\",\"main (/usr/bin/server)\"],"
		 "\"stack_end\":\"stack cut\",\"threads\":[{\"tid\":1005,\"late\":500,\"stack\":[\"waits "
		 "(/usr/bin/server)\"]}]}",
		 thread);
	if (round->sample->is_hostile && thread % 2 == 0) {
		snprintf(values, sizeof values,
			 "{\"stack\":[\"</script><img onerror=1>\",\"\xe2\x80\xae"
			 "evil\",{\"toString\":1},[],null],"
			 "\"threads\":[{\"tid\":1005,\"stack\":7,\"stack_end\":{\"toString\":1}}]}");
	} else if (round->sample->is_hostile) {
		memset(values, 'x', 4096);
		memcpy(values, "{\"</script><script>", 19);
		values[4096] = '\0';
	}
	struct report_match found = { .ts = now,
				      .thread = thread,
				      .rule = round->sample->is_hostile ? "</script>" : "too-long",
				      .values = values };
	if (round->code == 0)
		round->code = round->report->kind->match(round->report, &found);
}

static void go_round(struct round *round)
{
	const struct sample *sample = round->sample;
	uint64_t *now = calloc(sample->cpus, sizeof *now);
	for (uint32_t cpu = 0; cpu < sample->cpus; cpu++)
		now[cpu] = START;
	for (uint64_t i = 0; i < sample->slices / 3 && round->code == 0; i++) {
		uint32_t cpu = 0;
		for (uint32_t other = 1; other < sample->cpus; other++)
			cpu = now[other] < now[cpu] ? other : cpu;
		now[cpu] = run(round, (uint16_t)cpu, now[cpu]);
		sample_view.last_ns = now[cpu] > sample_view.last_ns ? now[cpu] : sample_view.last_ns;
		if (i % (sample->slices / 3 / 7 + 1) == 99)
			match(round, cpu + 1, now[cpu]);
	}
	free(now);
}

int sample_tell(const struct sample *sample, const struct report_kind *kind, struct report **made)
{
	static struct report_loss loss;
	struct round round = { .sample = sample, .seed = sample->seed };
	static struct report_names names;
	static const char *const reasons[] = { "futex", "read", "disk", "woken" };
	for (size_t i = 0; i < 4; i++)
		report_names_add(&names, reasons[i], &round.reasons[i]);
	round.threads = calloc(sample->threads, sizeof *round.threads);
	round.lives = calloc(sample->threads, sizeof *round.lives);
	for (uint32_t i = 1; i < sample->threads; i++) {
		name_thread(sample, &round.threads[i], i);
		round.lives[i].since = START;
	}
	sample_view = (struct report_view){
		.threads = round.threads,
		.thread_count = sample->threads,
		.cpu_count = sample->cpus,
		.first_ns = START,
		.last_ns = START,
		.events = sample->slices,
		.wall_ns = UINT64_C(1700000000000000000),
		.host = "sample",
		.losses = &loss,
		.names = &names,
	};
	round.code = kind->open(&sample_view, &round.report);
	if (round.code == 0 && sample_limit != 0)
		report_page_limit(round.report, sample_limit);
	if (round.code == 0)
		go_round(&round);
	uint64_t length = sample_view.last_ns - START;
	loss = (struct report_loss){ START + length / 2, START + length / 2 + length / 50, 17 };
	sample_view.loss_count = 1;
	free(round.lives);
	*made = round.report;
	return round.code != 0 ? round.code : kind->finish(round.report);
}
