// SPDX-License-Identifier: BSD-2-Clause
/* Several threads give what one engine gives: the same matches in the same order and the same counts, losses included.
 */

#include "base/alloc.h"
#include "session/executor/executor.h"
#include "session/executor/split.h"
#include "session/load/rules.h"

#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* Emission (first with second, and with the strict one that sees all), deadlines, sequences, drops, small pools. */
static const char rule_text[] =
	"EVENT A { x: i64 }\nEVENT B { x: i64 }\nEVENT C { x: i64 }\nEVENT M { x: i64 }\nEVENT unused { x: i64 }\n"
	"RULE plain PATTERN { [A:a, B:b] } WHERE { [x] } WITHIN 40ns RETURN { a.x }\n"
	"RULE emits PATTERN { [A:a, C:c] } WHERE { [x] } WITHIN 40ns DO { EMIT M(x = a.x) }\n"
	"RULE sees PATTERN { [M:m, B:b] } WHERE { [x] } WITHIN 60ns RETURN { m.x, b.x AS y }\n"
	"RULE sequence SKIPTILLANY PATTERN { [A:a, B[]:b, C:c] } WHERE { [x], b.len < 3 } WITHIN 30ns RETURN SEQUENCE\n"
	"RULE alone PATTERN { [A:a, ~B:b] } WHERE { [x] } WITHIN 25ns RETURN { a.x }\n"
	"RULE alone_too PATTERN { [C:c, ~B:b] } WHERE { [x] } WITHIN 25ns RETURN { c.x } ON LOSS DISCARD\n"
	"RULE drops PATTERN { [B:b, C:c] } WHERE { [tid] } AFTER MATCH DROP ON LOSS KEEP\n"
	"RULE small PATTERN { [C:c, A:a] } WHERE { [x] } POOL 3 RETURN { c.x }\n";
static const char over_text[] =
	"RULE strict STRICTSEQUENCE PATTERN { [A:a, B:b] } WHERE { [x] } OVER { * } RETURN SEQUENCE\n";

/* What happened, as text. */
struct record {
	char *text;
	size_t length;
	FILE *stream;
	const struct program *program;
	int left; /* matches until it refuses; negative: never */
};

static int write_match(void *context, const struct program_match *match)
{
	struct record *record = context;
	const struct program_rule *rule = &record->program->rules[match->rule];
	const unsigned char *slots = match->slots;

	if (record->left >= 0 && record->left-- == 0)
		return -EPIPE;
	fprintf(record->stream, "%u ts %" PRIu64 " cpu %u pid %u tid %u %s %d slots", match->rule, match->ts,
		match->cpu, match->pid, match->tid, match->comm, match->tainted);
	for (uint32_t i = 0; i < rule->slot_bytes; i++)
		fprintf(record->stream, "%02x", slots[i]);
	for (uint32_t i = 0; i < match->event_count; i++)
		fprintf(record->stream, " %u:%" PRIu64 ":%u", match->events[i].element, match->events[i].record->seq,
			match->events[i].record->tid);
	fputc('\n', record->stream);
	return 0;
}

static void open_record(struct record *record, const struct program *program)
{
	*record = (struct record){ .program = program, .left = -1 };
	record->stream = open_memstream(&record->text, &record->length);
	assert_non_null(record->stream);
}

static struct session_rules *read_text(const char *first, const char *second)
{
	char file[] = "/tmp/asterism-unit-XXXXXX";
	const char *name = file;
	struct session_rules *rules = NULL;
	int fd = mkstemp(file);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, first, strlen(first)), strlen(first));
	assert_int_equal(write(fd, second, strlen(second)), strlen(second));
	close(fd);
	assert_int_equal(session_rules_read(&name, 1, NULL, &rules), 0);
	unlink(file);
	return rules;
}

static struct session_rules *read_rules(bool over_all)
{
	return read_text(rule_text, over_all ? over_text : "");
}

/* What the rules do on as many threads as options say, with record as its result. */
static struct executor *open_executor(const struct program *program, const struct executor_options *wanted,
				      struct record *record)
{
	struct executor_options options = *wanted;
	struct executor *executor;

	options.program = program;
	if (record)
		open_record(record, program);
	options.on_match = record ? write_match : NULL;
	options.context = record;
	assert_int_equal(executor_new(&options, NULL, &executor), 0);
	assert_string_equal(executor->kind->name, wanted->jobs > 1 ? "sharded" : "user");
	return executor;
}

static const struct executor_options one_engine = { .input = EXECUTOR_FED };

/* Free what it returns. */
static struct session_totals totals_of(const struct executor *executor, const struct program *program)
{
	struct session_totals totals = { .rule_count = program->rule_count };

