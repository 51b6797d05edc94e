// SPDX-License-Identifier: BSD-2-Clause
/*
 * usage: load CPU
 * The load that is measured: one thread on one CPU that makes system calls when told to. Commands on standard input,
 * one answer per line on standard output:
 *
 *   calls N        N times getppid; answers CPU ns per call
 *   open FIRST N   N times getppid(MAGIC, key) with keys from FIRST on, to open runs; answers N
 *   close KEY      once getppid(KEY), to complete the run of that key; answers KEY
 *   closed N       opens N descriptors and closes them again; answers N
 *   pairs M K      M times opens one of the first K of them (dup2), at random, and closes it; answers CPU ns per call
 *   names N        N times open of a file that is not there, by a name that can be read; answers CPU ns per call
 *   fresh N        the same by a name whose page has been given back before each call, giving back included
 *   spin           getppid until the process is killed
 */

#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MAGIC 0x5eedul

enum { DESCRIPTOR_FIRST = 16 };

static uint64_t cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void call(unsigned long count)
{
	uint64_t start = cpu_ns();

	for (unsigned long i = 0; i < count; i++)
		syscall(SYS_getppid, 0ul, 0ul);
	printf("%.2f\n", (double)(cpu_ns() - start) / (double)count);
}

static void open_runs(unsigned long first, unsigned long count)
{
	for (unsigned long i = 0; i < count; i++)
		syscall(SYS_getppid, MAGIC, first + i);
	printf("%lu\n", count);
}

static void close_many(unsigned long count)
{
	struct rlimit limit = { .rlim_cur = DESCRIPTOR_FIRST + count, .rlim_max = DESCRIPTOR_FIRST + count };
	struct rlimit old;

	if (!getrlimit(RLIMIT_NOFILE, &old) && old.rlim_cur < limit.rlim_cur)
		setrlimit(RLIMIT_NOFILE, &limit);
	for (unsigned long i = 0; i < count; i++) {
		if (dup2(STDIN_FILENO, (int)(DESCRIPTOR_FIRST + i)) < 0) {
			count = 0;
			break;
		}
	}
	for (unsigned long i = 0; i < count; i++)
		close((int)(DESCRIPTOR_FIRST + i));
	printf("%lu\n", count);
}

static void pairs(unsigned long count, unsigned long busy)
{
	uint64_t start = cpu_ns(), seed = 1;

	for (unsigned long i = 0; i < count; i++) {
		seed = seed * 6364136223846793005 + 1442695040888963407;
		int descriptor = DESCRIPTOR_FIRST + (int)((seed >> 33) % (busy ? busy : 1));

		dup2(STDIN_FILENO, descriptor);
		close(descriptor);
	}
	printf("%.2f\n", (double)(cpu_ns() - start) / (2 * (double)count));
}

static void names(unsigned long count, int is_fresh)
{
	char name[] = "/tmp/load-names-XXXXXX", text[] = "/nowhere/name";
	int fd = mkstemp(name);
	const char *at = MAP_FAILED;

	if (fd >= 0) {
		unlink(name);
		if (write(fd, text, sizeof text) == sizeof text)
			at = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
		close(fd);
	}
	if (at == MAP_FAILED)
		exit(1);
	uint64_t start = cpu_ns();

	for (unsigned long i = 0; i < count; i++) {
		if (is_fresh)
			madvise((void *)at, 4096, MADV_DONTNEED);
		syscall(SYS_openat, AT_FDCWD, at, O_RDONLY);
	}
	printf("%.2f\n", (double)(cpu_ns() - start) / (double)count);
	munmap((void *)at, 4096);
}

int main(int argc, char **argv)
{
	unsigned long first, count;
	char line[128];
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(argc > 1 ? atoi(argv[1]) : 0, &cpus);
	sched_setaffinity(0, sizeof cpus, &cpus);
	while (fgets(line, sizeof line, stdin)) {
		if (sscanf(line, "calls %lu", &count) == 1)
			call(count);
		else if (sscanf(line, "open %lu %lu", &first, &count) == 2)
			open_runs(first, count);
		else if (sscanf(line, "close %lu", &first) == 1)
			printf("%lu\n", syscall(SYS_getppid, first, 0ul) ? first : 0ul);
		else if (sscanf(line, "closed %lu", &count) == 1)
			close_many(count);
		else if (sscanf(line, "pairs %lu %lu", &count, &first) == 2)
			pairs(count, first);
		else if (sscanf(line, "names %lu", &count) == 1)
			names(count, 0);
		else if (sscanf(line, "fresh %lu", &count) == 1)
			names(count, 1);
		else if (line[0] == 's')
			for (;;)
				syscall(SYS_getppid, 0ul, 0ul);
		fflush(stdout);
	}
	return 0;
}
