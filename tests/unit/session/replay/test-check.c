// SPDX-License-Identifier: BSD-2-Clause
/* What is said of rules that ask for what was not recorded. */

#include "recorded.h"

#include "session/derive/derive.h"
#include "session/load/rules.h"
#include "session/replay/check.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static struct session_rules *read_rules(const char *text)
{
	char file[] = "/tmp/asterism-unit-XXXXXX";
	const char *name = file;
	struct session_rules *rules = NULL;
	int fd = mkstemp(file);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	assert_int_equal(session_rules_read(&name, 1, NULL, &rules), 0);
	unlink(file);
	return rules;
}

/* Checks the rules over a recording of held. Returns the messages, a line each, and stores the result. */
static const char *said(const char *text, const char *held, int *result, char *absent)
{
	static char all[2000];
	struct session_rules *rules = read_rules(text);
	const struct program *program = session_rules_program(rules);
	struct asterism_diag *diag = asterism_diag_new();
	const struct asterism_message *message;
	const char *hint = NULL;
	bool missing[32] = { false };
	struct recorded recorded;
	struct replay_want want;
	struct event_source *source;

	recorded_init(&recorded, session_rules_catalog(rules), held);
	assert_int_equal(derive_new(&recorded.source, session_rules_catalog(rules), NULL, &source), 0);
	assert_int_equal(replay_want_init(&want, program, NULL), 0);
	const struct replay_check check = { program, session_rules_catalog(rules), source, &want, "so" };

	*result = replay_check(&check, diag, missing);
	all[0] = absent[0] = 0;
	for (size_t i = 0; (message = asterism_diag_get(diag, i)); i++) {
		snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s",
			 message->severity == ASTERISM_ERROR ? "E " : "W ", message->text);
		assert_null(hint); /* what helps is said once, with the last message */
		hint = message->hint;
	}
	assert_true(!*all == !hint);
	if (hint && strcmp(hint, "so") != 0) {
		assert_non_null(strstr(hint, "only declared"));
		strcat(all, " (only declared)");
	}
	for (uint32_t i = 0; i < program->type_count; i++) {
		if (missing[i])
			strcat(strcat(absent, program_text(program, program->types[i].name)), " ");
	}
	replay_want_fini(&want);
	event_source_free(source);
	asterism_diag_free(diag);
	session_rules_free(rules);
	return all;
}

static void assert_said(const char *text, const char *held, int expected, const char *messages, const char *missing)
{
	char absent[500];
	int result;

	assert_string_equal(said(text, held, &result, absent), messages);
	assert_int_equal(result, expected);
	assert_string_equal(absent, missing);
}

#define NOTHING_FOUND "not recorded, so it cannot match in this input"

static void what_is_there(void **state)
{
	(void)state;
	assert_said("RULE r PATTERN { [sys_enter_openat:a, sys_exit_openat:b] } WHERE { [tid], a.flags & 3 == 0 }",
		    "sys_enter sys_exit", 0, "", "sched_process_exit sched_process_exec "); /* which need no word */
	assert_said("RULE r PATTERN { sys_enter_openat:a } WHERE { a.filename LIKE \"/etc/*\" }", "sys_enter_openat", 0,
		    "", "");
	assert_said("RULE r PATTERN { sched_switch:a } WHERE { a.prev_pid == 1 } RETURN { a.tid }",
		    "sched_switch:prev_pid", 0, "", "");
}

static void what_a_rule_cannot_do_without(void **state)
{
	(void)state;
	assert_said("RULE r PATTERN { sys_enter_openat:a } WHERE { a.filename LIKE \"/etc/*\" }", "sys_enter sys_exit",
		    -EINVAL, "E rule r: sys_enter_openat:filename was " NOTHING_FOUND, "sys_enter_openat ");
	assert_said("RULE r PATTERN { [sched_switch:a, contention_begin:b] } WHERE { a.next_pid == b.tid }",
		    "sched_switch:prev_pid", -EINVAL,
		    "E rule r: sched_switch:next_pid, contention_begin were " NOTHING_FOUND,
		    "sched_switch contention_begin ");
	assert_said("RULE r PATTERN { sched_switch:a } RETURN SEQUENCE", "sched_switch:prev_pid+next_pid", -EINVAL,
		    "E rule r: sched_switch:prev_comm+prev_prio+prev_state+next_comm+next_prio was " NOTHING_FOUND,
		    "sched_switch ");
}

