// SPDX-License-Identifier: BSD-2-Clause
/* What goes wrong and is told, what is refused, what callbacks may do, and how a session waits. */

#include "fixture.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static void options_are_checked(void **state)
{
	struct {
		struct asterism_session_options known;
		uint64_t later;
	} options = { .known = { .size = sizeof options } };
	struct asterism_session *session = NULL;
	struct asterism_diag *diag = asterism_diag_new();

	(void)state;
	assert_int_equal(asterism_session_open(&options.known, diag, &session), 0);
	asterism_session_free(session);
	session = NULL;
	options.later = 1; /* something that only a later library knows */
	assert_int_equal(asterism_session_open(&options.known, diag, &session), -EINVAL);
	assert_int_equal(asterism_diag_count(diag, ASTERISM_ERROR), 1);
	assert_null(session);
	options.known.size = 0;
	assert_int_equal(asterism_session_open(&options.known, NULL, &session), -EINVAL);
	options.known = (struct asterism_session_options){ .size = sizeof options.known, .scope = 17 };
	assert_int_equal(asterism_session_open(&options.known, NULL, &session), -EINVAL);
	assert_int_equal(asterism_session_open(NULL, NULL, &session), 0);
	asterism_session_free(session);
	asterism_session_free(NULL);
	asterism_diag_free(diag);
}

static void wrong_rules_are_reported(void **state)
{
	static const char wrong[] = "RULE wrong\nPATTERN { [sys_enter_getpid] }\nWHERE { [tib] }\n";
	struct fixture *fixture = *state;
	struct asterism_rules *rules = NULL;
	const struct asterism_message *message;

	assert_int_equal(asterism_rules_load_text(fixture->session, wrong, strlen(wrong), "my.rule", &rules), -EINVAL);
	assert_null(rules);
	message = asterism_diag_get(asterism_session_diag(fixture->session), 0);
	assert_non_null(message);
	assert_int_equal(message->severity, ASTERISM_ERROR);
	assert_string_equal(message->file, "my.rule");
	assert_int_equal(message->line, 3);
	assert_int_equal(message->column, 10);
	assert_int_equal(strncmp(asterism_session_error(fixture->session), "my.rule:3:10: ", 14), 0);
	assert_int_equal(asterism_rules_load_text(fixture->session, "", 0, NULL, &rules), -EINVAL);
	assert_int_equal(asterism_rules_load_text(fixture->session, NULL, 0, NULL, &rules), -EINVAL);
	assert_int_equal(asterism_rules_load_file(fixture->session, "/nowhere/at.all", &rules), -EINVAL);
	assert_non_null(strstr(asterism_session_error(fixture->session), "/nowhere/at.all: no such file"));
	assert_int_equal(asterism_rules_load_file(fixture->session, "-", &rules), -EINVAL);
	fixture_load(fixture->session, pair_text);
	assert_string_equal(asterism_session_error(fixture->session), ""); /* the last call was fine */
}

static void foreign_rules_name_installed_catalogs_only(void **state)
{
	static const char path[] = "EVENTS \"/etc/passwd\" RULE r PATTERN { sys_enter:a }";
	static const char plain[] = "EVENTS \"tcp.events\" RULE r PATTERN { sys_enter:a }";
	struct fixture *fixture = *state;
	struct asterism_rules_source source = { .size = sizeof source,
						.bytes = path,
						.length = sizeof path - 1,
						.name = "sent",
						.owner = 65534,
						.is_foreign = 1 };
	struct asterism_rules *rules = NULL;

	assert_int_equal(asterism_rules_load_from(fixture->session, NULL, &rules), -EINVAL);
	assert_int_equal(asterism_rules_load_from(fixture->session, &source, NULL), -EINVAL);
	assert_int_equal(asterism_rules_load_from(fixture->session, &source, &rules), -EINVAL);
	assert_string_equal(asterism_session_error(fixture->session),
			    "sent:1:8: catalog not found: '/etc/passwd' (only installed catalogs can be named here, by "
			    "name without a directory)");
	source.is_foreign = 0; /* it belongs to root, but is no catalog */
	assert_int_equal(asterism_rules_load_from(fixture->session, &source, &rules), -EINVAL);
	assert_int_equal(strncmp(asterism_session_error(fixture->session), "/etc/passwd:1:1: ", 17), 0);
	source.is_foreign = 1;
	source.bytes = plain;
	source.length = sizeof plain - 1;
	source.name = NULL;
	assert_int_equal(asterism_rules_load_from(fixture->session, &source, &rules), 0);
	assert_string_equal(asterism_rules_name(rules), "<text>");
	asterism_rules_unload(rules);
	source.size = 4;
	assert_int_equal(asterism_rules_load_from(fixture->session, &source, &rules), -EINVAL);
}

