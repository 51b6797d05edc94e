// SPDX-License-Identifier: BSD-2-Clause
/* What a match tells: values by number, by name and in generated structures, its events, and all of it as JSON. */

#include "fixture.h"
#include "values.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *rule_file, *image_file;

static struct asterism_rules *load_file(struct fixture *fixture)
{
	struct asterism_rules *rules = NULL;

	assert_int_equal(asterism_rules_load_file(fixture->session, rule_file, &rules), 0);
	return rules;
}

/* One match of rules, read by then. */
static void read_one(struct fixture *fixture, struct asterism_rules *rules,
		     int (*then)(struct fixture *fixture, const struct asterism_match *match))
{
	fixture->then = then;
	fixture_activate(fixture->session, rules);
	assert_int_equal(puppet_call(&fixture->puppet, 1), 0);
	fixture_await(fixture, fixture->session, 1);
}

static int read_values(struct fixture *fixture, const struct asterism_match *match)
{
	struct asterism_value value;

	assert_int_equal(asterism_match_pid(match), fixture->puppet.pid);
	assert_int_equal(asterism_match_tid(match), fixture->puppet.pid);
	assert_string_equal(asterism_match_comm(match), "api-match");
	assert_int_equal(asterism_match_is_tainted(match), 0);
	assert_true(asterism_match_time_ns(match) > 0);
	assert_int_equal(asterism_match_rule_index(match), 0);
	assert_int_equal(asterism_match_value_count(match), 6);
	assert_int_equal(asterism_match_value(match, 0, &value), 0);
	assert_string_equal(value.name, "ret");
	assert_int_equal(value.kind, ASTERISM_I64);
	assert_int_equal(value.as.i64, getpid());
	assert_int_equal(asterism_match_value_find(match, "who", &value), 0);
	assert_int_equal(value.kind, ASTERISM_STRING);
	assert_string_equal(value.as.string, "api-match");
	assert_int_equal(asterism_match_value_find(match, "fine", &value), 0);
	assert_int_equal(value.kind, ASTERISM_BOOL);
	assert_int_equal(value.as.boolean, 1);
	assert_int_equal(asterism_match_value_find(match, "real", &value), 0);
	assert_int_equal(value.kind, ASTERISM_F64);
	assert_true(value.as.f64 == 2.5);
	assert_int_equal(asterism_match_value_find(match, "none", &value), -EDOM);
	assert_string_equal(value.name, "none");
	assert_int_equal(asterism_match_value_find(match, "nothing", &value), -ENOENT);
	assert_int_equal(asterism_match_value(match, 6, &value), -EINVAL);
	assert_int_equal(asterism_match_event_count(match), 0);
	return ASTERISM_ABORT; /* of a rule that does not ask: without effect */
}

static void values_are_read(void **state)
{
	struct fixture *fixture = *state;

	read_one(fixture, load_file(fixture), read_values);
}

static int read_untaken(struct fixture *fixture, const struct asterism_match *match)
{
	struct asterism_value value;

	(void)fixture;
	assert_int_equal(asterism_match_value_find(match, "taken", &value), 0);
	assert_int_equal(value.as.i64, getpid());
	assert_int_equal(asterism_match_value_find(match, "other", &value), -ENODATA);
	assert_string_equal(value.name, "other");
	assert_int_equal(value.kind, ASTERISM_I64);
	return 0;
}

static int read_shown(struct fixture *fixture, const struct asterism_match *match)
{
	char text[32] = "x";

	(void)fixture;
	assert_int_equal(asterism_match_value_shown(match, 0, text, sizeof text), 3);
	assert_string_equal(text, "1ms");
	assert_int_equal(asterism_match_value_shown(match, 1, NULL, 0), 7);
	assert_int_equal(asterism_match_value_shown(match, 1, text, 5), 7);
	assert_string_equal(text, "getp");
	assert_int_equal(asterism_match_value_shown(match, 2, text, sizeof text), -EDOM);
	assert_int_equal(asterism_match_value_shown(match, 3, text, sizeof text), -EINVAL);
	return 0;
}

/* As people read them. */
static void values_are_shown(void **state)
{
	static const char text[] = "RULE t PATTERN { sys_enter:a } WHERE { a.id == getppid } "
				   "RETURN { a.ts - a.ts + 1ms AS took, a.id, 1 / (a.id - a.id) AS none }";
	struct fixture *fixture = *state;
	struct asterism_rules *rules = NULL;

	assert_int_equal(asterism_rules_load_text(fixture->session, text, strlen(text), NULL, &rules), 0);
	read_one(fixture, rules, read_shown);
}

