// SPDX-License-Identifier: BSD-2-Clause
/* What sessions do at matches, what policies allow, and both with every allocation failing. */

#include "compiled.h"

#include "base/alloc.h"
#include "engine/engine.h"
#include "session/verdict/reactions.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const char types[] = "EVENT A { x: i64 }\n";

static const char rules[] =
	"RULE r PATTERN { A:a } DO { CALL Kill(a.x); CALL Count(\"n\"); CALL Histogram(\"h\", a.x); "
	"CALL Signal(10 / a.x, 1); CALL Exec(\"/no/such\") }";

static const char stops[] = "RULE s PATTERN { A:a } DO { CALL Kill(a#PID); CALL Stop(a#PID) }";

struct record {
	struct event_header header;
	int64_t x;
};

/* A match, and what became of it. */
struct rig {
	struct reactions *reactions;
	struct program_reaction reported[8];
	char why[8][REACT_WHY_BYTES];
};

static int on_match(void *context, const struct program_match *match)
{
	struct rig *rig = context;
	struct program_match reported;

	assert_true(reactions_do(rig->reactions, match, &reported));
	assert_non_null(reported.reactions);
	for (int i = 0; i < 5; i++) {
		rig->reported[i] = reported.reactions[i];
		if (reported.reactions[i].how == PROGRAM_NOT_DONE)
			snprintf(rig->why[i], sizeof rig->why[i], "%s", reported.reactions[i].why);
	}
	return 0;
}

static void feed(struct rig *rig, const struct program *program, int64_t x)
{
	const struct engine_options options = { on_match, rig };
	struct record record = { .header = { .ts = 1, .seq = 1, .pid = 7, .tid = 7 }, .x = x };
	struct engine *engine;

	record.header.type = program_type_find(program, "A");
	assert_int_equal(engine_new(program, &options, NULL, &engine), 0);
	assert_int_equal(engine_feed(engine, &record.header), 0);
	engine_free(engine);
}

static bool nobody(void *context, int pid)
{
	(void)context;
	(void)pid;
	return false;
}

static void not_allowed_is_reported(void **state)
{
	struct program *program = compiled(types, rules);
	const struct reactions_options options = { .agent = { .in_scope = nobody } };
	struct rig rig = { 0 };

	(void)state;
	assert_int_equal(reactions_new(program, &options, NULL, &rig.reactions), 0);
	feed(&rig, program, 0);
	assert_string_equal(rig.why[0], "not allowed");
	assert_int_equal(rig.reported[1].how, PROGRAM_DONE);
	assert_int_equal(rig.reported[2].how, PROGRAM_DONE);
	assert_string_equal(rig.why[3], "not allowed");
	assert_false(reactions_allowed(rig.reactions)[0]);
	assert_true(reactions_allowed(rig.reactions)[1]);
	reactions_free(rig.reactions);
	program_free(program);
}

static void allowed_is_done_or_says_why(void **state)
{
	static const struct session_policy policy = { .allows_all = true };
	struct program *program = compiled(types, rules);
	const struct reactions_options options = { .policy = &policy, .agent = { .in_scope = nobody } };
	struct react_tallies tallies = { 0 };
	struct rig rig = { 0 };

	(void)state;
	assert_int_equal(reactions_new(program, &options, NULL, &rig.reactions), 0);
	feed(&rig, program, 0);
	assert_string_equal(rig.why[0], "process or thread 0 does not exist");
	assert_string_equal(rig.why[3], "division by zero");
	assert_string_equal(rig.why[4], "cannot run /no/such: No such file or directory");
	feed(&rig, program, 1);
	assert_string_equal(rig.why[0], "actions never affect process 1");
	assert_int_equal(reactions_tallies(rig.reactions, NULL, NULL, &tallies), 0);
	assert_int_equal(react_tallies_get(&tallies, "n", false)->count, 2);
	assert_int_equal(react_tallies_get(&tallies, "h", true)->buckets[0], 1);
	assert_int_equal(react_tallies_get(&tallies, "h", true)->buckets[1], 1);
	react_tallies_fini(&tallies);
	reactions_free(rig.reactions);
	program_free(program);
}

/* What comes too often is counted, and told at the end with its rule and reason. */
static void refusals_are_reported(void **state)
{
	static const struct session_policy policy = { .allows_all = true };
	struct program *program = compiled(types, rules);
	const struct reactions_options options = { .policy = &policy, .agent = { .in_scope = nobody } };
	struct session_refusals refusals = { 0 };
	uint64_t refused = 0;
	struct rig rig = { 0 };

	(void)state;
	assert_int_equal(reactions_new(program, &options, NULL, &rig.reactions), 0);
	assert_int_equal(reactions_refusals(rig.reactions, &refusals), 0);
	assert_int_equal(refusals.count, 0);
	for (int i = 0; i < 100; i++) {
		feed(&rig, program, 1);
		refused += strcmp(rig.why[4], "more than 10 a second") == 0;
	}
	assert_true(refused > 0);
	assert_int_equal(reactions_refusals(rig.reactions, &refusals), 0);
	assert_int_equal(refusals.count, 1);
	assert_int_equal(refusals.items[0].rule, 0);
	assert_string_equal(refusals.items[0].action->name, "Exec");
	assert_int_equal(refusals.items[0].count, refused);
	assert_string_equal(refusals.items[0].why, "more than 10 a second");
	session_refusals_fini(&refusals);
	reactions_free(rig.reactions);
	program_free(program);
}