static void wrong_states_are_refused(void **state)
{
	struct fixture *fixture = *state;
	struct asterism_rules *rules = fixture_load(fixture->session, pair_text);

	assert_int_equal(asterism_rules_deactivate(rules), -EINVAL);
	fixture_activate(fixture->session, rules);
	assert_int_equal(asterism_rules_activate(rules), -EINVAL);
	assert_int_equal(asterism_rules_deactivate(rules), 0);
	assert_int_equal(asterism_rules_deactivate(rules), -EINVAL);
	asterism_rules_unload(NULL);
}

static void processes_are_checked(void **state)
{
	struct fixture *fixture = *state;
	struct asterism_session *all = fixture_open(fixture, ASTERISM_SCOPE_ALL);
	char *const nothing[] = { "/nowhere/at/all", NULL }, *const none[] = { NULL };

	assert_int_equal(asterism_session_add_process(fixture->session, getpid()), -EINVAL);
	assert_int_equal(asterism_session_add_process(fixture->session, 0), -EINVAL);
	assert_int_equal(asterism_session_add_process(fixture->session, -1), -EINVAL);
	assert_int_equal(asterism_session_add_process(fixture->session, 1 << 29), -ESRCH);
	assert_int_equal(asterism_session_add_process(fixture->session, fixture->puppet.pid), 0); /* again */
	assert_int_equal(asterism_session_add_process(all, fixture->puppet.pid), -EINVAL);
	assert_int_equal(asterism_session_launch(fixture->session, nothing, NULL), -EINVAL);
	assert_non_null(strstr(asterism_session_error(fixture->session), "command not found"));
	assert_int_equal(asterism_session_launch(fixture->session, none, NULL), -EINVAL);
	asterism_session_free(all);
}

/* What a rule needs that cannot be had is said when it is activated; and the unit stays as it was. */
static void synchronous_rules_need_the_kernel(void **state)
{
	static const char text[] = "EVENT made { n: u64 }\n"
				   "RULE source PATTERN { [sys_exit_getppid:a] } DO { EMIT made(n = 1) }\n"
				   "SYNCHRONOUS RULE chain PATTERN { [made:m, sys_exit_getppid:a] }\n";
	struct fixture *fixture = *state;
	struct asterism_rule_info info = { .size = sizeof info };
	struct asterism_rules *rules = NULL;

	if (asterism_rules_load_text(fixture->session, text, strlen(text), NULL, &rules)) {
		print_message("%s\n", asterism_session_error(fixture->session));
		skip();
	}
	assert_int_equal(asterism_rules_count(rules), 2);
	assert_int_equal(asterism_rules_info(rules, 1, &info), 0);
	if (info.place != ASTERISM_PLACE_NOWHERE)
		skip(); /* kernels that can */
	assert_true(info.reason[0] != 0);
	assert_int_equal(asterism_rules_activate(rules), -EINVAL);
	assert_int_equal(asterism_rules_state(rules), ASTERISM_RULES_LOADED);
	info.size = 1;
	assert_int_equal(asterism_rules_info(rules, 0, &info), -EINVAL);
}

/* An event loop of the program's own: poll, dispatch, and nothing else. */
static void the_descriptor_wakes(void **state)
{
	struct fixture *fixture = *state;
	struct pollfd fd = { .fd = asterism_session_fd(fixture->session), .events = POLLIN };

	for (int i = 0; i < 100; i++) /* with nothing to do: it would hang here */
		assert_int_equal(asterism_session_dispatch(fixture->session), 0);
	assert_int_equal(poll(&fd, 1, 0), 0);
	fixture_activate(fixture->session, fixture_load(fixture->session, pair_text));
	for (int i = 0; i < 100; i++)
		assert_int_equal(asterism_session_dispatch(fixture->session), 0);
	assert_int_equal(puppet_call(&fixture->puppet, 1), 0);
	while (fixture->noted == 0) {
		assert_int_equal(poll(&fd, 1, LIMIT_MS), 1);
		assert_true(asterism_session_dispatch(fixture->session) >= 0);
	}
	assert_int_equal(fixture->noted, 1);
}

static int dispatch_inside(struct fixture *fixture, const struct asterism_match *match)
{
	(void)match;
	fixture->result = asterism_session_dispatch(fixture->session);
	assert_int_equal(asterism_session_wait(fixture->session, 0), -EBUSY);
	return ASTERISM_CONTINUE;
}