/* What the alternative that was not taken would have is absent, not 0. */
static void untaken_values_are_absent(void **state)
{
	static const char text[] =
		"RULE t PATTERN { [sys_enter_getppid:a, (sys_exit_getppid:b | sys_exit_getpgid:c)] } "
		"WHERE { [tid] } RETURN { b.ret AS taken, c.ret AS other }";
	struct fixture *fixture = *state;
	struct asterism_rules *rules = NULL;

	assert_int_equal(asterism_rules_load_text(fixture->session, text, strlen(text), NULL, &rules), 0);
	read_one(fixture, rules, read_untaken);
}

static int read_structure(struct fixture *fixture, const struct asterism_match *match)
{
	struct pair_values values;

	assert_int_equal(pair_values_get(match, &values), 0);
	assert_int_equal(values.ret, getpid());
	assert_int_equal(values.process, fixture->puppet.pid);
	assert_string_equal(values.who, "api-match");
	assert_true(values.fine);
	assert_int_equal(values.none, 0);
	assert_true(values.real == 2.5);
	assert_int_equal(values.missing, 1 << 4);
	values.layout++;
	assert_int_equal(asterism_match_values(match, &values, sizeof values), -EINVAL);
	values.layout--;
	assert_int_equal(asterism_match_values(match, &values, sizeof values - 1), -EINVAL);
	assert_int_equal(asterism_match_values(match, &values, sizeof values), 0);
	return ASTERISM_CONTINUE;
}

static void structures_are_filled(void **state)
{
	struct fixture *fixture = *state;

	read_one(fixture, load_file(fixture), read_structure);
}

static int read_wrong_structure(struct fixture *fixture, const struct asterism_match *match)
{
	struct pair_values values;

	(void)fixture;
	assert_int_equal(pair_values_get(match, &values), -EINVAL);
	return ASTERISM_CONTINUE;
}

/* The same size, the same rule, one value under another name. */
static void structures_of_another_version_are_refused(void **state)
{
	struct fixture *fixture = *state;
	struct asterism_rules *rules = NULL;
	char other[512];

	snprintf(other, sizeof other, "%.*s-other.rule", (int)(strlen(rule_file) - strlen(".rule")), rule_file);
	assert_int_equal(asterism_rules_load_file(fixture->session, other, &rules), 0);
	read_one(fixture, rules, read_wrong_structure);
}

static int read_events(struct fixture *fixture, const struct asterism_match *match)
{
	struct asterism_event event = { .size = sizeof event };
	struct asterism_value value;

	assert_int_equal(asterism_match_event_count(match), 2);
	assert_int_equal(asterism_match_event(match, 0, &event), 0);
	assert_string_equal(event.type, "sys_enter_getppid");
	assert_string_equal(event.name, "a");
	assert_int_equal(event.tid, fixture->puppet.pid);
	assert_string_equal(event.comm, "api-match");
	assert_int_equal(asterism_match_event(match, 1, &event), 0);
	assert_string_equal(event.type, "sys_exit_getppid");
	assert_null(event.name);
	assert_int_equal(event.field_count, 1);
	assert_int_equal(asterism_match_event_field(match, 1, 0, &value), 0);
	assert_string_equal(value.name, "ret");
	assert_int_equal(value.as.i64, getpid());
	assert_int_equal(asterism_match_event_field(match, 1, 1, &value), -EINVAL);
	assert_int_equal(asterism_match_event_field(match, 2, 0, &value), -EINVAL);
	assert_int_equal(asterism_match_event(match, 2, &event), -EINVAL);
	event.size = 0;
	assert_int_equal(asterism_match_event(match, 0, &event), -EINVAL);
	return ASTERISM_CONTINUE;
}

static void events_are_read(void **state)
{
	static const char whole_text[] = "RULE whole\n"
					 "PATTERN { [sys_enter_getppid:a, sys_exit_getppid] }\n"
					 "WHERE { [tid] }\n"
					 "RETURN SEQUENCE\n";
	struct fixture *fixture = *state;

	read_one(fixture, fixture_load(fixture->session, whole_text), read_events);
}

