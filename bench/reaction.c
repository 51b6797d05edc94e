// SPDX-License-Identifier: BSD-2-Clause
/*
 * usage: reaction target N   waits for SIGUSR2, then calls getppid N times, a millisecond apart, and hopes for SIGUSR1
 *        reaction call N     the same calls without a signal
 *        reaction read N     reads N lines that begin with a time (CLOCK_MONOTONIC, ns)
 *
 * Prints, as p50 p99 in us, how long it was from before the call to the handler, or from the time in the line to its
 * being read; the target also prints how many signals came only after the call had returned to its user.
 */

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static volatile uint64_t handled_ns;

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void on_signal(int signal)
{
	(void)signal;
	handled_ns = now_ns();
}

static void on_start(int signal)
{
	(void)signal;
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void print(uint64_t *delays, size_t count, size_t late)
{
	qsort(delays, count, sizeof *delays, compare);
	printf("%.1f %.1f %zu\n", (double)delays[count / 2] / 1e3, (double)delays[count * 99 / 100] / 1e3, late);
}

static void be_target(uint64_t *delays, size_t count, int is_signalled)
{
	const struct timespec gap = { .tv_nsec = 1000000 };
	size_t late = 0;

	signal(SIGUSR1, on_signal);
	signal(SIGUSR2, on_start);
	puts("ready");
	fflush(stdout);
	pause();
	for (size_t i = 0; i < count; i++) {
		handled_ns = 0;
		uint64_t start = now_ns();

		syscall(SYS_getppid);
		late += handled_ns == 0;
		while (is_signalled && !handled_ns && now_ns() - start < 1000000000)
			;
		delays[i] = (handled_ns ? handled_ns : now_ns()) - start;
		nanosleep(&gap, NULL);
	}
	print(delays, count, late);
}

static void be_reader(uint64_t *delays, size_t count)
{
	char line[256];
	size_t got = 0;

	while (got < count && fgets(line, sizeof line, stdin)) {
		uint64_t now = now_ns(), then = strtoull(line, NULL, 10);

		if (then)
			delays[got++] = now - then;
	}
	if (got)
		print(delays, got, 0);
}

int main(int argc, char **argv)
{
	size_t count = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
	uint64_t *delays = calloc(count ? count : 1, sizeof *delays);

	if (!count || !delays)
		return 2;
	if (strcmp(argv[1], "target") == 0)
		be_target(delays, count, 1);
	else if (strcmp(argv[1], "call") == 0)
		be_target(delays, count, 0);
	else
		be_reader(delays, count);
	free(delays);
	return 0;
}
