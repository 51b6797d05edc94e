// SPDX-License-Identifier: BSD-2-Clause
/*
 * Many threads wait in open() of a FIFO, each by a name on a page of its own that nobody has touched:
 * `untouched-crowd COUNT FIFO release|kill`. When all wait they are let go on, or the process kills itself.
 */

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PAGE = 4096, STACK = 32 << 10, SPARE = 64 };

struct opener {
	pthread_t thread;
	const char *path;
	int tid;
};

static void check(int bad, const char *what)
{
	if (bad) {
		perror(what);
		_exit(99);
	}
}

static void *open_it(void *context)
{
	struct opener *opener = context;

	__atomic_store_n(&opener->tid, (int)syscall(SYS_gettid), __ATOMIC_RELEASE);
	check(syscall(SYS_openat, AT_FDCWD, opener->path, O_RDONLY, 0) < 0, "openat");
	return NULL;
}

/* Whether the thread is in openat, and waits. */
static int waits(const struct opener *opener)
{
	int tid = __atomic_load_n(&opener->tid, __ATOMIC_ACQUIRE);
	char name[64], text[64];

	snprintf(name, sizeof name, "/proc/self/task/%d/syscall", tid);
	int fd = tid ? open(name, O_RDONLY) : -1;
	ssize_t count = fd < 0 ? 0 : read(fd, text, sizeof text - 1);

	if (fd >= 0)
		close(fd);
	text[count > 0 ? count : 0] = '\0';
	return atoi(text) == SYS_openat;
}

static void start(struct opener *openers, int count, const char *path)
{
	char name[] = "/tmp/untouched-XXXXXX";
	pthread_attr_t attributes;
	int fd = mkstemp(name);

	check(fd < 0 || unlink(name) || write(fd, path, strlen(path) + 1) < 0 || ftruncate(fd, PAGE), "a file");
	check(pthread_attr_init(&attributes) || pthread_attr_setstacksize(&attributes, STACK), "attributes");
	for (int i = 0; i < count; i++) {
		openers[i].path = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, fd, 0);
		check(openers[i].path == MAP_FAILED, "mmap");
		check(pthread_create(&openers[i].thread, &attributes, open_it, &openers[i]), "pthread_create");
	}
}

int main(int count, char **args)
{
	int openers_count = count == 4 ? atoi(args[1]) : 0;
	struct opener *openers = calloc((size_t)openers_count + 1, sizeof *openers);

	if (!openers_count || !openers) {
		fputs("usage: untouched-crowd COUNT FIFO release|kill\n", stderr);
		return 2;
	}
	struct rlimit descriptors;

	check(getrlimit(RLIMIT_NOFILE, &descriptors), "getrlimit");
	descriptors.rlim_cur = (rlim_t)openers_count + SPARE;
	if (descriptors.rlim_max < descriptors.rlim_cur)
		descriptors.rlim_max = descriptors.rlim_cur;
	check(setrlimit(RLIMIT_NOFILE, &descriptors), "setrlimit");
	check(mkfifo(args[2], 0600), "mkfifo");
	start(openers, openers_count, args[2]);
	for (int i = 0; i < openers_count; i++)
		while (!waits(&openers[i]))
			usleep(1000);
	if (strcmp(args[3], "kill") == 0)
		kill(getpid(), SIGKILL);
	check(syscall(SYS_open, args[2], O_RDWR) < 0, "open");
	for (int i = 0; i < openers_count; i++)
		pthread_join(openers[i].thread, NULL);
	free(openers);
	return 0;
}
