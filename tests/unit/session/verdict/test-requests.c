// SPDX-License-Identifier: BSD-2-Clause
/* Questions about children of the test's own, which stand stopped and noted as the kernel's programs leave them. */

#include "session/verdict/requests.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "react/react.h"
#include "session/load/rules.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { TOLD_MAX = 16 };

struct reported {
	uint32_t pid;
	char verdict[16], by[16], why[64];
};

struct scene {
	struct session_rules *rules;
	struct react_stop_table *table;
	struct undo *undo;
	struct requests *requests;
	enum session_verdict verdict;
	uint64_t ticket, asked;
	bool was_stopped, answer_inside;
	struct reported reported[TOLD_MAX];
	uint32_t reported_count;
};

static enum session_verdict on_ask(void *context, const struct program_match *match, const struct session_ask *ask)
{
	struct scene *scene = context;

	(void)match;
	scene->asked++;
	scene->ticket = ask->ticket;
	scene->was_stopped = ask->is_stopped;
	if (scene->answer_inside) {
		assert_int_equal(requests_answer(ask->requests, ask->ticket, SESSION_ABORT), 0);
		assert_int_equal(requests_answer(ask->requests, ask->ticket, SESSION_CONTINUE), -ENOENT);
	}
	return scene->verdict;
}

static int on_reported(void *context, const struct program_match *match)
{
	struct scene *scene = context;
	const struct program_reaction *reaction = &match->reactions[0];
	struct reported *reported = &scene->reported[scene->reported_count++];

	assert_true(scene->reported_count <= TOLD_MAX);
	reported->pid = match->pid;
	snprintf(reported->verdict, sizeof reported->verdict, "%s", reaction->verdict ? reaction->verdict : "");
	snprintf(reported->by, sizeof reported->by, "%s", reaction->by ? reaction->by : "");
	snprintf(reported->why, sizeof reported->why, "%s", reaction->why ? reaction->why : "");
	return 0;
}

static void set_up(struct scene *scene, const char *call, bool has_asker)
{
	char path[] = "/tmp/asks-XXXXXX";
	const char *const files[] = { path };
	FILE *stream = fdopen(mkstemp(path), "w");

	fprintf(stream, "SYNCHRONOUS RULE r PATTERN { sys_exit_getpid:b } RETURN { b.ret AS x } DO { CALL %s }\n",
		call);
	fclose(stream);
	*scene = (struct scene){ .verdict = SESSION_LATER };
	assert_int_equal(session_rules_read(files, 1, NULL, &scene->rules), 0);
	unlink(path);
	scene->table = calloc(1, sizeof *scene->table);
	assert_int_equal(undo_new(NULL, &scene->undo), 0);
	const struct requests_options options = {
		.program = session_rules_program(scene->rules),
		.stops = scene->table,
		.undo = scene->undo,
		.on_ask = has_asker ? on_ask : NULL,
		.ask_context = scene,
		.report = on_reported,
		.context = scene,
	};

	assert_int_equal(requests_new(&options, NULL, &scene->requests), 0);
}

static void tear_down(struct scene *scene)
{
	requests_free(scene->requests);
	undo_free(scene->undo);
	free(scene->table);
	session_rules_free(scene->rules);
}

static pid_t spawn(bool stopped)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	if (stopped) {
		assert_int_equal(kill(pid, SIGSTOP), 0);
		assert_int_equal(waitpid(pid, NULL, WUNTRACED), pid);
	}
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void note(struct scene *scene, pid_t pid, uint64_t what)
{
	struct react_stop *slot = &scene->table->slots[(uint32_t)pid % REACT_STOP_SLOTS];

	slot->word = (slot->word + (UINT64_C(1) << 32)) >> 32 << 32 | what | (uint32_t)pid;
	slot->ts = clock_now_ns();
}

static uint32_t noted(const struct scene *scene, pid_t pid)
{
	struct react_stop_notes notes;

	react_stops_find(scene->table, pid, false, &notes);
	return notes.sum;
}