static void a_callback_cannot_dispatch(void **state)
{
	struct fixture *fixture = *state;

	fixture->then = dispatch_inside;
	fixture_activate(fixture->session, fixture_load(fixture->session, pair_text));
	assert_int_equal(puppet_call(&fixture->puppet, 1), 0);
	fixture_await(fixture, fixture->session, 1);
	assert_int_equal(fixture->result, -EBUSY);
}

static int deactivate_it(struct fixture *fixture, const struct asterism_match *match)
{
	struct asterism_rules *unit = asterism_match_unit(match);

	assert_int_equal(asterism_rules_deactivate(unit), 0);
	assert_int_equal(asterism_rules_state(unit), ASTERISM_RULES_LOADED);
	assert_int_equal(asterism_rules_deactivate(unit), -EINVAL);
	fixture->result = asterism_rules_activate(unit);
	return ASTERISM_CONTINUE;
}

static void a_callback_can_deactivate(void **state)
{
	struct fixture *fixture = *state;
	struct asterism_rules *rules = fixture_load(fixture->session, pair_text);

	fixture->then = deactivate_it;
	fixture_activate(fixture->session, rules);
	assert_int_equal(puppet_call(&fixture->puppet, 5), 0);
	fixture_await(fixture, fixture->session, 1);
	assert_int_equal(fixture->result, -EBUSY);
	assert_int_equal(asterism_session_dispatch(fixture->session), 0);
	assert_int_equal(fixture->noted, 1);
	fixture->then = NULL;
	fixture_activate(fixture->session, rules);
	assert_int_equal(puppet_call(&fixture->puppet, 1), 0);
	fixture_await(fixture, fixture->session, 2);
}

static int unload_the_other(struct fixture *fixture, const struct asterism_match *match)
{
	(void)match;
	asterism_rules_unload(fixture->victim);
	fixture->then = NULL;
	return ASTERISM_CONTINUE;
}

/* Both orders: the unit that is told first unloads the one that comes after it, or itself. */
static void a_callback_can_unload(void **state)
{
	struct fixture *fixture = *state;
	struct asterism_rules *first = fixture_load(fixture->session, other_text);
	struct asterism_rules *second = fixture_load(fixture->session, pair_text);

	fixture_activate(fixture->session, first);
	fixture_activate(fixture->session, second);
	for (int round = 0; round < 2; round++) {
		fixture->victim = round ? second : first;
		fixture->then = unload_the_other;
		assert_int_equal(puppet_call(&fixture->puppet, 1), 0);
		for (int ms = 0; fixture->then && ms < LIMIT_MS; ms += STEP_MS)
			assert_true(asterism_session_wait(fixture->session, STEP_MS) >= 0);
		assert_null(fixture->then);
	}
	fixture->noted = 0;
	assert_int_equal(puppet_call(&fixture->puppet, 1), 0);
	assert_int_equal(asterism_session_dispatch(fixture->session), 0);
	assert_int_equal(fixture->noted, 0);
}

static int free_it(struct fixture *fixture, const struct asterism_match *match)
{
	(void)match;
	asterism_session_free(fixture->session);
	return ASTERISM_CONTINUE;
}

static void a_callback_can_free(void **state)
{
	struct fixture *fixture = *state;
	int result = 0;

	fixture->then = free_it;
	fixture_activate(fixture->session, fixture_load(fixture->session, pair_text));
	assert_int_equal(puppet_call(&fixture->puppet, 5), 0);
	for (int ms = 0; result >= 0 && ms < LIMIT_MS; ms += STEP_MS)
		result = asterism_session_wait(fixture->session, STEP_MS);
	fixture->session = NULL;
	assert_int_equal(result, -ECANCELED);
	assert_int_equal(fixture->noted, 1);
}

/* However many there are, and if more came all the time: a dispatch ends, and the rest comes with the next. */
static void a_dispatch_comes_to_an_end(void **state)
{
	enum { CALLS = 250, ROUNDS = 12, AT_ONCE = 1024 };
	struct fixture *fixture = *state;
	struct pollfd fd = { .fd = asterism_session_fd(fixture->session), .events = POLLIN };
	struct asterism_session_stats stats = { .size = sizeof stats };
	int dispatches = 0;

	fixture_activate(fixture->session, fixture_load(fixture->session, other_text));
	for (int i = 0; i < ROUNDS; i++)
		assert_int_equal(puppet_call(&fixture->puppet, CALLS), 0);
	for (int handed = 0; handed < CALLS * ROUNDS; dispatches++) {
		assert_int_equal(poll(&fd, 1, LIMIT_MS), 1);
		int result = asterism_session_dispatch(fixture->session);

		assert_in_range(result, 0, AT_ONCE);
		handed += result;
		assert_int_equal(fixture->noted, handed);
	}
	assert_true(dispatches >= CALLS * ROUNDS / AT_ONCE);
	assert_int_equal(asterism_session_stats(fixture->session, &stats), 0);
	assert_int_equal(stats.matches, CALLS * ROUNDS);
	assert_int_equal(stats.lost, 0);
}

