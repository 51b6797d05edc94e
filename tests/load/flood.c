// SPDX-License-Identifier: BSD-2-Clause
/* Raises one kind of event very often, then starts programs while the process that did so still lives, or still does.
 *
 * usage: flood KIND COUNT PROCESSES SECONDS stay|on -- PROGRAM [ARG...] [-- PROGRAM [ARG...]]...
 *
 * COUNT events come from one process; then one each from PROCESSES that live shortly; then as many as go for SECONDS,
 * from that one process again, which stays as it is, or goes on until the programs have ended. Each part ends after 90
 * s at the latest. Before each program, and at the end, the time is written (CLOCK_MONOTONIC, ns). All happens in a
 * network of its own, whose loopback works. The processes that raise events are called "flood", unless the kind gives
 * them names. The status is 0 when all programs ended with 0; 77 when one of them did. */

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <net/if.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PART_MAX_S 90
#define AT_ONCE    8 /* short-lived processes */
#define WAITERS    32
#define FD_FIRST   100

/* One event of the kind, the i-th of this process; of those that keep what they make, at most `kept` are alive. */
struct flood {
	const char *name;
	void (*begin)(long kept);
	void (*raise)(long i, long kept);
};

static int pair[2] = { -1, -1 };
static struct sockaddr_in server = { .sin_family = AF_INET };
static int listening;

static void fail(const char *what)
{
	fprintf(stderr, "flood: %s: %s\n", what, strerror(errno));
	exit(1);
}

static long now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000L + time.tv_nsec;
}

static void receive_begin(long kept)
{
	(void)kept;
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
		fail("socketpair");
}

static void receive(long i, long kept)
{
	char byte = 0;

	(void)i, (void)kept;
	if (send(pair[0], &byte, 1, 0) != 1 || recv(pair[1], &byte, 1, 0) != 1)
		fail("recv");
}

static char path[4096];

static void open_begin(long kept)
{
	(void)kept;
	if (!getcwd(path, sizeof path - 16))
		fail("getcwd");
	strcat(path, "/secret-flood");
}

/* A file of the working directory with a name that rules look for, for writing. */
static void open_file(long i, long kept)
{
	int fd = open(path, O_WRONLY | O_CREAT, 0600);

	(void)i, (void)kept;
	if (fd < 0)
		fail("open");
	close(fd);
}

/* Nobody listens, at another address each time. */
static void refused(long i, long kept)
{
	struct sockaddr_in there = { .sin_family = AF_INET, .sin_port = htons(9) };
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	(void)kept;
	there.sin_addr.s_addr = htonl(0x7f000000 | (unsigned int)((i * 64 + getpid() % 64 + 2) & 0xfffffe));
	if (fd < 0 || connect(fd, (struct sockaddr *)&there, sizeof there) == 0 || errno != ECONNREFUSED)
		fail("connect");
	close(fd);
}

static void accepted_begin(long kept)
{
	socklen_t size = sizeof server;

	(void)kept;
	listening = socket(AF_INET, SOCK_STREAM, 0);
	server.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (listening < 0 || bind(listening, (struct sockaddr *)&server, size) || listen(listening, 64) ||
	    getsockname(listening, (struct sockaddr *)&server, &size))
		fail("listen");
}

/* Connections that are made, and leave no port behind that waits. */
static void accepted(long i, long kept)
{
	const struct linger none = { .l_onoff = 1 };
	int there, fd = socket(AF_INET, SOCK_STREAM, 0);

	(void)i, (void)kept;
	if (fd < 0 || connect(fd, (struct sockaddr *)&server, sizeof server) ||
	    (there = accept(listening, NULL, NULL)) < 0)
		fail("connect");
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &none, sizeof none);
	close(fd);
	close(there);
}

static void downloaded_begin(long kept)
{
	accepted_begin(kept);
	open_begin(kept);
}