static void put(struct scene *scene, pid_t pid, enum program_done how)
{
	static const uint64_t slots[8];
	const struct program_reaction reactions[REACT_STATEMENTS_MAX] = { { .how = how } };
	const struct program_match match = { .ts = clock_now_ns(),
					     .pid = (uint32_t)pid,
					     .tid = (uint32_t)pid,
					     .comm = "child",
					     .slots = slots,
					     .reactions = reactions };

	assert_int_equal(requests_put(scene->requests, &match, 0), 0);
}

static bool goes_on(pid_t pid)
{
	int status;

	return waitpid(pid, &status, WCONTINUED | WNOHANG) == pid && WIFCONTINUED(status);
}

static void await_going_on(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, WCONTINUED), pid);
	assert_true(WIFCONTINUED(status));
}

static void poll_asks(struct scene *scene)
{
	uint64_t wait_ns = UINT64_MAX;

	assert_int_equal(requests_poll(scene->requests, clock_now_ns(), &wait_ns), 0);
}

static void is_reported(const struct scene *scene, uint32_t index, const char *verdict, const char *by)
{
	assert_true(index < scene->reported_count);
	assert_string_equal(scene->reported[index].verdict, verdict);
	assert_string_equal(scene->reported[index].by, by);
}

static void answered_at_once(void **state)
{
	struct scene scene;
	pid_t pid = spawn(true);

	(void)state;
	set_up(&scene, "Ask()", true);
	scene.verdict = SESSION_CONTINUE;
	note(&scene, pid, 0);
	put(&scene, pid, PROGRAM_DONE_IN_KERNEL);
	assert_true(scene.was_stopped);
	is_reported(&scene, 0, "continue", "answer");
	await_going_on(pid);
	assert_int_equal(noted(&scene, pid), 0);
	assert_int_equal(requests_pending(scene.requests), 0);
	end(pid);
	tear_down(&scene);
}

static void answered_inside_and_later(void **state)
{
	struct scene scene;
	pid_t pid = spawn(true);
	int status;

	(void)state;
	set_up(&scene, "Ask(1h, \"CONTINUE\", \"TERM\")", true);
	note(&scene, pid, 0);
	put(&scene, pid, PROGRAM_DONE_IN_KERNEL);
	assert_int_equal(scene.reported_count, 0);
	assert_int_equal(requests_pending(scene.requests), 1);
	assert_false(goes_on(pid));
	assert_int_equal(requests_answer(scene.requests, scene.ticket + 1, SESSION_CONTINUE), -ENOENT);
	assert_int_equal(requests_answer(scene.requests, scene.ticket, SESSION_LATER), -EINVAL);
	assert_int_equal(requests_answer(scene.requests, scene.ticket, SESSION_CONTINUE), 0);
	assert_int_equal(requests_answer(scene.requests, scene.ticket, SESSION_CONTINUE), -ENOENT);
	is_reported(&scene, 0, "continue", "answer");
	await_going_on(pid);
	assert_int_equal(kill(pid, SIGSTOP), 0);
	assert_int_equal(waitpid(pid, NULL, WUNTRACED), pid);
	scene.answer_inside = true;
	note(&scene, pid, 0);
	put(&scene, pid, PROGRAM_DONE_IN_KERNEL);
	is_reported(&scene, 1, "abort", "answer");
	do
		assert_int_equal(waitpid(pid, &status, 0), pid);
	while (!WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGTERM);
	tear_down(&scene);
}

/* Two questions about one process: it goes on when both are answered. */
static void goes_on_when_all_are_answered(void **state)
{
	struct scene scene;
	pid_t pid = spawn(true);
	uint64_t first;

	(void)state;
	set_up(&scene, "Ask(1h)", true);
	note(&scene, pid, 0);
	note(&scene, pid, 0);
	put(&scene, pid, PROGRAM_DONE_IN_KERNEL);
	first = scene.ticket;
	put(&scene, pid, PROGRAM_DONE_IN_KERNEL);
	assert_int_equal(requests_answer(scene.requests, scene.ticket, SESSION_CONTINUE), 0);
	poll_asks(&scene);
	assert_false(goes_on(pid));
	assert_int_equal(noted(&scene, pid), 2);
	assert_int_equal(requests_answer(scene.requests, first, SESSION_CONTINUE), 0);
	await_going_on(pid);
	assert_int_equal(noted(&scene, pid), 0);
	end(pid);
	tear_down(&scene);
}

