// SPDX-License-Identifier: BSD-2-Clause
/*
 * Measures what the work of rules costs here: how much longer the cheapest system call takes with a rule that looks at
 * it, and with one whose run begins and ends at it. The table says how this divides into the single pieces of work;
 * what is not measured, matches and shipping, is taken to be as much dearer as runs are. Prices hold for one kernel.
 */

#include "cmd/prices.h"

#include "base/clock.h"
#include "base/diag.h"
#include "cli/print.h"
#include "session/live/live.h"
#include "session/load/rules.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#define FOLDER    "/var/cache/asterism"
#define KEPT_IN   FOLDER "/prices"
#define VARIABLE  "ASTERISM_PRICES"
#define NO_PRICES "table"

/* Rounds short enough that some of them are disturbed by nothing, also on a busy machine. */
enum { ROUNDS = 400, CALLS = 500, ATTEMPTS = 5, KEY_BYTES = 256 };

static const char looking[] = "RULE looks PATTERN { [sys_enter:a, sys_enter:b] } WHERE { [tid], a.id == 1000 }";
static const char running[] = "RULE runs PATTERN { [sys_enter:a, sys_exit:b] } WHERE { [tid], a.id == getppid, "
			      "b.ts - a.ts > 1h }";

/* A process that makes calls when it is asked to. */
struct caller {
	pid_t pid;
	int ask, answer;
};

/* The least of some rounds: what else the machine does is no price. */
static double time_calls(void)
{
	double least = 0;

	for (int round = 0; round < ROUNDS; round++) {
		uint64_t begin = clock_now_ns();

		for (int i = 0; i < CALLS; i++)
			syscall(SYS_getppid);
		double ns = (double)(clock_now_ns() - begin) / CALLS;
		if (!round || ns < least)
			least = ns;
	}
	return least;
}

__attribute__((noreturn)) static void serve(int asked, int answer)
{
	char byte;

	while (read(asked, &byte, 1) == 1) {
		double ns = time_calls();

		if (write(answer, &ns, sizeof ns) != (ssize_t)sizeof ns)
			break;
	}
	_exit(0);
}

static bool caller_start(struct caller *caller)
{
	int ask[2], answer[2];

	if (pipe(ask))
		return false;
	if (pipe(answer)) {
		close(ask[0]);
		close(ask[1]);
		return false;
	}
	caller->pid = fork();
	if (caller->pid == 0) {
		close(ask[1]);
		close(answer[0]);
		serve(ask[0], answer[1]);
	}
	close(ask[0]);
	close(answer[1]);
	caller->ask = ask[1];
	caller->answer = answer[0];
	return caller->pid > 0;
}

static void caller_stop(struct caller *caller)
{
	close(caller->ask);
	close(caller->answer);
	if (caller->pid > 0)
		waitpid(caller->pid, NULL, 0);
}

/* 0: it has gone. */
static double ask_caller(const struct caller *caller)
{
	double ns;

	return write(caller->ask, "", 1) == 1 && read(caller->answer, &ns, sizeof ns) == (ssize_t)sizeof ns ? ns : 0;
}

static int prices_on_match(void *context, const struct program_match *match)
{
	(void)context;
	(void)match;
	return 0;
}

/* What a call takes while the rule looks at it; 0: it cannot be loaded. */
static double with_rule(const struct caller *caller, const char *rule, struct asterism_diag *diag)
{
	const struct session_rules_source source = { .name = "prices", .bytes = rule, .length = strlen(rule) };
	const struct session_live_options options = {
		.pids = &caller->pid, .pid_count = 1, .signal_fd = -1, .on_match = prices_on_match
	};
	struct session_rules *rules = NULL;
	struct live *live = NULL;
	double ns = 0;

	if (session_rules_take(&source, diag, &rules) == 0 && live_open(rules, &options, diag, &live) == 0)
		ns = ask_caller(caller);
	live_close(live);
	session_rules_free(rules);
	return ns;
}

