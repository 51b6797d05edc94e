// SPDX-License-Identifier: BSD-2-Clause
/*
 * Questions of rules, answered through the session's interface: what the target has and has not done when it is asked
 * about, answers at once and later, threads that ask at the same time, ten thousand verdicts under load.
 *
 * usage: verdict-live ASKED [--latency COUNT [LOAD]]
 */

#include "asked.h"
#include "base/clock.h"
#include "live-rules.h"
#include "program/calls.h"
#include "session/session.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TICKETS_MAX = 65536, TICKETS_PENDING = 64 };

struct scene {
	struct asked *shared;
	enum session_verdict verdict; /* of every question */
	uint32_t later;               /* answer only when so many are pending; 0: at once */
	uint64_t tickets[TICKETS_PENDING];
	uint32_t ticket_count;
	struct requests *requests;
	uint64_t asked, reported, continued, aborted, late, by_default;
	uint64_t moved;     /* the target went on though it was asked about */
	uint64_t unstopped; /* was not seen stopped */
	bool beside_starved;
	uint64_t first_asked,
		ran_on; /* questions about the first thread; how often it had not waited for the last one */
	uint64_t *delays_ns;
	uint64_t linger_us;
};

static int failures;
static const char *target, *file;

static void expect(bool fine, const char *what, uint64_t got)
{
	if (fine)
		return;
	printf("FAILED: %s (%" PRIu64 ")\n", what, got);
	failures++;
}

static uint64_t after(const struct asked *shared)
{
	uint64_t sum = 0;

	for (int i = 0; i < ASKED_THREADS_MAX; i++)
		sum += __atomic_load_n(&shared->threads[i].after, __ATOMIC_SEQ_CST);
	return sum;
}

/* Of the starved thread nothing is wanted: it is asked about once, and whether it has stopped by then is open. */
static enum session_verdict ask_beside_starved(struct scene *scene, const struct program_match *match,
					       const struct session_ask *ask)
{
	if (match->tid != match->pid)
		return scene->verdict;
	scene->unstopped += !ask->is_stopped;
	scene->ran_on += __atomic_load_n(&scene->shared->threads[0].after, __ATOMIC_SEQ_CST) != scene->first_asked++;
	return scene->verdict;
}

static enum session_verdict on_ask(void *context, const struct program_match *match, const struct session_ask *ask)
{
	struct scene *scene = context;
	uint64_t now = clock_now_ns(), came_back = after(scene->shared);

	if (scene->delays_ns && scene->asked < TICKETS_MAX)
		scene->delays_ns[scene->asked] = now - match->ts;
	scene->asked++;
	scene->requests = ask->requests;
	if (scene->beside_starved)
		return ask_beside_starved(scene, match, ask);
	scene->unstopped += !ask->is_stopped;
	if (scene->linger_us)
		usleep((useconds_t)scene->linger_us);
	scene->moved += after(scene->shared) != came_back;
	if (!scene->later)
		return scene->verdict;
	expect(scene->ticket_count < TICKETS_PENDING, "no more are pending than there are threads", scene->asked);
	if (scene->ticket_count < TICKETS_PENDING)
		scene->tickets[scene->ticket_count++] = ask->ticket;
	return SESSION_LATER;
}

static int on_pause(void *context)
{
	struct scene *scene = context;

	if (!scene->later || scene->ticket_count < scene->later)
		return 0;
	uint32_t count = scene->ticket_count;

	scene->ticket_count = 0;
	for (uint32_t i = 0; i < count; i++) {
		expect(requests_answer(scene->requests, scene->tickets[i], scene->verdict) == 0, "an answer is taken",
		       i);
		expect(requests_answer(scene->requests, scene->tickets[i], scene->verdict) == -ENOENT, "but only one",
		       i);
	}
	return 0;
}

static int on_match(void *context, const struct program_match *match)
{
	struct scene *scene = context;
	const struct program_reaction *reaction = &match->reactions[0];

	scene->reported++;
	if (!reaction->verdict)
		return 0;
	scene->continued += strcmp(reaction->verdict, "continue") == 0;
	scene->aborted += strcmp(reaction->verdict, "abort") == 0;
	scene->late += strcmp(reaction->by, "late") == 0;
	scene->by_default += strcmp(reaction->by, "default") == 0;
	return 0;
}

static struct session_rules *compile(const char *text, struct asterism_diag *diag)
{
	struct session_rules *rules = NULL;

	return live_rules_read(text, diag, &rules) ? NULL : rules;
}

