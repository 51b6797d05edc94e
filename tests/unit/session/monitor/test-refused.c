// SPDX-License-Identifier: BSD-2-Clause
/* A policy that is not permitted: CAP_SYS_NICE is said to be missing only where that is why. */

#include "session/monitor/refused.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

static void expect(enum schedule_policy policy, const struct refused_facts *facts, const char *words)
{
	struct asterism_diag *diag = asterism_diag_new();

	assert_int_equal(refused_tell(policy, facts, diag), -EPERM);
	const char *text = asterism_diag_get(diag, 0)->text;

	assert_non_null(strstr(text, words));
	assert_true(!strstr(text, "CAP_SYS_NICE") || strstr(words, "CAP_SYS_NICE"));
	asterism_diag_free(diag);
}

static void test_causes(void **state)
{
	static const struct {
		struct refused_facts facts;
		const char *fifo, *deadline;
	} cases[] = {
		{ { false, false, 0, 950000, 950000 }, "CAP_SYS_NICE is missing", "CAP_SYS_NICE is missing" },
		{ { false, true, 10, 0, 0 }, "priority, 40, is above RLIMIT_RTPRIO, 10", "CAP_SYS_NICE is missing" },
		{ { false, false, 40, 0, -1 }, "its cgroup has no real-time budget", "CAP_SYS_NICE is missing" },
		{ { false, false, 99, -1, -1 }, "SCHED_FIFO is not permitted here", "CAP_SYS_NICE is missing" },
		{ { true, false, 0, 0, 950000 }, "its cgroup has no real-time budget", "is not permitted here" },
		{ { true, true, 0, -1, 950000 }, "is not permitted here", "only some of the CPUs" },
		{ { true, true, 0, -1, 0 }, "is not permitted here", "the system has no real-time budget" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		expect(SCHEDULE_FIFO, &cases[i].facts, cases[i].fifo);
		expect(SCHEDULE_DEADLINE, &cases[i].facts, cases[i].deadline);
	}
}

/* From here on both calls are refused by a filter, whatever the thread may do. */
static void confine(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sched_setattr, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_capget, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof filter / sizeof *filter, filter };

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		_exit(77);
}

static void test_filter(void **state)
{
	const struct schedule schedule = { .policy = SCHEDULE_DEADLINE, 100000, 1000000, 1000000, false };
	int status;
	pid_t pid = fork();

	(void)state;
	if (pid == 0) {
		struct asterism_diag *diag = asterism_diag_new();

		confine();
		if (schedule_enter(&schedule, diag) != -EPERM)
			_exit(1);
		_exit(strstr(asterism_diag_get(diag, 0)->text, "is missing") ? 2 : 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WEXITSTATUS(status) == 77)
		skip();
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_causes), cmocka_unit_test(test_filter) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