/* The same for matches whose time is up: they are all due when the first is looked for. */
static void deadlines_wait_for_nobody(void **state)
{
	static const char text[] = "RULE alone PATTERN { [sys_exit_getppid:a, ~sys_exit_getpgid] } WITHIN 20ms\n";
	enum { CALLS = 250, ROUNDS = 12 };
	struct fixture *fixture = *state;

	fixture_activate(fixture->session, fixture_load(fixture->session, text));
	for (int i = 0; i < ROUNDS; i++)
		assert_int_equal(puppet_call(&fixture->puppet, CALLS), 0);
	usleep(100 * 1000);
	while (fixture->noted < CALLS * ROUNDS) /* none of these has nothing to tell */
		assert_in_range(asterism_session_dispatch(fixture->session), 1, CALLS * ROUNDS);
	assert_int_equal(fixture->noted, CALLS * ROUNDS);
}

static int refuse(struct fixture *fixture, const struct asterism_match *match)
{
	(void)match;
	return fixture->noted == 2 ? -ENOSPC : fixture->noted == 3 ? 7 : ASTERISM_CONTINUE;
}

/* In user space several rules may match at one event: an error of the callback takes none of them away. */
static void errors_of_callbacks_lose_nothing(void **state)
{
	static const char text[] = "RULE one PATTERN { [sys_exit_getppid:a] } WHERE { a.comm LIKE \"*api*\" }\n"
				   "RULE two PATTERN { [sys_exit_getppid:a] } WHERE { a.comm LIKE \"*api*\" }\n"
				   "RULE three PATTERN { [sys_exit_getppid:a] } WHERE { a.comm LIKE \"*api*\" }\n";
	struct fixture *fixture = *state;
	int refused = 0;

	fixture->then = refuse;
	fixture_activate(fixture->session, fixture_load(fixture->session, text));
	assert_int_equal(puppet_call(&fixture->puppet, 2), 0);
	for (int ms = 0; fixture->noted < 6 && ms < LIMIT_MS; ms += STEP_MS)
		refused += asterism_session_wait(fixture->session, STEP_MS) < 0;
	assert_true(refused >= 1);
	assert_int_equal(fixture->noted, 6);
}

/* An error ends the dispatch, not the session: the rest comes with the next. */
static void errors_of_callbacks_are_passed_on(void **state)
{
	struct fixture *fixture = *state;
	int result = 0, refused = 0;

	fixture->then = refuse;
	fixture_activate(fixture->session, fixture_load(fixture->session, pair_text));
	assert_int_equal(puppet_call(&fixture->puppet, 4), 0);
	for (int ms = 0; fixture->noted < 4 && ms < LIMIT_MS; ms += STEP_MS) {
		result = asterism_session_wait(fixture->session, STEP_MS);
		if (result >= 0)
			continue;
		assert_int_equal(result, refused++ ? -EINVAL : -ENOSPC);
	}
	assert_int_equal(refused, 2);
	assert_int_equal(fixture->noted, 4);
}

/* All that a launched command does is seen, what it did last before the news of its end. */
static void commands_are_launched(void **state)
{
	static const char text[] = "RULE child PATTERN { [sys_enter_exit_group:a] }\n";
	char *const command[] = { "sh", "-c", "(exit 1); exit 42", NULL };
	struct fixture *fixture = *state;
	pid_t pid = 0;

	fixture_activate(fixture->session, fixture_load(fixture->session, text));
	assert_int_equal(asterism_session_launch(fixture->session, command, &pid), 0);
	assert_true(pid > 0);
	assert_int_equal(asterism_session_launch(fixture->session, command, NULL), -EBUSY);
	for (int ms = 0; !fixture->ended && ms < LIMIT_MS; ms += STEP_MS)
		assert_true(asterism_session_wait(fixture->session, STEP_MS) >= 0);
	assert_int_equal(fixture->ended, pid);
	assert_int_equal(fixture->status, 42);
	assert_int_equal(fixture->noted, 2);
	assert_int_equal(asterism_session_launch(fixture->session, command, NULL), 0);
	fixture->ended = 0;
	for (int ms = 0; !fixture->ended && ms < LIMIT_MS; ms += STEP_MS)
		assert_true(asterism_session_wait(fixture->session, STEP_MS) >= 0);
	assert_int_equal(fixture->noted, 4);
}

