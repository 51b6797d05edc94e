// SPDX-License-Identifier: BSD-2-Clause
/* Ends of processes and threads: each is reported once, and nothing stays open. */

#include "session/seccomp/ends.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static pid_t sleeping_child(void)
{
	pid_t child = fork();

	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	assert_true(child > 0);
	return child;
}

static void end_child(pid_t child)
{
	assert_int_equal(kill(child, SIGKILL), 0);
	assert_int_equal(waitpid(child, NULL, 0), child);
}

static struct ends_task process(pid_t pid)
{
	return (struct ends_task){ pid, pid };
}

static int first_free_fd(void)
{
	int fd = dup(0);

	close(fd);
	return fd;
}

static void test_processes(void **state)
{
	int free_fd = first_free_fd();
	pid_t children[100];
	struct ends_task ended;
	struct ends ends;

	(void)state;
	assert_int_equal(ends_init(&ends), 0);
	for (int i = 0; i < 100; i++) {
		children[i] = sleeping_child();
		assert_int_equal(ends_watch(&ends, process(children[i])), 0);
		assert_int_equal(ends_watch(&ends, process(children[i])), 0);
	}
	assert_false(ends_next(&ends, &ended));
	for (int i = 0; i < 50; i++) {
		end_child(children[i]);
		assert_int_equal(poll(&(struct pollfd){ .fd = ends_fd(&ends), .events = POLLIN }, 1, 0), 1);
		assert_true(ends_next(&ends, &ended));
		assert_int_equal(ended.pid, children[i]);
		assert_int_equal(ended.tid, children[i]);
		assert_false(ends_next(&ends, &ended));
	}
	ends_fini(&ends);
	for (int i = 50; i < 100; i++)
		end_child(children[i]);
	assert_int_equal(first_free_fd(), free_fd);
}

static void *wait_to_end(void *pipe)
{
	char byte;

	((int *)pipe)[2] = gettid();
	if (write(((int *)pipe)[1], "x", 1) != 1 || read(((int *)pipe)[3], &byte, 1) != 0)
		return pipe;
	return NULL;
}

static void test_threads(void **state)
{
	int started[2], go[2], shared[4];
	struct ends_task ended;
	struct ends ends;
	pthread_t thread;
	char byte;
	int result;

	(void)state;
	assert_int_equal(pipe(started) | pipe(go), 0);
	shared[1] = started[1];
	shared[3] = go[0];
	assert_int_equal(pthread_create(&thread, NULL, wait_to_end, shared), 0);
	assert_int_equal(read(started[0], &byte, 1), 1);
	assert_int_equal(ends_init(&ends), 0);
	result = ends_watch(&ends, (struct ends_task){ getpid(), shared[2] });
	close(go[1]);
	pthread_join(thread, NULL);
	if (result == -EINVAL) { /* before Linux 6.9 */
		ends_fini(&ends);
		skip();
	}
	assert_int_equal(result, 0);
	assert_int_equal(poll(&(struct pollfd){ .fd = ends_fd(&ends), .events = POLLIN }, 1, 10000), 1);
	assert_true(ends_next(&ends, &ended));
	assert_int_equal(ended.pid, getpid());
	assert_int_equal(ended.tid, shared[2]);
	assert_false(ends_next(&ends, &ended));
	ends_fini(&ends);
	close(started[0]);
	close(started[1]);
	close(go[0]);
}

static void test_what_cannot_be_watched(void **state)
{
	struct rlimit before, none = { 0, 0 };
	pid_t child = sleeping_child(), gone = sleeping_child();
	struct ends ends;

	(void)state;
	end_child(gone);
	assert_int_equal(ends_init(&ends), 0);
	assert_int_equal(ends_watch(&ends, process(0)), -EINVAL);
	assert_int_equal(ends_watch(&ends, process(1 << 22)), -EINVAL);
	assert_int_equal(ends_watch(&ends, process(gone)), -ESRCH);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none.rlim_max = before.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	assert_int_equal(ends_watch(&ends, process(child)), -EMFILE);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_int_equal(ends_watch(&ends, process(child)), 0);
	ends_fini(&ends);
	end_child(child);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_processes),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_what_cannot_be_watched),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