/* A note whose match is still on its way keeps the process stopped; one whose match was lost does not for ever. */
static void lost_verdicts_get_the_default(void **state)
{
	struct scene scene;
	pid_t pid = spawn(true), other = spawn(true);
	int status;

	(void)state;
	set_up(&scene, "Ask(1h)", true);
	scene.verdict = SESSION_CONTINUE;
	note(&scene, pid, 0);
	note(&scene, pid, 0);
	note(&scene, other, (uint64_t)SIGTERM << REACT_STOP_SIGNAL_SHIFT);
	put(&scene, pid, PROGRAM_DONE_IN_KERNEL);
	poll_asks(&scene);
	assert_false(goes_on(pid));
	for (int i = 0; i < 1000 && requests_lost(scene.requests) < 2; i++) {
		poll_asks(&scene);
		usleep(5000);
	}
	assert_int_equal(requests_lost(scene.requests), 2);
	await_going_on(pid);
	do
		assert_int_equal(waitpid(other, &status, 0), other);
	while (!WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGTERM);
	poll_asks(&scene);
	assert_int_equal(noted(&scene, pid), 0);
	end(pid);
	tear_down(&scene);
}

static void late_and_closed(void **state)
{
	struct scene scene;
	pid_t pid = spawn(true), other = spawn(true);

	(void)state;
	set_up(&scene, "Ask(1ms)", true);
	note(&scene, pid, 0);
	put(&scene, pid, PROGRAM_DONE_IN_KERNEL);
	while (!scene.reported_count)
		poll_asks(&scene);
	is_reported(&scene, 0, "continue", "late");
	await_going_on(pid);
	note(&scene, other, 0);
	put(&scene, other, PROGRAM_DONE_IN_KERNEL);
	assert_int_equal(requests_close(scene.requests), 0);
	is_reported(&scene, 1, "continue", "default");
	await_going_on(other);
	end(pid);
	end(other);
	tear_down(&scene);
}

static void nobody_to_ask(void **state)
{
	struct scene scene;
	pid_t pid = spawn(true);
	int status;

	(void)state;
	set_up(&scene, "Ask(1s, \"ABORT\")", false);
	note(&scene, pid, (uint64_t)SIGKILL << REACT_STOP_SIGNAL_SHIFT);
	put(&scene, pid, PROGRAM_DONE_IN_KERNEL);
	is_reported(&scene, 0, "abort", "default");
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(WTERMSIG(status), SIGKILL);
	put(&scene, pid, PROGRAM_DONE_IN_KERNEL);
	assert_string_equal(scene.reported[1].why, "the process has ended");
	tear_down(&scene);
}

/* What could not be stopped is not asked about: the default holds, and process 1 is safe all the same. */
static void not_stopped(void **state)
{
	struct scene scene;
	pid_t pid = spawn(false);
	int status;

	(void)state;
	set_up(&scene, "Ask(1s, \"ABORT\")", true);
	put(&scene, 1, PROGRAM_NOT_DONE);
	put(&scene, getpid(), PROGRAM_NOT_DONE);
	put(&scene, pid, PROGRAM_NOT_DONE);
	assert_int_equal(scene.asked, 0);
	is_reported(&scene, 0, "", "");
	is_reported(&scene, 1, "", "");
	is_reported(&scene, 2, "abort", "default");
	assert_string_equal(scene.reported[2].why, "it could not be stopped");
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(WTERMSIG(status), SIGKILL);
	tear_down(&scene);
}

/* One that does not stop is asked about a little later, and meanwhile others are. */
static void slow_to_stop(void **state)
{
	struct scene scene;
	pid_t slow = spawn(false), quick = spawn(true);

	(void)state;
	set_up(&scene, "Ask(1h)", true);
	scene.verdict = SESSION_CONTINUE;
	note(&scene, slow, 0);
	put(&scene, slow, PROGRAM_DONE_IN_KERNEL);
	assert_int_equal(scene.asked, 0);
	note(&scene, quick, 0);
	put(&scene, quick, PROGRAM_DONE_IN_KERNEL);
	assert_int_equal(scene.asked, 1);
	await_going_on(quick);
	while (scene.asked < 2)
		poll_asks(&scene);
	assert_false(scene.was_stopped);
	/* The signal comes after the answer: it must not be the last word. */
	assert_int_equal(kill(slow, SIGSTOP), 0);
	assert_int_equal(waitpid(slow, NULL, WUNTRACED), slow);
	while (!goes_on(slow))
		poll_asks(&scene);
	while (noted(&scene, slow))
		poll_asks(&scene);
	end(slow);
	end(quick);
	tear_down(&scene);
}