/* A connection, and a new file of the working directory after it. */
static void downloaded(long i, long kept)
{
	static char file[sizeof path + 32];
	int fd;

	accepted(i, kept);
	snprintf(file, sizeof file, "%s-%d-%ld", path, (int)getpid(), i);
	fd = open(file, O_WRONLY | O_CREAT, 0600);
	if (fd < 0)
		fail("open");
	close(fd);
	unlink(file);
}

static long descriptors; /* as many as this process may have */

static void many_descriptors(long kept)
{
	struct rlimit limit = { (rlim_t)kept + FD_FIRST + 64, (rlim_t)kept + FD_FIRST + 64 };

	if (setrlimit(RLIMIT_NOFILE, &limit)) {
		if (getrlimit(RLIMIT_NOFILE, &limit))
			fail("getrlimit");
		limit.rlim_cur = limit.rlim_max;
		if (setrlimit(RLIMIT_NOFILE, &limit))
			fail("setrlimit");
	}
	descriptors = (long)limit.rlim_cur - FD_FIRST - 64;
	if (descriptors > kept)
		descriptors = kept;
}

/* Where a process may not have so many, a child goes on from there, and the parent stays as it is. */
static void go_on_in_child(void)
{
	pid_t child = fork();

	if (child < 0)
		fail("fork");
	while (child > 0)
		pause();
	prctl(PR_SET_PDEATHSIG, SIGKILL);
}

static void duplicate(long i, long kept)
{
	int fd = FD_FIRST + (int)(i % descriptors);

	if (i > 0 && i < kept && i % descriptors == 0)
		go_on_in_child();
	if (dup2(0, fd) != fd)
		fail("dup2");
	close(fd);
}

static void change_user(long i, long kept)
{
	(void)i, (void)kept;
	if (setresuid(-1, 65534, -1) || setresuid(-1, 0, -1))
		fail("setresuid");
}

static unsigned int held_word = 2;

/* So many threads wait for one futex as long as the process lives. */
static void *wait_on(void *context)
{
	for (;;)
		syscall(SYS_futex, context, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 2, NULL, NULL, 0);
	return NULL;
}

static void wait_begin(long kept)
{
	pthread_t thread;

	for (int i = 0; i < WAITERS && kept > 1; i++)
		if (pthread_create(&thread, NULL, wait_on, &held_word))
			fail("pthread_create");
}

/* As a contended mutex of the C library waits, which thread 1 has; it is free by then. */
static void wait_shortly(long i, long kept)
{
	const unsigned int mutex[6] = { [2] = 1, [3] = 1 };

	(void)i, (void)kept;
	syscall(SYS_futex, mutex, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 2, NULL, NULL, 0);
}

static void sleep_shortly(long i, long kept)
{
	const struct timespec soon = { 0, 1 };

	(void)i, (void)kept;
	nanosleep(&soon, NULL);
}

static pthread_mutex_t *mutexes;

static void mutex_begin(long kept)
{
	mutexes = calloc((size_t)kept * 2, sizeof *mutexes);
	if (!mutexes)
		fail("calloc");
	for (long i = 0; i < kept * 2; i++)
		pthread_mutex_init(&mutexes[i], NULL);
}

/* Mutexes that stay locked. */
static void lock(long i, long kept)
{
	if (i >= kept)
		pthread_mutex_unlock(&mutexes[i % kept]);
	pthread_mutex_lock(&mutexes[i % kept]);
}

/* Pairs of mutexes, each taken in its right order. */
static void nest(long i, long kept)
{
	pthread_mutex_t *outer = &mutexes[i % kept * 2];

	pthread_mutex_lock(outer);
	pthread_mutex_lock(outer + 1);
	pthread_mutex_unlock(outer + 1);
	pthread_mutex_unlock(outer);
}

static void jail_begin(long kept)
{
	(void)kept;
	if ((mkdir("jail-flood", 0700) && errno != EEXIST) || chroot("jail-flood") || chdir("/"))
		fail("chroot");
}