static int read_json(struct fixture *fixture, const struct asterism_match *match)
{
	char cut[16], *text, *whole, wanted[64];
	int length = asterism_match_json(match, NULL, 0);

	assert_true(length > 0);
	assert_int_equal(asterism_match_json_text(match, &text), length);
	assert_int_equal(strlen(text), length);
	assert_int_equal(strncmp(text, "{\"match\":\"pair\",\"ts\":", 21), 0);
	snprintf(wanted, sizeof wanted, "\"return\":{\"ret\":%d,\"process\":%d,", (int)getpid(),
		 (int)fixture->puppet.pid);
	assert_non_null(strstr(text, wanted));
	assert_null(strchr(text, '\n'));
	assert_int_equal(asterism_match_json(match, cut, sizeof cut), length);
	assert_int_equal(strlen(cut), sizeof cut - 1);
	assert_int_equal(strncmp(cut, text, sizeof cut - 1), 0);
	whole = malloc((size_t)length + 1);
	assert_non_null(whole);
	assert_int_equal(asterism_match_json(match, whole, (size_t)length + 1), length);
	assert_string_equal(whole, text);
	free(whole);
	free(text);
	return ASTERISM_CONTINUE;
}

static void json_is_written(void **state)
{
	struct fixture *fixture = *state;

	read_one(fixture, load_file(fixture), read_json);
}

static unsigned char *read_image(size_t *length)
{
	FILE *file = fopen(image_file, "rb");
	unsigned char *bytes = malloc(1 << 20);

	assert_non_null(file);
	assert_non_null(bytes);
	*length = fread(bytes, 1, 1 << 20, file);
	fclose(file);
	assert_in_range(*length, 100, (1 << 20) - 1);
	return bytes;
}

static void images_are_loaded(void **state)
{
	struct fixture *fixture = *state;
	struct asterism_rules *rules = NULL;
	size_t length;
	unsigned char *bytes = read_image(&length);

	assert_int_equal(asterism_rules_load_image(fixture->session, bytes, length, NULL, &rules), 0);
	memset(bytes, 0xff, length); /* it has its own copy */
	free(bytes);
	assert_string_equal(asterism_rules_name(rules), "<image>");
	read_one(fixture, rules, read_structure);
}

/* Whatever is missing, added or changed: an error that says so, nothing else. */
static void broken_images_are_refused(void **state)
{
	struct fixture *fixture = *state;
	struct asterism_rules *rules = NULL;
	size_t length;
	unsigned char *bytes = read_image(&length);

	for (size_t cut = 0; cut < length; cut += cut < 64 ? 1 : 61)
		assert_int_equal(asterism_rules_load_image(fixture->session, bytes, cut, "cut", &rules), -EINVAL);
	for (size_t at = 0; at < length; at += at < 64 ? 1 : 61) {
		bytes[at] ^= 0x55;
		assert_int_equal(asterism_rules_load_image(fixture->session, bytes, length, "bent", &rules), -EINVAL);
		assert_int_equal(strncmp(asterism_session_error(fixture->session), "bent: ", 6), 0);
		bytes[at] ^= 0x55;
	}
	assert_int_equal(asterism_rules_load_image(fixture->session, pair_text, 80, NULL, &rules), -EINVAL);
	assert_int_equal(asterism_rules_load_text(fixture->session, (const char *)bytes, length, NULL, &rules),
			 -EINVAL);
	assert_null(rules);
	free(bytes);
}

static void units_have_contexts(void **state)
{
	struct fixture *fixture = *state;
	struct asterism_rules *rules = load_file(fixture);

	assert_null(asterism_rules_context(rules));
	asterism_rules_set_context(rules, fixture);
	assert_ptr_equal(asterism_rules_context(rules), fixture);
	assert_string_equal(asterism_rules_name(rules), rule_file);
	assert_string_equal(asterism_version(), ASTERISM_VERSION);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		case_of(values_are_read),       case_of(values_are_shown),
		case_of(values_are_read),       case_of(untaken_values_are_absent),
		case_of(structures_are_filled), case_of(structures_of_another_version_are_refused),
		case_of(events_are_read),       case_of(json_is_written),
		case_of(images_are_loaded),     case_of(broken_images_are_refused),
		case_of(units_have_contexts),
	};

	if (geteuid() != 0) {
		printf("skipped: not root\n");
		return SKIPPED;
	}
	if (argc != 3)
		return 1;
	rule_file = argv[1];
	image_file = argv[2];
	return cmocka_run_group_tests(tests, NULL, NULL);
}