/* A Stop in the kernel could not be undone by who cannot name the process. */
static void foreign_ids_keep_stop_out_of_the_kernel(void **state)
{
	static const struct session_policy policy = { .allows_all = true };
	struct program *program = compiled(types, stops);
	struct reactions_options options = { .policy = &policy, .agent = { .in_scope = nobody, .foreign_ids = true } };
	struct reactions *reactions;

	(void)state;
	assert_int_equal(reactions_new(program, &options, NULL, &reactions), 0);
	assert_true(reactions_allowed(reactions)[0]);
	assert_false(reactions_allowed(reactions)[1]);
	reactions_free(reactions);
	program_free(program);
}

static void memory_is_short(void **state)
{
	static const struct session_policy policy = { .allows_all = true };
	struct program *program = compiled(types, rules);
	const struct reactions_options options = { .policy = &policy, .agent = { .in_scope = nobody } };
	int result = -1;

	(void)state;
	for (unsigned long n = 1; result; n++) {
		struct reactions *reactions = NULL;
		struct react_tallies tallies = { 0 };

		alloc_fail_at(n);
		result = reactions_new(program, &options, NULL, &reactions);
		if (!result)
			result = reactions_tallies(reactions, NULL, NULL, &tallies);
		alloc_fail_at(0);
		assert_true(result == 0 || result == -ENOMEM);
		react_tallies_fini(&tallies);
		reactions_free(reactions);
		assert_true(n < 30);
	}
	program_free(program);
}

/* Reads a policy of this text. Returns as policy_read. */
static int read_policy(const char *text, struct session_policy *policy, struct asterism_diag *diag)
{
	char path[] = "/tmp/test-policy-XXXXXX";
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
	*policy = (struct session_policy){ 0 };
	int result = policy_read(policy, path, diag);

	unlink(path);
	return result;
}

static void policies(void **state)
{
	struct asterism_diag *diag = asterism_diag_new();
	struct session_policy policy;

	(void)state;
	assert_int_equal(read_policy("", &policy, diag), 0);
	assert_false(policy_allows(&policy, react_find("Kill")));
	assert_true(policy_allows(&policy, react_find("Count")));
	assert_false(policy_allows(NULL, react_find("Exec")));
	assert_int_equal(
		read_policy("# all\n allow\tStop,Kill Kill, SuspendThread # so\n\noutside-scope", &policy, diag), 0);
	assert_int_equal(policy.action_count, 2);
	assert_true(policy.anywhere);
	assert_true(policy_allows(&policy, react_find("TerminateThread")));
	assert_false(policy_allows(&policy, react_find("Continue")));
	assert_int_equal(read_policy("allow all\n", &policy, diag), 0);
	assert_true(policy_allows(&policy, react_find("Freeze")) && !policy.anywhere);
	assert_int_equal(read_policy("allow all\nallow Nothing\n", &policy, diag), -EINVAL);
	assert_string_equal(asterism_diag_get(diag, 0)->text, "unknown action 'Nothing'");
	assert_int_equal(asterism_diag_get(diag, 0)->line, 2);
	assert_int_equal(policy_read(&policy, "/no/such/file", diag), -ENOENT);
	asterism_diag_free(diag);
}

static void policy_must_hold_what_rules_call(void **state)
{
	struct asterism_diag *diag = asterism_diag_new();
	struct program *program = compiled(types, rules);
	struct session_policy policy;

	(void)state;
	assert_int_equal(read_policy("allow Kill, Signal, Exec", &policy, diag), 0);
	assert_int_equal(policy_check(&policy, program, NULL, diag), 0);
	assert_int_equal(read_policy("allow Kill, Signal", &policy, diag), 0);
	assert_int_equal(policy_check(&policy, program, NULL, diag), -EINVAL);
	assert_string_equal(asterism_diag_get(diag, 0)->text, "rule r calls Exec, which the policy does not allow");
	asterism_diag_clear(diag);
	assert_int_equal(policy_check(NULL, program, NULL, diag), 0);
	assert_string_equal(asterism_diag_get(diag, 0)->text, "rule r calls Kill, which is only reported, not done");
	asterism_diag_free(diag);
	program_free(program);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(not_allowed_is_reported),
		cmocka_unit_test(allowed_is_done_or_says_why),
		cmocka_unit_test(refusals_are_reported),
		cmocka_unit_test(foreign_ids_keep_stop_out_of_the_kernel),
		cmocka_unit_test(memory_is_short),
		cmocka_unit_test(policies),
		cmocka_unit_test(policy_must_hold_what_rules_call),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