/* Of two answers about one process, ABORT is what counts. */
static void abort_wins(void **state)
{
	struct scene scene;
	pid_t pid = spawn(true);
	uint64_t first;
	int status;

	(void)state;
	set_up(&scene, "Ask(1h, \"CONTINUE\", \"TERM\")", true);
	note(&scene, pid, 0);
	note(&scene, pid, 0);
	put(&scene, pid, PROGRAM_DONE_IN_KERNEL);
	first = scene.ticket;
	put(&scene, pid, PROGRAM_DONE_IN_KERNEL);
	assert_int_equal(requests_answer(scene.requests, first, SESSION_ABORT), 0);
	assert_int_equal(waitpid(pid, &status, WNOHANG), 0);
	assert_int_equal(requests_answer(scene.requests, scene.ticket, SESSION_CONTINUE), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
	tear_down(&scene);
}

static void dies_while_it_is_asked_about(void **state)
{
	struct scene scene;
	pid_t pid = spawn(true);

	(void)state;
	set_up(&scene, "Ask(1h)", true);
	note(&scene, pid, 0);
	put(&scene, pid, PROGRAM_DONE_IN_KERNEL);
	poll_asks(&scene);
	assert_int_equal(scene.reported_count, 0);
	end(pid);
	poll_asks(&scene);
	is_reported(&scene, 0, "continue", "default");
	assert_string_equal(scene.reported[0].why, "the process has ended");
	assert_int_equal(noted(&scene, pid), 0);
	tear_down(&scene);
}

/* Wherever out of memory, the match is told once and nobody stays stopped. */
static void memory_is_short(void **state)
{
	struct scene scene;
	uint32_t pending = 0;

	(void)state;
	for (unsigned long n = 1; !pending; n++) {
		pid_t pid = spawn(true);

		assert_true(n < 100);
		set_up(&scene, "Ask(1h)", true);
		note(&scene, pid, 0);
		alloc_fail_at(n);
		put(&scene, pid, PROGRAM_DONE_IN_KERNEL);
		alloc_fail_at(0);
		pending = (uint32_t)requests_pending(scene.requests);
		assert_int_equal(scene.reported_count, 1 - pending);
		assert_int_equal(requests_close(scene.requests), 0);
		assert_int_equal(scene.reported_count, 1);
		react_stops_continue(scene.table); /* as the end of a session does */
		await_going_on(pid);
		end(pid);
		tear_down(&scene);
	}
}

/* A Stop outlasts the answer to a question. */
static void stop_lasts(void **state)
{
	struct scene scene;
	pid_t pid = spawn(true);
	const struct undo_change change = { .kind = UNDO_STOPPED, .id = pid };

	(void)state;
	set_up(&scene, "Ask()", true);
	scene.verdict = SESSION_CONTINUE;
	assert_int_equal(undo_add(scene.undo, &change), 1);
	note(&scene, pid, 0);
	put(&scene, pid, PROGRAM_DONE_IN_KERNEL);
	is_reported(&scene, 0, "continue", "answer");
	assert_false(goes_on(pid));
	assert_int_equal(noted(&scene, pid), 0);
	end(pid);
	tear_down(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answered_at_once),
		cmocka_unit_test(answered_inside_and_later),
		cmocka_unit_test(goes_on_when_all_are_answered),
		cmocka_unit_test(lost_verdicts_get_the_default),
		cmocka_unit_test(late_and_closed),
		cmocka_unit_test(nobody_to_ask),
		cmocka_unit_test(not_stopped),
		cmocka_unit_test(slow_to_stop),
		cmocka_unit_test(abort_wins),
		cmocka_unit_test(dies_while_it_is_asked_about),
		cmocka_unit_test(memory_is_short),
		cmocka_unit_test(stop_lasts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
