// SPDX-License-Identifier: BSD-2-Clause
/*
 * Runs machines, made row by row as images, over events through generated code in the kernel and through the engine,
 * and compares what is told and counted: with what docs/internals/execution.md says must be, and for random machines
 * with each other.
 */

#include "machine-image.h"

#include "base/alloc.h"
#include "ebpf/ebpf.h"
#include "engine/engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SKIPPED = 77, TEXT_BYTES = 1 << 16 };

struct event {
	int type;
	uint64_t ts;
	int64_t p, q, r;
	uint32_t pid;
};

struct test {
	const char *name;
	const struct machine_spec *specs;
	uint32_t spec_count;
	const struct event *events;
	uint32_t event_count;
	const char *reported; /* matches: machine ts/pid notice p,q,uses */
	const char *counted;  /* per machine: matches opened live_max refused lost */
};

struct reported {
	const struct program *program;
	char text[TEXT_BYTES];
};

static void append(struct reported *reported, const char *text)
{
	size_t length = strlen(reported->text);

	snprintf(reported->text + length, sizeof reported->text - length, "%s", text);
}

static int on_match(void *context, const struct program_match *match)
{
	struct reported *reported = context;
	const int64_t *slots = match->slots;
	char text[160];

	snprintf(text, sizeof text, "%s %llu/%u %u %lld,%lld,%lld%s\n",
		 program_text(reported->program, reported->program->rules[match->rule].name),
		 (unsigned long long)match->ts, match->pid, match->notice, (long long)slots[0], (long long)slots[1],
		 (long long)slots[2], match->tainted ? " tainted" : "");
	append(reported, text);
	return 0;
}

static void to_record(const struct event *event, uint32_t number, struct machine_record *record)
{
	*record = (struct machine_record){
		.header = { .ts = event->ts,
			    .seq = number,
			    .type = (uint32_t)event->type,
			    .pid = event->pid,
			    .tid = event->pid,
			    .comm = "test" },
		.p = event->p,
		.q = event->q,
		.r = event->r,
	};
}

static void append_stats(struct reported *counted, const struct program_rule_stats *stats)
{
	char text[160];

	snprintf(text, sizeof text, "%llu %llu %llu %llu %llu\n", (unsigned long long)stats->matches,
		 (unsigned long long)stats->runs_opened, (unsigned long long)stats->runs_live_max,
		 (unsigned long long)stats->pool_exhausted, (unsigned long long)stats->lost);
	append(counted, text);
}

static int run_kernel(const struct test *test, struct reported *reported, struct reported *counted)
{
	struct asterism_diag *diag = asterism_diag_new();
	struct event_catalog *catalog = event_catalog_new();
	struct ebpf_options options = { .test_run = true, .on_match = on_match, .context = reported };
	struct ebpf *kernel = NULL;
	int result = ebpf_new(reported->program, catalog, &options, diag, &kernel);

	for (uint32_t i = 0; i < test->event_count && !result; i++) {
		struct machine_record record;

		to_record(&test->events[i], i + 1, &record);
		result = ebpf_feed(kernel, &record.header);
	}
	for (uint32_t i = 0; i < test->spec_count && !result; i++) {
		struct program_rule_stats stats;

		ebpf_stats(kernel, i, &stats);
		append_stats(counted, &stats);
	}
	if (result)
		printf("%s: %s\n", test->name,
		       asterism_diag_get(diag, 0) ? asterism_diag_get(diag, 0)->text : strerror(-result));
	ebpf_free(kernel);
	event_catalog_free(catalog);
	asterism_diag_free(diag);
	return result;
}

