// SPDX-License-Identifier: BSD-2-Clause
/* Promises of an image that take more than one altered value to break, and which fields may be whose key. */

#include "sample.h"

#include "base/alloc.h"
#include "base/diag.h"
#include "event/type.h"
#include "program/section.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

/* Seals and loads. text: part of the expected message, NULL: it must load. Frees image. */
static void finish(void *image, size_t length, const char *text)
{
	struct asterism_diag *diag = asterism_diag_new();
	struct program *program = NULL;

	sample_seal(image, length);
	int result = program_load(image, length, "sample", diag, &program);
	const struct asterism_message *message = asterism_diag_get(diag, 0);

	if (result != (text ? -EINVAL : 0) || (text && !strstr(message->text, text)))
		fail_msg("expected %s, got %s", text ? text : "success", message ? message->text : "success");
	program_free(program);
	asterism_diag_free(diag);
	alloc_free(image);
}

static void a_field_is_given_once(void **context)
{
	size_t length;
	void *image = sample_image(&length);
	const struct program_arg *first = sample_item(image, PROGRAM_ARGS, 0);
	struct program_arg *second = sample_item(image, PROGRAM_ARGS, 1);

	(void)context;
	*second = *first;
	finish(image, length, "argument 1 of the image: its field is given twice");
}

static uint32_t *meaning_in(void *image, unsigned where)
{
	struct program_field *field = sample_item(image, PROGRAM_FIELDS, where == 0 ? FIELD_A_X : FIELD_TS);
	struct program_return *value = sample_item(image, PROGRAM_RETURNS, 0);
	struct program_arg *arg = sample_item(image, PROGRAM_ARGS, 0);

	return where < 2 ? &field->meaning : where == 2 ? &value->meaning : &arg->meaning;
}

/* What the sample's texts name is no meaning, and what is none of its texts neither. */
static void a_meaning_is_known(void **context)
{
	(void)context;
	for (unsigned where = 0; where < 4; where++) {
		size_t length;
		void *image = sample_image(&length);
		const struct program_field *field = sample_item(image, PROGRAM_FIELDS, FIELD_A_X);

		*meaning_in(image, where) = field->name + 1;
		finish(image, length, "unknown meaning");
		image = sample_image(&length);
		*meaning_in(image, where) = UINT32_MAX;
		finish(image, length, "where no printable text begins");
	}
}

static void a_deadline_has_its_states(void **context)
{
	size_t length;
	void *image = sample_image(&length);
	struct program_rule *rule = sample_item(image, PROGRAM_RULES, RULE_SILENCE);
	struct program_state *quiet = sample_item(image, PROGRAM_STATES, 4);
	struct program_state *one = sample_item(image, PROGRAM_STATES, 5);

	(void)context;
	quiet->flags = one->flags = 0;
	finish(image, length, "no state has one");
	image = sample_image(&length);
	rule = sample_item(image, PROGRAM_RULES, RULE_SILENCE);
	quiet = sample_item(image, PROGRAM_STATES, 4);
	one = sample_item(image, PROGRAM_STATES, 5);
	quiet->flags = one->flags = 0;
	rule->flags = 0;
	rule->context_slot = PROGRAM_NONE;
	finish(image, length, NULL);
}

/* The strict rule over A, B and C instead of everything. */
static void a_strict_sequence_sees_its_stream(void **context)
{
	(void)context;
	for (int missing = 0; missing < 2; missing++) {
		size_t length;
		void *image = sample_image(&length);
		struct program_rule *rule = sample_item(image, PROGRAM_RULES, RULE_STRICT);
		struct program_key *other = sample_item(image, PROGRAM_KEYS, 5);

		rule->flags = 0;
		rule->first_over = 0;
		rule->over_count = 2;
		other->type = TYPE_A;
		if (missing)
			rule->over_count = 3;
		finish(image, length,
		       missing ? "its strict sequence is over type 2, whose events do not find it" : NULL);
	}
}

/* From a slot of 16 bytes into a smaller one and one that is as large. */
static void a_text_fits_where_it_goes(void **context)
{
	(void)context;
	for (uint32_t bytes = 8; bytes <= 16; bytes += 8) {
		struct program_build *build = program_build_new();
		struct program_slot slots[] = { { PROGRAM_NONE, STRING, 0, 16 }, { PROGRAM_NONE, STRING, 16, bytes } };
		struct program_action action = { .op = PROGRAM_SET, .slot = 1 };
		struct program_transition transition = { .type = TYPE_A,
							 .target = PROGRAM_TARGET_MATCH,
							 .fit = PROGRAM_NONE,
							 .hold = PROGRAM_NONE,
							 .action_count = 1,
							 .element = PROGRAM_NONE,
							 .note = PROGRAM_NONE };
		struct program_state state = { .label = PROGRAM_NONE, .transition_count = 1, .class = PROGRAM_NONE };
		struct program_rule rule = { .semantics = PROGRAM_SKIP_TILL_NEXT,
					     .flags = PROGRAM_RULE_OVER_ALL,
					     .pool = 1,
					     .slot_count = 2,
					     .slot_bytes = 32,
					     .state_count = 1,
					     .context_slot = PROGRAM_NONE,
					     .place = PROGRAM_NONE,
					     .source = PROGRAM_NONE };
		void *image = NULL;
		size_t length;

		sample_types(build);
		rule.name = program_build_text(build, "rule");
		action.node = sample_slot(build, STRING, 0);
		program_build_add(build, PROGRAM_SLOTS, slots, 2);
		program_build_add(build, PROGRAM_ACTIONS, &action, 1);
		program_build_add(build, PROGRAM_TRANSITIONS, &transition, 1);
		program_build_add(build, PROGRAM_STATES, &state, 1);
		program_build_add(build, PROGRAM_RULES, &rule, 1);
		assert_int_equal(program_build_finish(build, &image, &length), 0);
		program_build_free(build);
		finish(image, length, bytes < 16 ? "slot 1 is too small" : NULL);
	}
}

