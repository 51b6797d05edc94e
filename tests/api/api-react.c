// SPDX-License-Identifier: BSD-2-Clause
/* What rules do at a match, as a program sees it: calls that are reported or done, counters, questions. */

#include "fixture.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char kill_text[] = "RULE killer PATTERN { [sys_exit_getppid:a] } DO { CALL Kill(#PID) }\n";
static const char count_text[] = "RULE calls PATTERN { [sys_exit_getppid:a] }\n"
				 "DO { CALL Count(\"calls\"); CALL Histogram(\"parents\", 5) }\n";
static const char ask_text[] = "SYNCHRONOUS RULE asks PATTERN { [sys_exit_getppid:a] }\n"
			       "DO { CALL Ask(20s, \"CONTINUE\", \"TERM\") }\n";

struct play {
	struct puppet puppet;
	struct asterism_session *session;
	struct asterism_rules *rules;
	int reported, asked, answer;
	uint64_t ticket;
	char json[1024];
};

static int on_match(void *context, const struct asterism_match *match)
{
	struct play *play = context;

	play->reported++;
	assert_true(asterism_match_json(match, play->json, sizeof play->json) > 0);
	return play->answer == ASTERISM_ABORT ? ASTERISM_ABORT : ASTERISM_CONTINUE;
}

static int on_ask(void *context, const struct asterism_match *match, const struct asterism_ask *ask)
{
	struct play *play = context;

	assert_string_equal(asterism_match_rule(match), "asks");
	assert_int_equal(ask->aborts, 0);
	assert_int_equal(ask->signal, SIGTERM);
	play->asked++;
	play->ticket = ask->ticket;
	return play->answer;
}

static void begin(struct play *play, struct asterism_session_options *options, const char *text)
{
	*play = (struct play){ 0 };
	options->size = sizeof *options;
	options->on_match = on_match;
	options->context = play;
	assert_int_equal(puppet_start(&play->puppet), 0);
	assert_int_equal(asterism_session_open(options, NULL, &play->session), 0);
	assert_int_equal(asterism_session_add_process(play->session, play->puppet.pid), 0);
	if (asterism_rules_load(play->session, text, strlen(text), NULL, &play->rules))
		fail_msg("%s", asterism_session_error(play->session));
	if (asterism_rules_activate(play->rules))
		fail_msg("%s", asterism_session_error(play->session));
}

/* The puppet may be stopped or dead: it is only told to go on, and what it does is seen by the session. */
static void let_call(const struct play *play)
{
	const unsigned char one = 1;

	assert_int_equal(write(play->puppet.to, &one, 1), 1);
}

static void await(struct play *play, const int *what, int wanted)
{
	for (int ms = 0; *what < wanted && ms < LIMIT_MS; ms += STEP_MS)
		assert_true(asterism_session_wait(play->session, STEP_MS) >= 0);
	assert_int_equal(*what, wanted);
}

static void end(struct play *play)
{
	asterism_session_free(play->session);
	puppet_stop(&play->puppet);
}

static void what_is_not_allowed_is_reported(void **state)
{
	struct asterism_session_options options = { 0 };
	struct play play;

	(void)state;
	begin(&play, &options, kill_text);
	assert_string_equal(asterism_rules_action(play.rules), "Kill");
	assert_int_equal(puppet_call(&play.puppet, 1), 0);
	await(&play, &play.reported, 1);
	assert_non_null(strstr(play.json, "not allowed"));
	assert_int_equal(puppet_call(&play.puppet, 1), 0);
	end(&play);
}