/* Somebody who does not care for children at all: the status is lost, nothing else. */
static void commands_may_be_reaped_elsewhere(void **state)
{
	char *const command[] = { "true", NULL };
	struct fixture *fixture = *state;

	signal(SIGCHLD, SIG_IGN);
	assert_int_equal(asterism_session_launch(fixture->session, command, NULL), 0);
	for (int ms = 0; !fixture->ended && ms < LIMIT_MS; ms += STEP_MS)
		assert_true(asterism_session_wait(fixture->session, STEP_MS) >= 0);
	signal(SIGCHLD, SIG_DFL);
	assert_true(fixture->ended > 0);
	assert_int_equal(fixture->status, -ECHILD);
}

static void the_own_process_is_not_observed(void **state)
{
	struct fixture *fixture = *state;
	struct asterism_session *all = fixture_open(fixture, ASTERISM_SCOPE_ALL);
	char text[256];

	snprintf(text, sizeof text, "RULE call PATTERN { [sys_enter_getppid:a] } WHERE { a.pid IN { %d, %d } }",
		 (int)getpid(), (int)fixture->puppet.pid);
	fixture_activate(all, fixture_load(all, text));
	syscall(SYS_getppid);
	assert_int_equal(puppet_call(&fixture->puppet, 2), 0);
	syscall(SYS_getppid);
	assert_int_equal(puppet_call(&fixture->puppet, 1), 0);
	fixture_await(fixture, all, 3);
	assert_int_equal(asterism_session_dispatch(all), 0);
	asterism_session_free(all);
}

/* Descendants belong to a tree, and only to a tree. */
static void scopes_differ(void **state)
{
	static const char text[] = "RULE child PATTERN { [sys_enter_exit_group:a] }\n";
	char *const command[] = { "sh", "-c", "(exit 1); exit 0", NULL };
	struct fixture *fixture = *state;
	struct asterism_session *pids = fixture_open(fixture, ASTERISM_SCOPE_PIDS);

	fixture_activate(pids, fixture_load(pids, text));
	assert_int_equal(asterism_session_launch(pids, command, NULL), 0);
	for (int ms = 0; !fixture->ended && ms < LIMIT_MS; ms += STEP_MS)
		assert_true(asterism_session_wait(pids, STEP_MS) >= 0);
	assert_int_equal(fixture->noted, 1);
	asterism_session_free(pids);
}

static void the_end_of_a_process_is_reported(void **state)
{
	struct fixture *fixture = *state;
	struct puppet puppet;

	assert_int_equal(puppet_start(&puppet), 0);
	assert_int_equal(asterism_session_add_process(fixture->session, puppet.pid), 0);
	puppet_stop(&puppet);
	for (int ms = 0; !fixture->ended && ms < LIMIT_MS; ms += STEP_MS)
		assert_true(asterism_session_wait(fixture->session, STEP_MS) >= 0);
	assert_int_equal(fixture->ended, puppet.pid);
	assert_int_equal(fixture->status, -ECHILD);
	fixture_activate(fixture->session, fixture_load(fixture->session, pair_text));
	assert_int_equal(puppet_call(&fixture->puppet, 1), 0);
	fixture_await(fixture, fixture->session, 1);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		case_of(options_are_checked),
		case_of(wrong_rules_are_reported),
		case_of(foreign_rules_name_installed_catalogs_only),
		case_of(wrong_states_are_refused),
		case_of(processes_are_checked),
		case_of(synchronous_rules_need_the_kernel),
		case_of(the_descriptor_wakes),
		case_of(a_callback_cannot_dispatch),
		case_of(a_callback_can_deactivate),
		case_of(a_callback_can_unload),
		case_of(a_callback_can_free),
		case_of(errors_of_callbacks_are_passed_on),
		case_of(errors_of_callbacks_lose_nothing),
		case_of(a_dispatch_comes_to_an_end),
		case_of(deadlines_wait_for_nobody),
		case_of(commands_are_launched),
		case_of(commands_may_be_reaped_elsewhere),
		case_of(the_own_process_is_not_observed),
		case_of(scopes_differ),
		case_of(the_end_of_a_process_is_reported),
	};

	if (geteuid() != 0) {
		printf("skipped: not root\n");
		return SKIPPED;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