	totals.rules = alloc_zero(totals.rule_count, sizeof *totals.rules);
	assert_non_null(totals.rules);
	executor_count(executor, &totals);
	return totals;
}

/* The same stream for the same seed: jumps, late events, unknown types, losses. */
static int play(struct executor *executor, const struct program *program, unsigned seed, int events)
{
	static const char *const names[] = { "A", "B", "C", "C", "A", "nothing" };
	struct {
		struct event_header header;
		int64_t x;
	} record = { .header = { .comm = "who" } };
	uint64_t ts = 1;
	int result = 0;

	for (int i = 0; i < events && !result; i++) {
		int dice = rand_r(&seed) % 1000;

		ts += dice < 10 ? 100 : (uint64_t)(rand_r(&seed) % 4);
		record.header.ts = dice > 990 && ts > 9 ? ts - 9 : ts;
		record.header.seq = (uint64_t)i + 1;
		record.header.type = program_type_find(program, names[rand_r(&seed) % 6]);
		record.header.cpu = (uint32_t)rand_r(&seed) % 2;
		record.header.tid = (uint32_t)rand_r(&seed) % 3;
		record.x = rand_r(&seed) % 4;
		if (dice % 100 == 50)
			result = executor_lose(executor, (uint64_t)dice / 100);
		if (!result)
			result = executor_feed(executor, &record.header);
	}
	return result;
}

static void compare_counts(const struct executor *one, const struct executor *many, const struct program *program)
{
	struct session_totals a = totals_of(one, program), b = totals_of(many, program);

	assert_memory_equal(a.rules, b.rules, a.rule_count * sizeof *a.rules);
	assert_int_equal(a.lost, b.lost);
	session_totals_fini(&a);
	session_totals_fini(&b);
}

static void compare(const struct program *program, unsigned seed, const struct executor_options *options)
{
	struct record expected, got;
	struct executor *one = open_executor(program, &one_engine, &expected);
	struct executor *many = open_executor(program, options, &got);

	assert_int_equal(play(one, program, seed, 4000), 0);
	assert_int_equal(play(many, program, seed, 4000), 0);
	assert_int_equal(executor_finish(many), 0);
	fclose(expected.stream);
	fclose(got.stream);
	assert_true(expected.length > 1000);
	assert_string_equal(expected.text, got.text);
	compare_counts(one, many, program);
	executor_free(one);
	executor_free(many);
	free(expected.text);
	free(got.text);
}

static void is_one_engine(void **state)
{
	static const size_t sizes[] = { 1, 1000, 0 };

	(void)state;
	for (int over_all = 0; over_all < 2; over_all++) {
		struct session_rules *rules = read_rules(over_all);

		for (unsigned seed = 1; seed <= 12; seed++)
			compare(session_rules_program(rules), seed,
				&(struct executor_options){ .jobs = 2 + seed % 4, .batch_bytes = sizes[seed % 3] });
		session_rules_free(rules);
	}
}

static void stops_when_nobody_takes_matches(void **state)
{
	struct session_rules *rules = read_rules(false);
	const struct program *program = session_rules_program(rules);
	const struct executor_options options = { .jobs = 3, .batch_bytes = 500 };
	struct record record;
	struct executor *many = open_executor(program, &options, &record);

	(void)state;
	record.left = 5;
	assert_int_equal(play(many, program, 1, 100000), -EPIPE);
	assert_int_equal(executor_finish(many), -EPIPE);
	executor_free(many);
	fclose(record.stream);
	free(record.text);
	session_rules_free(rules);
}

/* In the middle of the work, too. */
static void can_be_freed_at_any_time(void **state)
{
	struct session_rules *rules = read_rules(false);
	const struct program *program = session_rules_program(rules);
	const struct executor_options options = { .jobs = 3, .batch_bytes = 100 };

	(void)state;
	for (int events = 0; events < 50; events++) {
		struct executor *many = open_executor(program, &options, NULL);

		assert_int_equal(play(many, program, 1, events), 0);
		executor_free(many);
	}
	session_rules_free(rules);
}