static void what_is_allowed_is_done(void **state)
{
	static const char *const names[] = { "Kill", NULL };
	struct asterism_session_options options = { .allowed_actions = names };
	struct play play;
	siginfo_t info;

	(void)state;
	begin(&play, &options, kill_text);
	let_call(&play);
	await(&play, &play.reported, 1);
	assert_int_equal(waitid(P_PID, (id_t)play.puppet.pid, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(info.si_status, SIGKILL);
	end(&play);
}

static void a_policy_must_name_every_action(void **state)
{
	static const char *const names[] = { "Stop", NULL }, *const wrong[] = { "Explode", NULL };
	struct asterism_session_options options = { .size = sizeof options, .allowed_actions = names };
	struct asterism_session *session;
	struct asterism_rules *rules;

	(void)state;
	assert_int_equal(asterism_session_open(&options, NULL, &session), 0);
	assert_int_equal(asterism_rules_load(session, kill_text, strlen(kill_text), NULL, &rules), 0);
	assert_int_equal(asterism_rules_activate(rules), -EINVAL);
	assert_non_null(strstr(asterism_session_error(session), "rule killer calls Kill"));
	asterism_session_free(session);
	options.allowed_actions = wrong;
	assert_int_equal(asterism_session_open(&options, NULL, &session), -EINVAL);
	options.allowed_actions = names;
	options.allow_actions = 1;
	assert_int_equal(asterism_session_open(&options, NULL, &session), -EINVAL);
	options = (struct asterism_session_options){ .size = sizeof options, .policy_file = "/nowhere/at/all" };
	assert_int_equal(asterism_session_open(&options, NULL, &session), -EINVAL);
}

static void counters_are_read(void **state)
{
	struct asterism_session_options options = { .measure = 1 };
	struct asterism_tally tally = { .size = sizeof tally };
	struct asterism_rules_stats stats = { .size = sizeof stats };
	struct play play;

	(void)state;
	begin(&play, &options, count_text);
	assert_null(asterism_rules_action(play.rules));
	assert_int_equal(puppet_call(&play.puppet, 7), 0);
	assert_int_equal(asterism_rules_deactivate(play.rules), 0);
	assert_int_equal(asterism_rules_activate(play.rules), 0);
	assert_int_equal(puppet_call(&play.puppet, 2), 0);
	assert_int_equal(asterism_rules_tallies(play.rules), 2);
	assert_int_equal(asterism_rules_tally(play.rules, 0, &tally), 0);
	assert_string_equal(tally.name, "calls");
	assert_false(tally.is_histogram);
	assert_int_equal(tally.count, 9);
	assert_int_equal(asterism_rules_tally(play.rules, 1, &tally), 0);
	assert_true(tally.is_histogram);
	assert_int_equal(tally.buckets[3], 9);
	assert_int_equal(asterism_rules_tally(play.rules, 2, &tally), -EINVAL);
	assert_int_equal(asterism_rules_stats(play.rules, &stats), 0);
	assert_true(stats.kernel_runs >= 9 && stats.kernel_ns > 0 && stats.programs >= 1);
	assert_int_equal(play.reported, 0);
	end(&play);
}

/* With a program that only has on_match. */
static void on_match_answers(void **state)
{
	struct asterism_session_options options = { .allow_actions = 1 };
	struct play play;
	siginfo_t info;

	(void)state;
	begin(&play, &options, ask_text);
	let_call(&play);
	await(&play, &play.reported, 1);
	assert_int_equal(puppet_call(&play.puppet, 0), 0);
	play.answer = ASTERISM_ABORT;
	let_call(&play);
	await(&play, &play.reported, 2);
	assert_int_equal(waitid(P_PID, (id_t)play.puppet.pid, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(info.si_status, SIGTERM);
	end(&play);
}

static void an_answer_comes_later(void **state)
{
	struct asterism_session_options options = { .allow_actions = 1, .on_ask = on_ask };
	struct play play;
	siginfo_t info;

	(void)state;
	begin(&play, &options, ask_text);
	play.answer = ASTERISM_LATER;
	let_call(&play);
	await(&play, &play.asked, 1);
	assert_int_equal(play.reported, 0);
	assert_int_equal(asterism_ask_answer(play.session, play.ticket + 1, ASTERISM_CONTINUE), -ENOENT);
	assert_int_equal(asterism_ask_answer(play.session, play.ticket, ASTERISM_LATER), -EINVAL);
	assert_int_equal(asterism_ask_answer(play.session, play.ticket, ASTERISM_CONTINUE), 0);
	assert_int_equal(play.reported, 1);
	assert_non_null(strstr(play.json, "continue"));
	assert_int_equal(asterism_ask_answer(play.session, play.ticket, ASTERISM_CONTINUE), -ENOENT);
	let_call(&play);
	await(&play, &play.asked, 2);
	assert_int_equal(asterism_ask_answer(play.session, play.ticket, ASTERISM_ABORT), 0);
	assert_int_equal(play.reported, 2);
	assert_int_equal(waitid(P_PID, (id_t)play.puppet.pid, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(info.si_status, SIGTERM);
	end(&play);
}

/* Nobody stays stopped for a question that a unit takes with it. */
static void a_unit_that_goes_lets_everybody_go_on(void **state)
{
	struct asterism_session_options options = { .allow_actions = 1, .on_ask = on_ask };
	unsigned char done = 0;
	struct play play;

	(void)state;
	begin(&play, &options, ask_text);
	play.answer = ASTERISM_LATER;
	let_call(&play);
	await(&play, &play.asked, 1);
	asterism_rules_unload(play.rules);
	assert_int_equal(asterism_ask_answer(play.session, play.ticket, ASTERISM_CONTINUE), -ENOENT);
	assert_int_equal(read(play.puppet.from, &done, 1), 1);
	assert_int_equal(play.reported, 0);
	end(&play);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_not_allowed_is_reported),
		cmocka_unit_test(what_is_allowed_is_done),
		cmocka_unit_test(a_policy_must_name_every_action),
		cmocka_unit_test(counters_are_read),
		cmocka_unit_test(on_match_answers),
		cmocka_unit_test(an_answer_comes_later),
		cmocka_unit_test(a_unit_that_goes_lets_everybody_go_on),
	};

	if (geteuid() != 0) {
		printf("skipped: not root\n");
		return SKIPPED;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