/* Every kind of slot with a field of every value type. */
static void keys_compare_bit_by_bit(void **context)
{
	static const bool alike[][EVENT_STRING + 1] = {
		[I64] = { [EVENT_U8] = 1,
			  [EVENT_U16] = 1,
			  [EVENT_U32] = 1,
			  [EVENT_I8] = 1,
			  [EVENT_I16] = 1,
			  [EVENT_I32] = 1,
			  [EVENT_I64] = 1,
			  [EVENT_TIME] = 1 },
		[U64] = { [EVENT_U8] = 1, [EVENT_U16] = 1, [EVENT_U32] = 1, [EVENT_U64] = 1, [EVENT_ADDR] = 1 },
		[F64] = { 0 },
		[BOOL] = { [EVENT_BOOL] = 1 },
		[STRING] = { [EVENT_STRING] = 1 },
	};

	(void)context;
	for (int kind = I64; kind <= STRING; kind++) {
		for (int value = EVENT_U8; value <= EVENT_STRING; value++) {
			struct program_build *build = program_build_new();
			struct program_type type = { .field_count = 1, .record_bytes = 56 };
			struct program_field field = { .value = (uint32_t)value, .offset = 48, .bytes = 8 };
			struct program_slot slot = { PROGRAM_NONE, (uint32_t)kind, 0, 8 };
			struct program_class class = { .slot_count = 1, .key_count = 1, .label = PROGRAM_NONE };
			struct program_state states[] = { { .label = PROGRAM_NONE, .class = PROGRAM_NONE },
							  { .label = PROGRAM_NONE, .class = 0 } };
			struct program_rule rule = { .semantics = PROGRAM_SKIP_TILL_NEXT,
						     .flags = PROGRAM_RULE_OVER_ALL,
						     .pool = 1,
						     .slot_count = 1,
						     .slot_bytes = 8,
						     .state_count = 2,
						     .class_count = 1,
						     .context_slot = PROGRAM_NONE,
						     .place = PROGRAM_NONE,
						     .source = PROGRAM_NONE };
			void *image = NULL;
			size_t length;

			sample_types(build);
			field.name = type.name = rule.name = program_build_text(build, "k");
			type.first_field = program_build_add(build, PROGRAM_FIELDS, &field, 1);
			struct program_key key = { program_build_add(build, PROGRAM_TYPES, &type, 1), 1 };
			const uint32_t indices[] = { 0, type.first_field };
			program_build_add(build, PROGRAM_INDICES, indices, 2);
			program_build_add(build, PROGRAM_SLOTS, &slot, 1);
			program_build_add(build, PROGRAM_KEYS, &key, 1);
			program_build_add(build, PROGRAM_CLASSES, &class, 1);
			program_build_add(build, PROGRAM_STATES, states, 2);
			program_build_add(build, PROGRAM_RULES, &rule, 1);
			assert_int_equal(program_build_finish(build, &image, &length), 0);
			program_build_free(build);
			finish(image, length, alike[kind][value] ? NULL : "cannot be compared bit by bit");
		}
	}
}

static void tables_are_bounded(void **context)
{
	(void)context;
	for (int rules = 0; rules < 2; rules++) {
		struct program_build *build = program_build_new();
		void *image = NULL;
		size_t length;

		sample_types(build);
		if (rules) {
			struct program_rule *many = alloc_zero(PROGRAM_RULES_MAX + 1, sizeof *many);

			program_build_add(build, PROGRAM_RULES, many, PROGRAM_RULES_MAX + 1);
			alloc_free(many);
		} else {
			struct program_type *many = alloc_zero(PROGRAM_TYPES_MAX, sizeof *many);

			program_build_add(build, PROGRAM_TYPES, many, PROGRAM_TYPES_MAX);
			alloc_free(many);
		}
		assert_int_equal(program_build_finish(build, &image, &length), 0);
		program_build_free(build);
		finish(image, length, rules ? "too many rules" : "too many types");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_field_is_given_once),     cmocka_unit_test(a_meaning_is_known),
		cmocka_unit_test(a_deadline_has_its_states), cmocka_unit_test(a_strict_sequence_sees_its_stream),
		cmocka_unit_test(a_text_fits_where_it_goes), cmocka_unit_test(keys_compare_bit_by_bit),
		cmocka_unit_test(tables_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