static int run_engine(const struct test *test, struct reported *reported, struct reported *counted)
{
	struct asterism_diag *diag = asterism_diag_new();
	struct engine_options options = { .on_match = on_match, .context = reported };
	struct engine *engine = NULL;
	int result = engine_new(reported->program, &options, diag, &engine);

	for (uint32_t i = 0; i < test->event_count && !result; i++) {
		struct machine_record record;

		to_record(&test->events[i], i + 1, &record);
		result = engine_feed(engine, &record.header);
	}
	for (uint32_t i = 0; i < test->spec_count && !result; i++) {
		struct program_rule_stats stats;

		engine_stats(engine, i, &stats);
		append_stats(counted, &stats);
	}
	engine_free(engine);
	asterism_diag_free(diag);
	return result;
}

static bool expect(const struct test *test, const char *what, const char *expected, const char *found)
{
	if (!strcmp(expected, found))
		return true;
	printf("%s: %s:\n%sinstead of\n%s", test->name, what, found, expected);
	return false;
}

static bool run(const struct test *test)
{
	struct program *program = machine_image(test->specs, test->spec_count);
	struct reported *texts = alloc_zero(4, sizeof *texts), *kernel = texts, *engine = texts + 2;
	bool good;

	kernel->program = engine->program = program;
	good = !run_kernel(test, kernel, kernel + 1) && !run_engine(test, engine, engine + 1);
	if (good && test->reported)
		good = expect(test, "told by the engine", test->reported, engine->text) &&
		       expect(test, "counted by the engine", test->counted, engine[1].text);
	good = good && expect(test, "told by the kernel", engine->text, kernel->text) &&
	       expect(test, "counted by the kernel", engine[1].text, kernel[1].text);
	alloc_free(texts);
	program_free(program);
	return good;
}

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define ROWS(array)  .rows = array, .row_count = COUNT(array)

/* A opens, B tells and stays, C ends with a word. */
static const struct machine_row plain_rows[] = {
	{ 0, TYPE_A, 1, "", "key u0", 0, 0 }, { 1, TYPE_B, 1, "u<2", "u+", PROGRAM_TELL, 1 },
	{ 1, TYPE_B, 2, "", "", 0, 0 },       { 1, TYPE_C, TO_MATCH, "", "", 0, 2 },
	{ 2, TYPE_C, TO_END, "", "", 0, 0 },
};
static const struct machine_spec plain = {
	.name = "plain", .pool = 4, .states = 3, .notices = 2, .keys = "A:pq B:pq C:qp", ROWS(plain_rows), .emits = -1
};
static const struct event plain_events[] = {
	{ TYPE_B, 1, 1, 1, 0, 7 },                             /* nobody is there */
	{ TYPE_A, 2, 1, 1, 0, 7 },  { TYPE_A, 3, 1, 1, 0, 7 }, /* somebody is there already */
	{ TYPE_A, 4, 2, 1, 0, 7 },  { TYPE_B, 5, 1, 1, 0, 7 },  { TYPE_B, 6, 1, 1, 0, 8 },
	{ TYPE_B, 7, 1, 1, 0, 7 },                                                          /* to state 2 */
	{ TYPE_B, 8, 1, 1, 0, 7 },  { TYPE_C, 9, 1, 1, 0, 7 },  { TYPE_C, 10, 1, 2, 0, 9 }, /* the key is (2, 1) */
	{ TYPE_A, 11, 1, 1, 0, 7 }, { TYPE_B, 12, 1, 1, 0, 7 },
};
static const char plain_reported[] = "plain 5/7 1 1,1,1\n"
				     "plain 6/8 1 1,1,2\n"
				     "plain 10/9 2 2,1,0\n"
				     "plain 12/7 1 1,1,1\n";