/* Changes its root directory again, and opens what is within. */
static void jail(long i, long kept)
{
	int fd;

	(void)i, (void)kept;
	if (chroot(".") || (fd = open(".", O_RDONLY)) < 0)
		fail("chroot");
	close(fd);
}

static void take_name(long i, long kept)
{
	char name[16];

	(void)kept;
	snprintf(name, sizeof name, "share10-%ld", i % 1000);
	prctl(PR_SET_NAME, name);
	prctl(PR_SET_NAME, "flood");
}

/* A child that does so, and ends. */
static void in_child(void (*act)(long i), long i)
{
	pid_t child = fork();

	if (child < 0)
		fail("fork");
	if (child == 0) {
		act(i);
		_exit(3);
	}
	while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
}

static void nothing(long i)
{
	(void)i;
}

static void fork_only(long i, long kept)
{
	(void)kept;
	in_child(nothing, i);
}

static void rename_self(long i)
{
	char name[16];

	snprintf(name, sizeof name, "f%d-%ld", getpid() % 1000, i);
	prctl(PR_SET_NAME, name);
}

/* Fails under a name of its own. */
static void fail_named(long i, long kept)
{
	(void)kept;
	in_child(rename_self, i);
}

static void copy_true(long kept)
{
	(void)kept;
	if (system("cp -n /bin/true ./flooding"))
		fail("cp");
}

static void run_copy(long i)
{
	(void)i;
	execl("./flooding", "flood", NULL);
}

/* A program from a folder for temporary files. */
static void run_program(long i, long kept)
{
	(void)kept;
	in_child(run_copy, i);
}

static int connection;

static void connection_begin(long kept)
{
	const struct sockaddr_in there = { .sin_family = AF_INET, .sin_port = htons(9) };

	copy_true(kept);
	connection = socket(AF_INET, SOCK_DGRAM, 0);
	if (connection < 0 || connect(connection, (const struct sockaddr *)&there, sizeof there))
		fail("connect");
}

static void run_connected(long i)
{
	if (dup2(connection, 0) || dup2(connection, 1) != 1)
		fail("dup2");
	run_copy(i);
}

/* A program with a connection as its input and output. */
static void run_on_connection(long i, long kept)
{
	(void)kept;
	in_child(run_connected, i);
}

static int *pipes; /* what is read from */

static void pipes_begin(long kept)
{
	int out[2];

	many_descriptors(kept);
	pipes = calloc((size_t)descriptors, sizeof *pipes);
	if (!pipes || pipe(out) || dup2(out[1], 1) != 1)
		fail("pipes");
}

/* Asks for a connection with another pipe as its input each time; its output is a pipe, too. */
static void connect_piped(long i, long kept)
{
	int *in = &pipes[i % descriptors], made[2];

	if (!*in) {
		if (pipe(made))
			fail("pipe");
		close(made[1]);
		*in = made[0];
	}
	if (dup2(*in, 0))
		fail("dup2");
	refused(i, kept);
}

static const struct flood floods[] = {
	{ "receive", receive_begin, receive },
	{ "open", open_begin, open_file },
	{ "refused", NULL, refused },
	{ "accepted", accepted_begin, accepted },
	{ "downloaded", downloaded_begin, downloaded },
	{ "descriptor", many_descriptors, duplicate },
	{ "user", NULL, change_user },
	{ "futex", wait_begin, wait_shortly },
	{ "sleep", NULL, sleep_shortly },
	{ "mutex", mutex_begin, lock },
	{ "nested", mutex_begin, nest },
	{ "jail", jail_begin, jail },
	{ "name", NULL, take_name },
	{ "fork", NULL, fork_only },
	{ "fail", NULL, fail_named },
	{ "exec", copy_true, run_program },
	{ "connected", connection_begin, run_on_connection },
	{ "piped", pipes_begin, connect_piped },
};

static void loopback_up(void)
{
	struct ifreq request = { .ifr_name = "lo", .ifr_flags = IFF_UP };
	int fd;

	if (unshare(CLONE_NEWNET))
		fail("a network of its own");
	fd = socket(AF_INET, SOCK_DGRAM, 0);
	if (fd < 0 || ioctl(fd, SIOCSIFFLAGS, &request))
		fail("lo");
	close(fd);
}