/* Observes the target with so many threads and calls each. Returns its status as a shell has it. */
static int play(struct scene *scene, const char *ask, const char *threads, const char *calls)
{
	char text[512];
	char *command[] = { (char *)target, (char *)file, (char *)threads, (char *)calls, NULL };
	const struct session_policy policy = { .allows_all = true };
	const struct session_live_options options = {
		.command = command,
		.policy = &policy,
		.signal_fd = -1,
		.for_ns = UINT64_C(120) * 1000000000,
		.on_ask = on_ask,
		.on_match = on_match,
		.on_pause = on_pause,
		.context = scene,
	};
	struct asterism_diag *diag = asterism_diag_new();
	struct session_outcome outcome;
	struct session_totals totals;

	snprintf(text, sizeof text,
		 "SYNCHRONOUS RULE ask PATTERN { sys_exit_getpid:b } RETURN { b.ret AS r } DO { CALL %s } "
		 "SYNCHRONOUS RULE goes PATTERN { sys_enter_sched_setaffinity:a } WHERE { a.len == %d } DO { CALL %s }",
		 ask, ASKED_STARVED_BYTES, ask);
	memset(scene->shared, 0, sizeof *scene->shared);
	struct session_rules *rules = compile(text, diag);

	if (!rules || session_live(rules, &options, diag, &totals, &outcome)) {
		printf("FAILED: %s: %s\n", ask, asterism_diag_get(diag, 0) ? asterism_diag_get(diag, 0)->text : "?");
		exit(1);
	}
	expect(totals.lost == 0, "nothing is lost", totals.lost);
	expect(totals.requests_lost == 0, "no question is lost", totals.requests_lost);
	expect(totals.stops_refused == 0, "everybody could be stopped", totals.stops_refused);
	session_totals_fini(&totals);
	session_rules_free(rules);
	asterism_diag_free(diag);
	return outcome.command_status;
}

static void test_before_next_instruction(struct asked *shared)
{
	struct scene scene = { .shared = shared, .verdict = SESSION_CONTINUE, .linger_us = 1000 };

	expect(play(&scene, "Ask()", "1", "200") == 0, "the target ends", 0);
	expect(scene.asked == 200 && scene.reported == 200 && scene.continued == 200, "200 questions", scene.asked);
	expect(scene.moved == 0, "no instruction while it is asked about", scene.moved);
	expect(scene.unstopped == 0, "it is stopped", scene.unstopped);
	expect(after(shared) == 200, "then it goes on", after(shared));
}

static void test_abort(struct asked *shared)
{
	struct scene scene = { .shared = shared, .verdict = SESSION_ABORT };

	expect(play(&scene, "Ask()", "1", "0") == 137, "ABORT kills", 0);
	expect(after(shared) == 0 && scene.aborted == 1, "before its next instruction", after(shared));
	scene = (struct scene){ .shared = shared, .verdict = SESSION_ABORT };
	expect(play(&scene, "Ask(1s, \"CONTINUE\", \"TERM\")", "1", "0") == 7, "ABORT with a signal", 0);
	expect(after(shared) == 0 && shared->handled == 1, "that is handled before", after(shared));
	scene = (struct scene){ .shared = shared, .verdict = SESSION_ABORT };
	expect(play(&scene, "Ask(1s, \"CONTINUE\", \"SIGUSR1\")", "1", "5") == 0, "ABORT with one that ends nobody", 0);
	expect(after(shared) == 5 && shared->handled == 5, "each is handled", shared->handled);
}

static void test_late(struct asked *shared)
{
	struct scene scene = { .shared = shared, .verdict = SESSION_CONTINUE, .later = 100 };

	expect(play(&scene, "Ask(50ms)", "1", "3") == 0, "nobody answers: CONTINUE", 0);
	expect(scene.late == 3 && scene.continued == 3, "after the limit", scene.late);
	scene = (struct scene){ .shared = shared, .verdict = SESSION_CONTINUE, .later = 100 };
	expect(play(&scene, "Ask(50ms, \"ABORT\")", "1", "3") == 137, "nobody answers: ABORT", 0);
	expect(scene.late == 1 && scene.aborted == 1, "after the limit", scene.late);
	scene = (struct scene){ .shared = shared, .verdict = SESSION_DEFAULT };
	expect(play(&scene, "Ask(50ms, \"ABORT\", \"TERM\")", "1", "3") == 7, "the default is wanted", 0);
	expect(scene.by_default == 1 && scene.aborted == 1, "by default", scene.by_default);
}