/* What the start does without being left; telling on the way in; a pool that is full. */
static const struct machine_row start_rows[] = {
	{ 0, TYPE_A, TO_MATCH, "r>10", "key u7", 0, 1 },
	{ 0, TYPE_A, TO_END, "r>5", "key", 0, 0 },
	{ 0, TYPE_A, 1, "", "key u1", PROGRAM_TELL, 2 },
	{ 1, TYPE_B, TO_END, "", "", 0, 0 },
};
static const struct machine_spec start = {
	.name = "start", .pool = 2, .states = 2, .notices = 2, .keys = "A:pq B:pq", ROWS(start_rows), .emits = -1
};
static const struct event start_events[] = {
	{ TYPE_A, 1, 1, 1, 11, 7 }, { TYPE_A, 2, 1, 1, 6, 7 },  { TYPE_A, 3, 1, 1, 0, 7 }, { TYPE_A, 4, 1, 1, 11, 7 },
	{ TYPE_A, 5, 2, 1, 0, 7 },  { TYPE_A, 6, 3, 1, 11, 7 }, { TYPE_B, 7, 1, 1, 0, 7 }, { TYPE_A, 8, 4, 1, 0, 7 },
};
static const char start_reported[] = "start 1/7 1 1,1,7\n"
				     "start 3/7 2 1,1,1\n"
				     "start 5/7 2 2,1,1\n"
				     "start 6/7 1 3,1,7\n"
				     "start 8/7 2 4,1,1\n";

/* D ends all instances of p. */
static const struct machine_row part_rows[] = {
	{ 0, TYPE_A, 1, "", "key u0 t1000 w", 0, 0 },
	{ 1, TYPE_B, 1, "", "u+", PROGRAM_TELL, 1 },
	{ 1, TYPE_C, 2, "", "", 0, 0 },
	{ 1, TYPE_D, TO_END, "r>5", "", 0, 0 },
	{ 2, TYPE_B, 2, "", "u+", PROGRAM_TELL, 1 },
	{ 2, TYPE_D, TO_END, "r>5", "", 0, 0 },
};
static const struct machine_spec part[] = {
	{ .name = "part",
	  .timed = true,
	  .pool = 65536,
	  .states = 3,
	  .notices = 1,
	  .keys = "A:pq B:pq C:pq D:p*",
	  ROWS(part_rows),
	  .emits = -1 },
};
static const struct event part_events[] = {
	{ TYPE_A, 1, 1, 1, 0, 7 },  { TYPE_A, 2, 1, 2, 0, 7 },  { TYPE_A, 3, 1, 3, 0, 7 },  { TYPE_A, 4, 2, 1, 0, 7 },
	{ TYPE_C, 5, 1, 2, 0, 7 },  { TYPE_D, 6, 1, 0, 0, 7 },  { TYPE_B, 7, 1, 2, 0, 7 },  { TYPE_D, 8, 1, 0, 6, 7 },
	{ TYPE_B, 9, 1, 1, 0, 7 },  { TYPE_B, 10, 1, 2, 0, 7 }, { TYPE_B, 11, 1, 3, 0, 7 }, { TYPE_B, 12, 2, 1, 0, 7 },
	{ TYPE_A, 13, 1, 1, 0, 7 }, { TYPE_B, 14, 1, 1, 0, 7 },
};
static const char part_reported[] = "part 7/7 1 1,2,1\n"
				    "part 12/7 1 2,1,1\n"
				    "part 14/7 1 1,1,1\n";

/* B copies (p, q) for (r, q). */
static const struct machine_row heir_rows[] = {
	{ 0, TYPE_A, 1, "", "key u0", 0, 0 },          { 1, TYPE_B, 2, "u<5", "as:r u+", PROGRAM_COPY, 0 },
	{ 1, TYPE_B, 1, "", "u+", PROGRAM_TELL, 1 },   { 1, TYPE_C, 1, "", "", PROGRAM_TELL, 2 },
	{ 2, TYPE_B, 1, "", "as:r", PROGRAM_COPY, 0 }, { 2, TYPE_C, 2, "", "", PROGRAM_TELL, 3 },
	{ 2, TYPE_D, TO_END, "", "", 0, 0 },
};
static const struct machine_spec heir = { .name = "heir",
					  .pool = 3,
					  .states = 3,
					  .notices = 3,
					  .keys = "A:pq B:pq C:pq D:pq",
					  ROWS(heir_rows),
					  .emits = -1 };