/* Time that passes without an event ends runs, and no event after it is earlier. */
static void time_passes_without_events(void **state)
{
	static const uint32_t jobs[] = { 1, 3 };
	struct session_rules *rules = read_rules(false);
	const struct program *program = session_rules_program(rules);
	struct record records[2];

	(void)state;
	for (int i = 0; i < 2; i++) {
		const struct executor_options options = { .jobs = jobs[i], .batch_bytes = 1 };
		struct executor *executor = open_executor(program, &options, &records[i]);

		assert_int_equal(play(executor, program, 1, 50), 0);
		assert_int_equal(executor_advance(executor, 100000), 0);
		assert_int_equal(play(executor, program, 2, 50), 0);
		assert_int_equal(executor_advance(executor, 200000), 0);
		assert_int_equal(executor_finish(executor), 0);
		executor_free(executor);
		fclose(records[i].stream);
	}
	assert_non_null(strstr(records[0].text, "ts 100000 "));
	assert_string_equal(records[0].text, records[1].text);
	free(records[0].text);
	free(records[1].text);
	session_rules_free(rules);
}

static uint32_t part_of(const struct shard_split *split, const struct program *program, const char *name)
{
	uint32_t rule = 0, found = UINT32_MAX;

	while (strcmp(program_text(program, program->rules[rule].name), name) != 0)
		rule++;
	for (uint32_t i = 0; i < split->part_count; i++) {
		if (!split->parts[i][rule])
			continue;
		assert_int_equal(found, UINT32_MAX); /* in one part only */
		found = i;
	}
	assert_true(found != UINT32_MAX);
	return found;
}

static void keeps_together_what_belongs_together(void **state)
{
	struct session_rules *rules = read_rules(true);
	const struct program *program = session_rules_program(rules);
	struct shard_split split;

	(void)state;
	assert_int_equal(split_init(&split, program, 100), 0);
	assert_int_equal(split.part_count, 6); /* of nine rules */
	assert_int_equal(part_of(&split, program, "emits"), part_of(&split, program, "sees"));
	assert_int_equal(part_of(&split, program, "emits"), part_of(&split, program, "strict"));
	assert_int_equal(part_of(&split, program, "alone"), part_of(&split, program, "alone_too"));
	assert_true(part_of(&split, program, "plain") != part_of(&split, program, "small"));
	split_fini(&split);
	assert_int_equal(split_init(&split, program, 1), 0);
	assert_int_equal(split.part_count, 1);
	split_fini(&split);
	session_rules_free(rules);
}

static void one_job_needs_one_engine(void **state)
{
	struct session_rules *rules = read_rules(false);

	(void)state;
	for (uint32_t jobs = 0; jobs < 2; jobs++) {
		const struct executor_options options = { .jobs = jobs };

		executor_free(open_executor(session_rules_program(rules), &options, NULL));
	}
	session_rules_free(rules);
}

static void what_cannot_be_split_takes_one_engine(void **state)
{
	struct session_rules *one = read_text("EVENT A { x: i64 }\nEVENT B { x: i64 }\n",
					      "RULE r PATTERN { [A:a, B:b] } WHERE { [x] } RETURN { a.x }\n");
	struct session_rules *many = read_rules(false);
	const bool nothing[64] = { false };
	const struct executor_options options[] = {
		{ .program = session_rules_program(one), .jobs = 8 },
		{ .program = session_rules_program(many), .jobs = 8, .rules = nothing },
	};

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct executor *executor;

		assert_int_equal(executor_new(&options[i], NULL, &executor), 0);
		assert_string_equal(executor->kind->name, "user");
		executor_free(executor);
	}
	session_rules_free(one);
	session_rules_free(many);
}

/* While it is made, when no worker runs yet. */
static void make_without_memory(struct session_rules *rules, const struct executor_options *options)
{
	struct executor_options made = *options;
	int result = -ENOMEM;
	unsigned long n = 1;

	made.program = session_rules_program(rules);
	for (; result == -ENOMEM; n++) {
		struct executor *executor;

		alloc_fail_at(n);
		result = executor_new(&made, NULL, &executor);
		alloc_fail_at(0);
		assert_int_equal(executor != NULL, result == 0);
		executor_free(executor);
		assert_true(n < 10000);
	}
	assert_int_equal(result, 0);
	assert_true(n > 20);
	session_rules_free(rules);
}

static void survives_lack_of_memory(void **state)
{
	(void)state;
	make_without_memory(read_rules(false), &(struct executor_options){ .jobs = 3 });
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_one_engine),
		cmocka_unit_test(stops_when_nobody_takes_matches),
		cmocka_unit_test(can_be_freed_at_any_time),
		cmocka_unit_test(keeps_together_what_belongs_together),
		cmocka_unit_test(time_passes_without_events),
		cmocka_unit_test(one_job_needs_one_engine),
		cmocka_unit_test(what_cannot_be_split_takes_one_engine),
		cmocka_unit_test(survives_lack_of_memory),
	};

	return cmocka_run_group_tests_name("session-crew", tests, NULL, NULL);
}