/* Prices of the table from one kind of work to another, all times factor. */
static void scale(struct model_prices *prices, enum model_work from, enum model_work to, double factor)
{
	for (int i = from; i <= (int)to; i++)
		prices->ns[i] = model_table_prices.ns[i] * factor;
}

/* Divides what calls take into single pieces of work; false: the three were disturbed, and make no sense together. */
static bool divide_prices(double alone, double looked, double run, struct model_prices *prices)
{
	const double *table = model_table_prices.ns;

	if (!(looked > alone) || !(run > looked))
		return false;
	scale(prices, MODEL_HOOK, MODEL_GUARD, (looked - alone) / (table[MODEL_HOOK] + table[MODEL_GUARD]));
	double runs = run - alone - 2 * prices->ns[MODEL_HOOK] - prices->ns[MODEL_GUARD];

	if (!(runs >= 1))
		return false;
	scale(prices, MODEL_OPEN, MODEL_SHIP, runs / (table[MODEL_OPEN] + table[MODEL_STEP]));
	return true;
}

static bool measure_prices(struct model_prices *prices)
{
	struct asterism_diag *diag = asterism_diag_new();
	struct caller caller;
	bool done = false;

	if (diag && caller_start(&caller)) {
		/* What others attach to all calls in the meantime turns the order of the three around. */
		for (int i = 0; i < ATTEMPTS && !done; i++) {
			double alone = ask_caller(&caller);
			double looked = alone > 0 ? with_rule(&caller, looking, diag) : 0;
			double run = looked > 0 ? with_rule(&caller, running, diag) : 0;

			done = divide_prices(alone, looked, run, prices);
		}
		caller_stop(&caller);
	}
	asterism_diag_free(diag);
	return done;
}

/* Of which kernel prices are. */
static void make_price_key(char key[KEY_BYTES])
{
	struct utsname system = { 0 };

	uname(&system);
	snprintf(key, KEY_BYTES, "%.100s %.100s %ld", system.release, system.version, sysconf(_SC_NPROCESSORS_CONF));
}

static bool read_kept(const char *file, const char *key, struct model_prices *prices)
{
	FILE *stream = fopen(file, "re");
	char line[KEY_BYTES + 1] = "";
	bool fine = stream && fgets(line, sizeof line, stream);

	line[strcspn(line, "\n")] = 0;
	fine = fine && strcmp(line, key) == 0;
	for (int i = 0; i < MODEL_WORKS && fine; i++)
		fine = fscanf(stream, "%lf", &prices->ns[i]) == 1 && prices->ns[i] > 0 && prices->ns[i] < 1e9;
	if (stream)
		fclose(stream);
	return fine;
}

static bool keep_price(const char *file, const char *key, const struct model_prices *prices)
{
	FILE *stream;

	if (strcmp(file, KEPT_IN) == 0)
		mkdir(FOLDER, 0755);
	stream = fopen(file, "we");
	if (!stream)
		return false;
	fprintf(stream, "%s\n", key);
	for (int i = 0; i < MODEL_WORKS; i++)
		fprintf(stream, "%.17g\n", prices->ns[i]);
	return fclose(stream) == 0;
}

void prices_get(struct model_prices *prices)
{
	const char *named = getenv(VARIABLE), *file = named ? named : KEPT_IN;
	struct model_prices measured = { .is_measured = true };
	char key[KEY_BYTES];
	bool kept;

	*prices = model_table_prices;
	if (strcmp(file, NO_PRICES) == 0)
		return;
	make_price_key(key);
	if (read_kept(file, key, &measured)) {
		*prices = measured;
		return;
	}
	if (geteuid() != 0)
		return;
	if (!measure_prices(&measured)) {
		cli_note("cannot measure what rules cost on this machine: using built-in prices");
		return;
	}
	*prices = measured;
	kept = keep_price(file, key, prices);
	cli_note("measured what rules cost on this machine, %s %s", kept ? "and keep it in" : "but cannot keep it in",
		 file);
}