/* One process each, a few at a time. */
static long many(const struct flood *flood, long processes)
{
	long begun = now_ns(), i = 0;

	for (; i < processes && now_ns() - begun < PART_MAX_S * 1000000000L; i++) {
		pid_t child = fork();

		if (child < 0)
			fail("fork");
		if (child == 0) {
			if (flood->begin)
				flood->begin(1);
			flood->raise(i, 1);
			_exit(0);
		}
		if (i >= AT_ONCE)
			wait(NULL);
	}
	while (wait(NULL) > 0)
		;
	return i;
}

static long raise_all(const struct flood *flood, long count, long from, long seconds)
{
	long kept = count > 0 ? count : 1, begun = now_ns(), i = from;

	for (; seconds > 0 || i < count; i++) {
		if (now_ns() - begun >= (seconds > 0 ? seconds : PART_MAX_S) * 1000000000L)
			break;
		flood->raise(i, kept);
	}
	return i - from;
}

struct wanted {
	const struct flood *flood;
	long count, processes, seconds;
	bool goes_on;
};

/* Raises all, says so by a byte, and stays, or goes on, until it is killed. */
static void raise_and_stay(const struct wanted *wanted, int ready)
{
	const struct flood *flood = wanted->flood;
	long one, others, more = 0;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "flood");
	/* The short-lived ones come first where the other process changes itself, but are told in the order of the
	 * usage. */
	others = many(flood, wanted->processes);
	if (flood->begin)
		flood->begin(wanted->count > 0 ? wanted->count : 1);
	one = raise_all(flood, wanted->count, 0, 0);
	if (wanted->seconds > 0)
		more = raise_all(flood, wanted->count, one, wanted->seconds);
	dprintf(2, "flood: %s: %ld by one process, %ld by as many processes, %ld at full speed\n", flood->name, one,
		others, more);
	if (write(ready, "", 1) != 1)
		_exit(1);
	if (wanted->goes_on)
		raise_all(flood, wanted->count, one + more, 24L * 3600);
	for (;;)
		pause();
}

static int run(char **program)
{
	int status;
	pid_t child = fork();

	if (child < 0)
		fail("fork");
	if (child == 0) {
		execv(program[0], program);
		fail(program[0]);
	}
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			fail("waitpid");
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int run_programs(char **argv)
{
	int worst = 0;

	while (*argv) {
		char **end = argv;
		bool is_last;
		int status;

		while (*end && strcmp(*end, "--") != 0)
			end++;
		is_last = !*end;
		*end = NULL;
		printf("%ld\n", now_ns());
		fflush(stdout);
		status = run(argv);
		if (status > worst)
			worst = status;
		argv = end + !is_last;
	}
	printf("%ld\n", now_ns());
	return worst;
}

int main(int argc, char **argv)
{
	struct wanted wanted = { 0 };
	int ready[2], status;
	char byte;
	pid_t child;

	if (argc < 8 || strcmp(argv[6], "--") != 0)
		return 2;
	for (size_t i = 0; i < sizeof floods / sizeof *floods; i++)
		if (strcmp(floods[i].name, argv[1]) == 0)
			wanted.flood = &floods[i];
	if (!wanted.flood)
		return 2;
	wanted.count = atol(argv[2]);
	wanted.processes = atol(argv[3]);
	wanted.seconds = atol(argv[4]);
	wanted.goes_on = strcmp(argv[5], "on") == 0;
	loopback_up();
	if (pipe2(ready, O_CLOEXEC))
		fail("pipe");
	child = fork();
	if (child < 0)
		fail("fork");
	if (child == 0) {
		close(ready[0]);
		raise_and_stay(&wanted, ready[1]);
	}
	close(ready[1]);
	if (read(ready[0], &byte, 1) != 1)
		return 1;
	status = run_programs(argv + 7);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	return status;
}