static const struct event heir_events[] = {
	{ TYPE_A, 1, 1, 1, 0, 7 },  { TYPE_B, 2, 1, 1, 2, 7 },  /* (2,1) in state 2 */
	{ TYPE_C, 3, 2, 1, 0, 7 },  { TYPE_B, 4, 1, 1, 2, 7 },  /* is there */
	{ TYPE_C, 5, 2, 1, 0, 7 },  { TYPE_B, 6, 1, 1, 1, 7 },  /* its own key */
	{ TYPE_C, 7, 1, 1, 0, 7 },  { TYPE_B, 8, 2, 1, 9, 7 },  /* (9,1) in state 1 */
	{ TYPE_C, 9, 9, 1, 0, 7 },  { TYPE_B, 10, 9, 1, 8, 7 }, /* no place */
	{ TYPE_C, 11, 8, 1, 0, 7 }, { TYPE_D, 12, 2, 1, 0, 7 }, { TYPE_B, 13, 9, 1, 8, 7 }, { TYPE_C, 14, 8, 1, 0, 7 },
};
static const char heir_reported[] = "heir 2/7 1 1,1,1\n"
				    "heir 3/7 3 2,1,1\n"
				    "heir 4/7 1 1,1,2\n"
				    "heir 5/7 3 2,1,1\n"
				    "heir 6/7 1 1,1,3\n"
				    "heir 7/7 2 1,1,3\n"
				    "heir 9/7 2 9,1,1\n"
				    "heir 10/7 1 9,1,2\n"
				    "heir 13/7 1 9,1,3\n"
				    "heir 14/7 3 8,1,3\n";

/* Timers: one that tells again and again, one that ends, one that is set anew. */
static const struct machine_row timer_rows[] = {
	{ 0, TYPE_A, 1, "", "key u0 t10 w", 0, 0 },
	{ 0, TYPE_D, 2, "", "key t25 w", 0, 0 },
	{ 1, TYPE_AFTER, 1, "u<2", "u+ t10", PROGRAM_TELL, 1 },
	{ 1, TYPE_AFTER, TO_MATCH, "", "", 0, 2 },
	{ 1, TYPE_B, 1, "", "t10 w", 0, 0 },
	{ 1, TYPE_C, 2, "", "", 0, 0 },
	{ 2, TYPE_AFTER, TO_END, "u>=1", "", 0, 0 },
	{ 2, TYPE_B, 2, "", "", PROGRAM_TELL, 3 },
};
static const struct machine_spec timer = { .name = "timer",
					   .pool = 8,
					   .states = 3,
					   .notices = 3,
					   .keys = "A:pq B:pq C:pq D:pq",
					   ROWS(timer_rows),
					   .timed = true,
					   .emits = -1 };
static const struct event timer_events[] = {
	{ TYPE_A, 100, 1, 1, 0, 7 },  { TYPE_A, 105, 2, 1, 0, 8 },
	{ TYPE_B, 110, 1, 1, 0, 9 },  /* at the very time: first, and set anew to 120 */
	{ TYPE_B, 121, 9, 9, 0, 1 },  /* 115: (2,1); 120: (1,1) */
	{ TYPE_D, 122, 3, 1, 0, 10 }, /* due at 147, uses 0: no transition, cleared */
	{ TYPE_C, 123, 2, 1, 0, 8 },  /* (2,1) to state 2 with its timer, 125 */
	{ TYPE_B, 200, 3, 1, 0, 11 }, /* 125: (2,1) ends, uses 1; 130, 140: (1,1) */
	{ TYPE_B, 201, 2, 1, 0, 11 }, /* is not there */
	{ TYPE_B, 202, 1, 1, 0, 11 }, /* neither */
};
static const char timer_reported[] = "timer 115/8 1 2,1,1\n"
				     "timer 120/9 1 1,1,1\n"
				     "timer 130/9 1 1,1,2\n"
				     "timer 140/9 2 1,1,2\n"
				     "timer 200/11 3 3,1,0\n";

