// SPDX-License-Identifier: BSD-2-Clause
/*
 * A thread pool that grows when its own jobs wait: not by a guess at how many threads are right, but because the
 * constellation "a job was put into the queue, and nobody took one" (pool.rule) has happened.
 *
 *   pool [JOBS [MILLISECONDS]]      so many jobs (60), each of which takes so long (20)
 *   pool --fixed [JOBS [MILLISECONDS]]    the same with one thread, for comparison
 *
 * A session never observes the process that holds it. So the pool forks an observer before it makes any threads; the
 * observer watches this process, and writes a byte to a pipe for each match. Nothing can feed back: what the observer
 * does is not observed, and what the pool does because of a match - read the pipe, make a thread - is no event of the
 * rule. Growing makes the constellation rarer, and the pool has a limit besides. The observer ends with the pool,
 * however that ends.
 */

#include "pool.rule.h"

#include <asterism/asterism.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { WORKERS_MAX = 16, PAUSE_MS = 2 };

static const char ready = 'r', waiting = 'w';

/* The observer. */

struct observer {
	int to_pool;
	int gone;
};

static int on_match(void *context, const struct asterism_match *match)
{
	struct observer *observer = context;
	struct job_waits_values values;

	if (job_waits_values_get(match, &values) < 0)
		return -EINVAL;
	if (write(observer->to_pool, &waiting, 1) != 1 && errno != EAGAIN)
		return -errno;
	return ASTERISM_CONTINUE;
}

static void on_exit_of_pool(void *context, pid_t pid, int status)
{
	struct observer *observer = context;

	(void)pid;
	(void)status;
	observer->gone = 1;
}

static int fail(const struct asterism_session *session)
{
	fprintf(stderr, "pool: %s\n", asterism_session_error(session));
	return 1;
}

static int observe(struct observer *observer, pid_t pool)
{
	struct asterism_session_options options = {
		.size = sizeof options,
		.scope = ASTERISM_SCOPE_PIDS,
		.on_match = on_match,
		.on_exit = on_exit_of_pool,
		.context = observer,
	};
	struct asterism_session *session;
	struct asterism_rules *rules;
	int result = 0;

	if (asterism_session_open(&options, NULL, &session) < 0)
		return 1;
	if (asterism_session_add_process(session, pool) < 0 ||
	    asterism_rules_load_file(session, "pool.rule", &rules) < 0 || asterism_rules_activate(rules) < 0)
		result = fail(session);
	else if (write(observer->to_pool, &ready, 1) != 1)
		result = 1;
	while (!result && !observer->gone) {
		if (asterism_session_wait(session, -1) < 0)
			result = fail(session);
	}
	asterism_session_free(session);
	return result;
}

/* Returns the end of the pipe that tells of matches, or -1. */
static int start_observer(void)
{
	pid_t pool = getpid(), pid;
	int ends[2];
	char answer = 0;

	if (pipe(ends) || (pid = fork()) < 0)
		return -1;
	if (pid == 0) {
		struct observer observer = { .to_pool = ends[1] };

		close(ends[0]);
		fcntl(ends[1], F_SETFL, O_NONBLOCK); /* a pool that does not listen must not block it */
		_exit(observe(&observer, pool));
	}
	close(ends[1]);
	if (read(ends[0], &answer, 1) != 1 || answer != ready) {
		waitpid(pid, NULL, 0);
		return -1;
	}
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	return ends[0];
}

/* The pool: jobs are packets of a socket pair, so putting one is sendto, and taking one recvfrom. */

struct pool {
	int put, take;
	pthread_t workers[WORKERS_MAX];
	int worker_count;
	long job_ms;
};

static void sleep_ms(long ms)
{
	const struct timespec time = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };

	nanosleep(&time, NULL);
}

/* A job of 0 ends the worker. */
static void *work(void *context)
{
	struct pool *pool = context;
	long job, done = 0;

	while (recv(pool->take, &job, sizeof job, 0) == sizeof job && job) {
		sleep_ms(pool->job_ms);
		done++;
	}
	return (void *)done;
}

static void grow(struct pool *pool)
{
	if (pool->worker_count < WORKERS_MAX &&
	    pthread_create(&pool->workers[pool->worker_count], NULL, work, pool) == 0)
		pool->worker_count++;
}

/* One thread for however many jobs were seen waiting since the last look. */
static void adapt(struct pool *pool, int matches_fd)
{
	char bytes[64];

	if (matches_fd >= 0 && read(matches_fd, bytes, sizeof bytes) > 0)
		grow(pool);
}

static long finish(struct pool *pool)
{
	const long end = 0;
	long sum = 0;
	void *done;

	for (int i = 0; i < pool->worker_count; i++)
		send(pool->put, &end, sizeof end, 0);
	for (int i = 0; i < pool->worker_count; i++) {
		pthread_join(pool->workers[i], &done);
		sum += (long)done;
	}
	return sum;
}

int main(int argc, char **argv)
{
	int fixed = argc > 1 && strcmp(argv[1], "--fixed") == 0, queue[2], matches_fd = -1;
	long jobs = argc > 1 + fixed ? strtol(argv[1 + fixed], NULL, 10) : 60;
	struct pool pool = { .job_ms = argc > 2 + fixed ? strtol(argv[2 + fixed], NULL, 10) : 20 };

	if (!fixed && (matches_fd = start_observer()) < 0)
		return 1;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, queue))
		return 1;
	pool.put = queue[0];
	pool.take = queue[1];
	grow(&pool);
	for (long job = 1; job <= jobs; job++) {
		if (send(pool.put, &job, sizeof job, 0) != sizeof job)
			return 1;
		sleep_ms(PAUSE_MS);
		adapt(&pool, matches_fd);
	}
	int workers = pool.worker_count;

	printf("%ld jobs done by %d thread%s\n", finish(&pool), workers, workers == 1 ? "" : "s");
	return 0;
}
