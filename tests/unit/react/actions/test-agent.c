// SPDX-License-Identifier: BSD-2-Clause
/* What the agent does to processes of the test's own: whom it refuses, how often, what it undoes. */

#include "child.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/proc.h"
#include "react/actions/agent.h"

#include <errno.h>
#include <linux/sched.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { STATEMENTS = 3 };

static bool only(void *context, int pid)
{
	return pid == *(const pid_t *)context;
}

static struct react_agent *new_agent(const struct react_agent_options *given)
{
	struct react_agent_options options = *given;
	struct react_agent *agent = NULL;

	options.statement_count = STATEMENTS;
	assert_int_equal(react_agent_new(&options, NULL, &agent), 0);
	return agent;
}

/* Calls an action on target with one more number; statement 0. */
static int act(struct react_agent *agent, const char *name, int64_t target, int64_t number, struct react_call *call)
{
	static struct react_value values[2];

	values[0] = (struct react_value){ .kind = REACT_I64, .i64 = target };
	values[1] = (struct react_value){ .kind = REACT_I64, .i64 = number };
	*call = (struct react_call){ .action = react_find(name), .rule = "r", .args = values, .arg_count = 2 };
	assert_non_null(call->action);
	return react_agent_perform(agent, call);
}

static void whom_it_refuses(void **state)
{
	pid_t pid = spawn(), none = -1;
	struct react_agent *agent = new_agent(&(struct react_agent_options){ .in_scope = only, .context = &none });
	struct react_call call;

	(void)state;
	assert_int_equal(act(agent, "Kill", 1, 0, &call), -EPERM);
	assert_string_equal(call.why, "actions never affect process 1");
	assert_int_equal(act(agent, "Kill", getpid(), 0, &call), -EPERM);
	assert_string_equal(call.why, "actions never affect asterism itself");
	assert_int_equal(act(agent, "Kill", pid, 0, &call), -EPERM);
	assert_non_null(strstr(call.why, "is out of scope"));
	assert_int_equal(act(agent, "Kill", 0, 0, &call), -ESRCH);
	assert_int_equal(act(agent, "Kill", -1, 0, &call), -ESRCH);
	assert_int_equal(act(agent, "Kill", INT64_C(1) << 32 | pid, 0, &call), -ESRCH);
	assert_int_equal(act(agent, "Freeze", 1, 0, &call), -EPERM);
	none = pid;
	assert_int_equal(act(agent, "Signal", pid, 0, &call), -EINVAL);
	assert_int_equal(act(agent, "Signal", pid, 65, &call), -EINVAL);
	assert_int_equal(kill(pid, 0), 0);
	assert_int_equal(act(agent, "Kill", pid, 0, &call), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	react_agent_free(agent);
}

static void foreign_ids_name_nobody(void **state)
{
	struct react_agent *agent = new_agent(&(struct react_agent_options){ .anywhere = true, .foreign_ids = true });
	pid_t pid = spawn();
	struct react_call call;

	(void)state;
	assert_int_equal(act(agent, "Kill", pid, 0, &call), -EOPNOTSUPP);
	assert_non_null(strstr(call.why, "pid namespace"));
	assert_int_equal(act(agent, "BoostThreadPriority", pid, 10, &call), -EOPNOTSUPP);
	react_agent_free(agent);
	end(pid);
}

static void stopped_go_on_at_the_end(void **state)
{
	struct react_agent *agent = new_agent(&(struct react_agent_options){ .anywhere = true });
	pid_t pid = spawn();
	struct react_call call;
	int status;

	(void)state;
	assert_int_equal(act(agent, "Stop", pid, 0, &call), 0);
	assert_int_equal(act(agent, "Stop", pid, 0, &call), 0);
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	assert_int_equal(undo_count(react_agent_undo(agent)), 1);
	assert_int_equal(act(agent, "Continue", pid, 0, &call), 0);
	assert_int_equal(waitpid(pid, &status, WCONTINUED), pid);
	assert_int_equal(undo_count(react_agent_undo(agent)), 0);
	/* What the kernel has done is remembered as well. */
	kill(pid, SIGSTOP);
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	call.action = react_find("Stop");
	assert_int_equal(react_agent_note(agent, &call), 0);
	assert_int_equal(undo_count(react_agent_undo(agent)), 1);
	react_agent_free(agent);
	assert_int_equal(waitpid(pid, &status, WCONTINUED), pid);
	end(pid);
}

static void boosts_end(void **state)
{
	struct react_agent *agent = new_agent(&(struct react_agent_options){ .anywhere = true });
	pid_t pid = spawn();
	int before = getpriority(PRIO_PROCESS, (id_t)pid);
	struct react_call call;
	uint64_t wait_ns, now;

	(void)state;
	if (geteuid() != 0) {
		end(pid);
		react_agent_free(agent);
		skip();
	}
	assert_int_equal(act(agent, "BoostThreadPriority", pid, 10, &call), 0);
	assert_int_equal(act(agent, "BoostThreadPriority", pid, 30, &call), 0);
	assert_int_equal(getpriority(PRIO_PROCESS, (id_t)pid), -11);
	now = clock_now_ns();
	react_agent_poll(agent, now, &wait_ns);
	assert_true(wait_ns <= 100000000);
	react_agent_poll(agent, now + 200000000, &wait_ns);
	assert_true(wait_ns == UINT64_MAX);
	assert_int_equal(getpriority(PRIO_PROCESS, (id_t)pid), before);
	assert_int_equal(undo_count(react_agent_undo(agent)), 0);
	/* A priority that is set for good while there is a boost stays. */
	assert_int_equal(act(agent, "BoostThreadPriority", pid, 30, &call), 0);
	assert_int_equal(act(agent, "SetThreadPriority", pid, 12, &call), 0);
	react_agent_free(agent);
	assert_int_equal(getpriority(PRIO_PROCESS, (id_t)pid), 7);
	end(pid);
}

/* Whatever was done to a thread before, and however often: at the end it is scheduled as it was found. */
static void shares_are_undone(void **state)
{
	struct react_agent *agent = new_agent(&(struct react_agent_options){ .anywhere = true });
	pid_t pid = spawn();
	int before = getpriority(PRIO_PROCESS, (id_t)pid), refused;
	struct react_call call;
	uint64_t wait_ns;

	(void)state;
	refused = act(agent, "ShareCpu", pid, 5, &call);
	if (geteuid() != 0 || refused == -EBUSY) {
		end(pid);
		react_agent_free(agent);
		skip();
	}
	assert_int_equal(refused, 0);
	assert_int_equal(act(agent, "ShareCpu", pid, 10, &call), 0);
	assert_int_equal(undo_count(react_agent_undo(agent)), 1);
	react_agent_free(agent);
	assert_int_equal(sched_getscheduler(pid), SCHED_OTHER);

	agent = new_agent(&(struct react_agent_options){ .anywhere = true });
	assert_int_equal(act(agent, "BoostThreadPriority", pid, 30, &call), 0);
	assert_int_equal(act(agent, "ShareCpu", pid, 5, &call), 0);
	react_agent_poll(agent, clock_now_ns() + 200000000,
			 &wait_ns); /* the share stays when the boost would be over */
	assert_int_equal(sched_getscheduler(pid) & ~SCHED_RESET_ON_FORK, SCHED_DEADLINE);
	react_agent_free(agent);
	assert_int_equal(sched_getscheduler(pid), SCHED_OTHER);
	assert_int_equal(getpriority(PRIO_PROCESS, (id_t)pid), before);
	end(pid);
}

static void too_often_is_counted(void **state)
{
	struct react_agent *agent = new_agent(&(struct react_agent_options){ .anywhere = true });
	struct react_value command = { .kind = REACT_STRING, .text = "true" };
	struct react_call call = { .action = react_find("Exec"), .rule = "r", .args = &command, .arg_count = 1 };
	uint64_t refused = 0;
	pid_t other = spawn();
	const char *why;

	(void)state;
	for (int i = 0; i < 50; i++) {
		int result = react_agent_perform(agent, &call);

		assert_true(result == 0 || result == -EAGAIN);
		refused += result != 0;
	}
	assert_true(refused > 0);
	assert_int_equal(react_agent_refused(agent, 0, &why), refused);
	assert_true(strstr(why, "more than 10 a second") || strstr(why, "8 instances of it are still running"));
	assert_int_equal(react_agent_refused(agent, 1, &why), 0);
	call.statement = 1;
	assert_int_equal(react_agent_perform(agent, &call), 0);
	react_agent_free(agent);
	/* All commands were waited for, and nobody else was. */
	assert_int_equal(waitpid(other, NULL, WNOHANG), 0);
	end(other);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

static void memory_is_short(void **state)
{
	struct react_agent_options options = { .anywhere = true, .statement_count = STATEMENTS };
	struct react_value values[] = { { .kind = REACT_STRING, .text = "true" }, { .kind = REACT_I64, .i64 = 1 } };
	int result = -1;

	(void)state;
	for (unsigned long n = 1; result; n++) {
		struct react_agent *agent = NULL;
		struct react_call call = { .action = react_find("Exec"), .args = values, .arg_count = 2, .rule = "r" };

		alloc_fail_at(n);
		result = react_agent_new(&options, NULL, &agent);
		if (!result)
			result = react_agent_perform(agent, &call);
		alloc_fail_at(0);
		assert_true(result == 0 || result == -ENOMEM);
		react_agent_free(agent);
		assert_true(n < 20);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whom_it_refuses),          cmocka_unit_test(foreign_ids_name_nobody),
		cmocka_unit_test(stopped_go_on_at_the_end), cmocka_unit_test(boosts_end),
		cmocka_unit_test(shares_are_undone),        cmocka_unit_test(too_often_is_counted),
		cmocka_unit_test(memory_is_short),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