static void what_is_one_way_of_several(void **state)
{
	(void)state;
	assert_said("RULE r PATTERN { [(sys_enter_openat:o | contention_begin), sys_exit:x] } WHERE { [tid] }",
		    "sys_enter sys_exit", 0, "W rule r: contention_begin was not recorded: matches with it are missing",
		    "contention_begin sched_process_exit sched_process_exec ");
	assert_said("RULE r PATTERN { [(contention_end | contention_begin), sys_exit:x] } WHERE { [tid] }",
		    "sys_enter sys_exit", -EINVAL, "E rule r: contention_end, contention_begin were " NOTHING_FOUND,
		    "contention_end contention_begin sched_process_exit sched_process_exec ");
	assert_said("RULE r PATTERN { [sys_enter:a, [contention_begin]*, sys_exit:x] } WHERE { [tid] }",
		    "sys_enter sys_exit", 0, "W rule r: contention_begin was not recorded: matches with it are missing",
		    "contention_begin ");
}

static void what_is_forbidden(void **state)
{
	(void)state;
	assert_said(
		"RULE r PATTERN { [sys_enter:a, ~contention_begin, sys_exit:x] } WHERE { [tid] }", "sys_enter sys_exit",
		0, "W rule r: contention_begin was not recorded, so its absence is not proven and matches may be wrong",
		"contention_begin ");
	assert_said(
		"RULE r PATTERN { [sys_enter:a, ~contention_begin] } WHERE { [tid] } WITHIN 1s", "sys_enter", 0,
		"W rule r: contention_begin was not recorded, so its absence is not proven and matches may be wrong",
		"contention_begin ");
	assert_said("RULE r STRICTSEQUENCE PATTERN { [sys_enter:a, sys_exit:x] } OVER { sys_enter, sys_exit, "
		    "sched_switch }",
		    "sys_enter sys_exit", 0,
		    "W rule r: sched_switch was not recorded, so its absence is not proven and matches may be wrong",
		    "sched_switch ");
}

static void machines(void **state)
{
	static const char machine[] = "MACHINE m KEY { tid }\n"
				      "STATE A { ON sys_enter -> B ON sched_switch -> B }\n"
				      "STATE B { ON sys_exit { WARN \"x\" } AFTER 1s { WARN \"y\" } }\n"
				      "ON sched_process_exit -> END\n";

	(void)state;
	assert_said(machine, "sys_enter sys_exit sched_switch sched_process_exit", 0, "", "");
	assert_said(machine, "sys_enter sys_exit", 0,
		    "W machine m: sched_switch was not recorded: matches with it are missing"
		    "W machine m: sched_process_exit was not recorded, so its absence is not proven and matches may be "
		    "wrong",
		    "sched_switch sched_process_exit ");
	assert_said(machine, "sys_exit sched_process_exit", -EINVAL,
		    "E machine m: sys_enter, sched_switch were " NOTHING_FOUND, "sys_enter sched_switch ");
}

/* What a rule raises is there if the rule can match; who cannot for want of it is not blamed as well. */
static void chains(void **state)
{
	static const char chain[] = "EVENT low { x: i64 }\n"
				    "RULE first PATTERN { contention_begin:c } DO { EMIT low(x = 1) }\n"
				    "RULE second PATTERN { [low:l, sys_enter:s] } RETURN { l.x }\n";

	(void)state;
	assert_said(chain, "contention_begin sys_enter", 0, "", "low ");
	assert_said(chain, "sys_enter", -EINVAL, "E rule first: contention_begin was " NOTHING_FOUND,
		    "contention_begin low ");
	assert_said(chain, "contention_begin", -EINVAL, "E rule second: sys_enter was " NOTHING_FOUND,
		    "low sys_enter ");
}

/* Neither a kernel nor a rule raises it. */
static void what_nobody_raises(void **state)
{
	(void)state;
	assert_said("EVENT odd { x: i64 }\nRULE r PATTERN { odd:o } RETURN { o.x }", "sys_enter", -EINVAL,
		    "E rule r: odd was " NOTHING_FOUND " (only declared)", "odd ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_there),
		cmocka_unit_test(what_a_rule_cannot_do_without),
		cmocka_unit_test(what_is_one_way_of_several),
		cmocka_unit_test(what_is_forbidden),
		cmocka_unit_test(machines),
		cmocka_unit_test(chains),
		cmocka_unit_test(what_nobody_raises),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
