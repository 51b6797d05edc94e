// SPDX-License-Identifier: BSD-2-Clause
/*
 * D. Christopeit, "Vervollstaendigung von Profile-Messungen durch Kombination", 2004, appendix D: the same function is
 * called with more work by one caller than by another. In units of work: main 29, a 21, b 13, c 14, d 24. Built with
 * TIMED it prints the CPU time that each has taken with all that it calls, as the thesis's program does.
 */

#include <stdio.h>
#include <time.h>

#define UNIT 1000000

#ifdef TIMED
static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return time.tv_sec + time.tv_nsec / 1e9;
}
static double took[5];
#define BEGIN      double begin = now()
#define END(which) took[which] += now() - begin
#else
#define BEGIN      (void)0
#define END(which) (void)0
#endif

static void dowork(long n)
{
	volatile long i = 0;

	for (long k = 0; k < n; k++) {
		i++;
		i *= 50;
		i /= 10;
		i -= 42;
		i += 9;
		i = i / 40 + 23;
	}
}

static void d(int w)
{
	BEGIN;
	dowork(w * (long)UNIT);
	END(4);
}

static void c(int w)
{
	BEGIN;
	dowork(UNIT);
	d(w);
	d(w);
	d(w);
	END(3);
}

static void b(int w)
{
	BEGIN;
	dowork(UNIT);
	d(w);
	END(2);
}

static void a(int w)
{
	BEGIN;
	dowork(UNIT);
	b(6 * w);
	c(w);
	END(1);
}

int main(void)
{
	BEGIN;
	dowork(UNIT);
	a(2);
	c(2);
	END(0);
#ifdef TIMED
	printf("%g %g %g %g %g\n", took[0], took[1], took[2], took[3], took[4]);
#endif
	return 0;
}