static void test_later(struct asked *shared)
{
	struct scene scene = { .shared = shared, .verdict = SESSION_CONTINUE, .later = 1 };

	expect(play(&scene, "Ask(10s)", "1", "100") == 0, "answered later", 0);
	expect(scene.reported == 100 && scene.late == 0 && scene.continued == 100, "every one", scene.reported);
	expect(after(shared) == 100, "and it went on", after(shared));
}

static void test_load(struct asked *shared)
{
	struct scene scene = { .shared = shared, .verdict = SESSION_CONTINUE };

	expect(play(&scene, "Ask(20s)", "4", "2500") == 0, "four threads end", 0);
	expect(scene.asked == 10000 && scene.reported == 10000, "ten thousand questions", scene.asked);
	expect(scene.continued == 10000 && !scene.late && !scene.by_default, "each answered once", scene.continued);
	expect(after(shared) == 10000, "nobody is left behind", after(shared));
	scene = (struct scene){ .shared = shared, .verdict = SESSION_CONTINUE, .later = 1 };
	expect(play(&scene, "Ask(20s)", "4", "500") == 0, "four threads end", 0);
	expect(scene.reported == 2000 && scene.continued == 2000, "each later", scene.reported);
	expect(!scene.late, "none too late", scene.late);
}

/*
 * A stop that a thread has not taken yet, since it gets no turn, is one signal to its process, and another like it is
 * none to the kernel: whoever completes the next match stops all the same.
 */
static void test_starved(struct asked *shared)
{
	struct scene scene = { .shared = shared, .verdict = SESSION_CONTINUE, .beside_starved = true };
	int status = play(&scene, "Ask(20s)", "starved", "");

	if (status == 77) {
		printf("skipped: starving a thread takes two processors\n");
		return;
	}
	expect(status == 0, "the starved one ends", (uint64_t)status);
	expect(scene.first_asked == ASKED_STARVED_CALLS, "each call of the first is asked about", scene.first_asked);
	expect(scene.unstopped == 0, "it is stopped", scene.unstopped);
	expect(scene.ran_on == 0, "nobody goes on beside one that is starved", scene.ran_on);
	expect(scene.reported == 1 + ASKED_STARVED_CALLS && scene.continued == scene.reported, "all are told",
	       scene.reported);
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void busy(pid_t *pids, int count)
{
	for (int i = 0; i < count; i++) {
		pids[i] = fork();
		if (pids[i] == 0)
			for (;;)
				__asm__ volatile("" ::: "memory");
	}
}

/* Prints how long it takes from the completing event to the callback: one JSON object. */
static void measure(struct asked *shared, const char *count, int load)
{
	struct scene scene = { .shared = shared, .verdict = SESSION_CONTINUE };
	pid_t pids[8];
	uint64_t *delays = calloc(TICKETS_MAX, sizeof *delays);

	load = load > 8 ? 8 : load;
	scene.delays_ns = delays;
	busy(pids, load);
	play(&scene, "Ask(20s)", "1", count);
	for (int i = 0; i < load; i++) {
		kill(pids[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
	}
	uint64_t n = scene.asked < TICKETS_MAX ? scene.asked : TICKETS_MAX;

	qsort(delays, n, sizeof *delays, compare);
	printf("{\"count\":%" PRIu64 ",\"p50_us\":%.1f,\"p99_us\":%.1f,\"max_us\":%.1f}\n", n,
	       (double)delays[n / 2] / 1e3, (double)delays[n * 99 / 100] / 1e3, (double)delays[n - 1] / 1e3);
	free(delays);
}

int main(int argc, char **argv)
{
	char path[] = "/tmp/asked-XXXXXX";
	int fd = mkstemp(path);

	if (argc < 2 || fd < 0 || ftruncate(fd, sizeof(struct asked)))
		return 2;
	if (geteuid()) {
		printf("skipped: needs root\n");
		return 77;
	}
	struct asked *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	target = argv[1];
	file = path;
	if (argc > 3 && !strcmp(argv[2], "--latency")) {
		measure(shared, argv[3], argc > 4 ? atoi(argv[4]) : 0);
	} else {
		test_before_next_instruction(shared);
		test_abort(shared);
		test_late(shared);
		test_later(shared);
		test_load(shared);
		test_starved(shared);
		printf(failures ? "%d failed\n" : "all passed\n", failures);
	}
	unlink(path);
	return failures != 0;
}