/* One machine raises, silently or not, at an event and at a timer, what another one takes. */
static const struct machine_row giver_rows[] = {
	{ 0, TYPE_A, 1, "", "key u5 t10 w", PROGRAM_TELL, 1 },
	{ 1, TYPE_B, 1, "", "u+", PROGRAM_TELL, 2 },
	{ 1, TYPE_AFTER, TO_MATCH, "", "", 0, 1 },
};
static const struct machine_row taker_rows[] = {
	{ 0, TYPE_C, 1, "", "key u0", PROGRAM_TELL, 1 },
	{ 1, TYPE_C, 1, "r>4", "u+", PROGRAM_TELL, 2 },
	{ 1, TYPE_D, 1, "", "", PROGRAM_TELL, 1 },
};
static const struct machine_spec pair[] = {
	{ .name = "giver",
	  .pool = 8,
	  .states = 2,
	  .notices = 2,
	  .silent = 1 << 1,
	  .keys = "A:pq B:pq",
	  ROWS(giver_rows),
	  .timed = true,
	  .emits = TYPE_C,
	  .emit_notice = 1 },
	{ .name = "taker", .pool = 8, .states = 2, .notices = 2, .keys = "C:pq D:pq", ROWS(taker_rows), .emits = -1 },
};
static const struct event pair_events[] = {
	{ TYPE_A, 1, 1, 1, 0, 7 },
	{ TYPE_B, 2, 1, 1, 0, 7 },
	{ TYPE_D, 20, 1, 1, 0, 9 },
};
static const char pair_reported[] = "taker 1/7 1 1,1,0\n"
				    "giver 2/7 2 1,1,6\n"
				    "taker 11/7 2 1,1,1\n"
				    "taker 20/9 1 1,1,1\n";

#define TEST(of, count, stats)                                                                                      \
	{                                                                                                           \
		.name = #of, .specs = (const struct machine_spec *)&of, .spec_count = count, .events = of##_events, \
		.event_count = COUNT(of##_events), .reported = of##_reported, .counted = stats                      \
	}

static const struct test tests[] = {
	TEST(plain, 1, "4 3 2 0 0\n"), TEST(start, 1, "5 3 2 0 0\n"), TEST(part, 1, "3 5 4 0 0\n"),
	TEST(heir, 1, "10 4 3 1 1\n"), TEST(timer, 1, "5 3 3 0 0\n"), TEST(pair, 2, "1 1 1 0 0\n3 1 1 0 0\n"),
};

enum { RANDOM_TESTS = 60, RANDOM_EVENTS = 300, RANDOM_ROWS_MAX = 40 };

static uint64_t random_state;

/* splitmix64 */
static uint32_t draw(uint32_t below)
{
	uint64_t z = random_state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return (uint32_t)((z ^ z >> 31) % below);
}

/* The transitions of one state for one type, those of copies first. */
static uint32_t draw_rows(const struct machine_spec *spec, struct machine_row *rows, int state, int type)
{
	static const char *const fits[] = { "u<2", "u<5", "u>=3", "r>3" }, *const acts[] = { "u+ t7 w", "u+ w", "t12 w",
											     "u0" };
	uint32_t count = 0, own = draw(3);

	if (state && type != TYPE_AFTER && draw(4) == 0)
		rows[count++] = (struct machine_row){ state,
						      type,
						      (int)(1 + draw(spec->states - 1)),
						      draw(2) ? "u<5" : "r>3",
						      draw(2) ? "as:r u+ t9" : "as:r t0",
						      PROGRAM_COPY,
						      0 };
	for (uint32_t i = 0; i < own; i++) {
		bool ends = draw(5) == 0, reports = draw(2);
		struct machine_row row = { .state = state,
					   .type = type,
					   .acts = state ? acts[draw(4)] : "key u0 t10 w" };

		row.fit = type == TYPE_AFTER ? fits[draw(3)] : state == 0 ? "r>3" : fits[draw(4)];
		if (i + 1 == own && draw(2))
			row.fit = "";
		row.target = ends ? reports ? TO_MATCH : TO_END : (int)(1 + draw(spec->states - 1));
		row.notice = reports ? 1 + draw(spec->notices) : 0;
		row.flags = reports && !ends ? PROGRAM_TELL : 0;
		rows[count++] = row;
	}
	return count;
}

/* A machine that takes A, B and C, with D ending all instances of p, or of q; or that takes D alone. */
static void draw_machine(struct machine_spec *spec, struct machine_row *rows, bool takes_only_d)
{
	static const char *const keys[] = { "A:pq B:pq C:pq D:p*", "A:pq B:pq C:pq D:*q" };
	const char *end = draw(2) ? "r>3" : "";

	*spec = (struct machine_spec){ .name = takes_only_d ? "taker" : "drawn",
				       .pool = 2 + draw(20),
				       .states = 2 + draw(4),
				       .notices = 3,
				       .silent = takes_only_d ? 0 : draw(16) & ~1u,
				       .keys = takes_only_d ? "D:pq" : keys[draw(2)],
				       .rows = rows,
				       .timed = true,
				       .loss = takes_only_d ? PROGRAM_KEEP : (uint8_t)draw(3),
				       .emits = -1 };
	for (int state = 0; state < (int)spec->states; state++) {
		for (int type = takes_only_d ? TYPE_D : TYPE_A; type <= (takes_only_d ? TYPE_D : TYPE_C); type++)
			spec->row_count += draw_rows(spec, rows + spec->row_count, state, type);
		if (state)
			spec->row_count += draw_rows(spec, rows + spec->row_count, state, TYPE_AFTER);
		if (state && !takes_only_d)
			rows[spec->row_count++] = (struct machine_row){ state, TYPE_D, TO_END, end, "", 0, 0 };
	}
}

static bool run_random(uint32_t seed)
{
	static struct machine_row rows[2][RANDOM_ROWS_MAX * 6];
	static struct event events[RANDOM_EVENTS];
	struct machine_spec specs[2];
	struct test test = { .name = "random", .specs = specs, .events = events, .event_count = RANDOM_EVENTS };
	uint64_t ts = 100;

	random_state = seed;
	draw_machine(&specs[0], rows[0], false);
	draw_machine(&specs[1], rows[1], true);
	test.spec_count = 1 + draw(2);
	if (test.spec_count == 2 && draw(2)) { /* what one raises the other takes; nobody else does */
		specs[0].keys = "A:pq B:pq C:pq";
		uint32_t left = 0;

		for (uint32_t i = 0; i < specs[0].row_count; i++)
			if (rows[0][i].type != TYPE_D)
				rows[0][left++] = rows[0][i];
		specs[0].row_count = left;
		specs[0].emits = TYPE_D;
		specs[0].emit_notice = 1 + draw(3);
	}
	for (uint32_t i = 0; i < RANDOM_EVENTS; i++) {
		ts += draw(6);
		events[i] = (struct event){
			(int)(draw(25) ? draw(3) : TYPE_D), ts, draw(4), draw(4), draw(6), 1 + draw(3)
		};
	}
	if (run(&test))
		return true;
	printf("random machine %u\n", seed);
	return false;
}

enum { LARGE_STATES = 20, LARGE_TYPES = 4, LARGE_FITS = 5 };

/* The programs of this process: the most that the verifier had to look at for one of them, in instructions. */
static unsigned long verified_most(void)
{
	unsigned long most = 0;

	for (int fd = 3; fd < 256; fd++) {
		char path[64], line[128];
		FILE *file;

		snprintf(path, sizeof path, "/proc/self/fdinfo/%d", fd);
		file = fopen(path, "r");
		while (file && fgets(line, sizeof line, file)) {
			unsigned long count;

			if (sscanf(line, "verified_insns: %lu", &count) == 1 && count > most)
				most = count;
		}
		if (file)
			fclose(file);
	}
	return most;
}

static uint32_t fill_large(struct machine_row *rows)
{
	static const char *const fits[LARGE_FITS] = { "u<1", "u<2", "u<3", "u<4", "" };
	static const int types[LARGE_TYPES] = { TYPE_A, TYPE_B, TYPE_C, TYPE_AFTER };
	uint32_t count = 0;

	rows[count++] = (struct machine_row){ 0, TYPE_A, 1, "", "key u0 t10 w", 0, 0 };
	for (int state = 1; state < LARGE_STATES; state++)
		for (uint32_t i = 0; i < LARGE_TYPES * LARGE_FITS; i++) {
			bool copies = types[i / LARGE_FITS] == TYPE_B && i % LARGE_FITS == 0,
			     reports = !copies && i % 2;

			rows[count++] = (struct machine_row){
				.state = state,
				.type = types[i / LARGE_FITS],
				.target = i % 7 == 3 && !copies && !reports ? TO_END
									    : 1 + (state + (int)i) % (LARGE_STATES - 1),
				.fit = fits[i % LARGE_FITS],
				.acts = copies ? "as:r u+ t7" : "u+ t10 w",
				.flags = copies    ? PROGRAM_COPY
					 : reports ? PROGRAM_TELL
						   : 0,
				.notice = reports ? 1 + count % 200 : 0,
			};
		}
	return count;
}

/* Twenty states, each with twenty transitions that assign, tell, copy, end and set timers. */
static bool run_large(bool connected)
{
	static struct machine_row rows[1 + LARGE_STATES * LARGE_TYPES * LARGE_FITS];
	static const struct machine_row feeder_rows[] = { { 0, TYPE_A, TO_MATCH, "", "key u1", 0, 1 } };
	static const struct machine_row last_rows[] = { { 0, TYPE_D, 1, "", "key u0", PROGRAM_TELL, 1 },
							{ 1, TYPE_D, 1, "", "u+", PROGRAM_TELL, 1 } };
	struct machine_spec specs[] = {
		{ .name = "feeder",
		  .pool = 1,
		  .states = 1,
		  .notices = 1,
		  .keys = "A:pq",
		  ROWS(feeder_rows),
		  .emits = TYPE_C,
		  .emit_notice = 1 },
		{ .name = "large",
		  .pool = 1024,
		  .states = LARGE_STATES,
		  .notices = 200,
		  .silent = 6,
		  .keys = "A:pq B:pq C:pq",
		  .rows = rows,
		  .timed = true,
		  .emits = TYPE_D,
		  .emit_notice = 1 },
		{ .name = "last", .pool = 8, .states = 2, .notices = 1, .keys = "D:pq", ROWS(last_rows), .emits = -1 },
	};
	struct asterism_diag *diag = asterism_diag_new();
	struct event_catalog *catalog = event_catalog_new();
	struct ebpf_options options = { .test_run = true };
	struct ebpf *kernel = NULL;

	specs[1].row_count = fill_large(rows);
	struct program *program = machine_image(specs, connected ? COUNT(specs) : 2);
	int result = ebpf_new(program, catalog, &options, diag, &kernel);

	if (result)
		printf("large: %s\n", asterism_diag_get(diag, 0)->text);
	else
		printf("large: %u transitions, the verifier looked at %lu instructions\n", specs[1].row_count,
		       verified_most());
	ebpf_free(kernel);
	program_free(program);
	event_catalog_free(catalog);
	asterism_diag_free(diag);
	return result == 0;
}

int main(void)
{
	int failed = !run_large(false) + !run_large(true);

	if (geteuid() != 0) {
		printf("skipped: not root\n");
		return SKIPPED;
	}
	for (size_t i = 0; i < COUNT(tests); i++)
		failed += !run(&tests[i]);
	for (uint32_t seed = 1; seed <= RANDOM_TESTS; seed++)
		failed += !run_random(seed);
	printf("%zu machines' tests, %d failed\n", COUNT(tests), failed);
	return failed != 0;
}
