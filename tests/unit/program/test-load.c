// SPDX-License-Identifier: BSD-2-Clause
/* Loading as a whole: what was built is found again; what is cut, altered or entangled is refused in bounded time. */

#include "sample.h"
#include "../size.h"

#include "base/alloc.h"
#include "base/diag.h"
#include "event/type.h"
#include "program/eval.h"
#include "program/explain/explain.h"
#include "program/section.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static void assert_error(const void *image, size_t length, const char *text, uint64_t offset)
{
	struct asterism_diag *diag = asterism_diag_new();
	struct program *program = NULL;
	int result = program_load(image, length, "sample.astc", diag, &program);
	const struct asterism_message *message = asterism_diag_get(diag, 0);

	assert_int_equal(result, -EINVAL);
	assert_null(program);
	assert_non_null(message);
	if (!strstr(message->text, text))
		fail_msg("\"%s\" instead of \"%s\"", message->text, text);
	assert_string_equal(message->file, "sample.astc");
	assert_int_equal(message->offset, offset);
	asterism_diag_free(diag);
}

static void round_trip(void **context)
{
	size_t length;
	void *image = sample_image(&length);
	struct program *program = NULL;

	(void)context;
	assert_int_equal(program_load(image, length, "sample", NULL, &program), 0);
	memset(image, 0xff, length); /* the program has a copy */
	alloc_free(image);
	assert_int_equal(program->total_bytes, length);
	assert_int_equal(program->type_count, SAMPLE_TYPES);
	assert_int_equal(program->rule_count, SAMPLE_RULES);
	assert_string_equal(program_text(program, program->rules[RULE_SILENCE].name), "silence");
	assert_string_equal(program_text(program, PROGRAM_NONE), "");
	assert_int_equal(program->rules[RULE_SILENCE].within_ns, 1000000000);
	assert_int_equal(program->transitions[program->states[1].first_transition].target, 2);
	assert_int_equal(program_type_find(program, "alarm"), TYPE_ALARM);
	assert_int_equal(program_type_find(program, "Alarm"), PROGRAM_NONE);
	program_free(program);
	program_free(NULL);
}

static void an_image_may_be_empty(void **context)
{
	struct program_build *build = program_build_new();
	struct program *program = NULL;
	void *image = NULL;
	size_t length = 0;

	(void)context;
	assert_int_equal(program_build_finish(build, &image, &length), 0);
	assert_error(image, length, "header fields are missing", length);
	alloc_free(image);
	sample_types(build);
	assert_int_equal(program_build_finish(build, &image, &length), 0);
	assert_int_equal(program_load(image, length, "sample", NULL, &program), 0);
	assert_int_equal(program->rule_count, 0);
	program_free(program);
	alloc_free(image);
	program_build_free(build);
}

static void headers_are_checked(void **context)
{
	size_t length;
	char *image = sample_image(&length), *longer = alloc_zero(length + 8, 1);
	struct program_header *header = (void *)image;

	(void)context;
	assert_error("", 0, "not a program image", 0);
	assert_error("ASTC", 4, "ends within its header", 4);
	image[0] = 'B';
	assert_error(image, length, "not a program image", 0);
	image[0] = 'A';
	header->version++;
	assert_error(image, length, "has a version", offsetof(struct program_header, version));
	header->version--;
	header->header_bytes += 8;
	assert_error(image, length, "header of the wrong size", offsetof(struct program_header, header_bytes));
	header->header_bytes -= 8;
	header->checksum++;
	assert_error(image, length, "was altered", offsetof(struct program_header, checksum));
	header->checksum--;
	image[length - 1] ^= 1;
	assert_error(image, length, "was altered", offsetof(struct program_header, checksum));
	image[length - 1] ^= 1;
	header->sections[PROGRAM_RULES].count--;
	assert_error(image, length, "was altered", offsetof(struct program_header, checksum));
	header->sections[PROGRAM_RULES].count++;
	memcpy(longer, image, length);
	assert_error(longer, length + 8, "after its end", length);
	header->total_bytes = UINT32_MAX;
	assert_error(image, length, "too large", offsetof(struct program_header, total_bytes));
	assert_error(image, (size_t)PROGRAM_BYTES_MAX + 1, "too large", 0);
	alloc_free(longer);
	alloc_free(image);
}

/* The error of an image whose checksum is right. */
static void assert_sealed_error(void *image, size_t length, const char *text, uint64_t offset)
{
	sample_seal(image, length);
	assert_error(image, length, text, offset);
}

static void sections_are_checked(void **context)
{
	size_t length;
	char *image = sample_image(&length);
	struct program_section *section = &((struct program_header *)image)->sections[PROGRAM_RULES];
	uint64_t at = (uint64_t)((char *)section - image);
	struct program_section saved = *section;

	(void)context;
	section->offset += 4;
	assert_sealed_error(image, length, "not aligned", at);
	*section = saved;
	section->offset = 0;
	assert_sealed_error(image, length, "out of place", at);
	section->offset = saved.offset - 8;
	assert_sealed_error(image, length, "out of place", at);
	section->offset = UINT32_MAX - 7;
	assert_sealed_error(image, length, "out of place", at);
	*section = saved;
	section->count = 100000;
	assert_sealed_error(image, length, "longer than the image", at);
	section->count = UINT32_MAX;
	assert_sealed_error(image, length, "longer than the image", at);
	section->count = saved.count + 1;
	assert_sealed_error(image, length, "out of place", at + sizeof *section);
	alloc_free(image);
}

/* As it is, and with a header that admits the truth. */
static void every_truncation_is_refused(void **context)
{
	size_t length;
	char *image = sample_image(&length);

	(void)context;
	for (size_t cut = 0; cut < length; cut++) {
		char *copy = alloc_zero(cut, 1); /* so that a read beyond is seen */
		struct program *program = NULL;

		memcpy(copy, image, cut);
		assert_int_equal(program_load(copy, cut, "sample", NULL, &program), -EINVAL);
		if (cut >= sizeof(struct program_header)) {
			((struct program_header *)copy)->total_bytes = (uint32_t)cut;
			sample_seal(copy, cut);
			if (program_load(copy, cut, "sample", NULL, &program) == 0) /* only padding was lost */
				assert_true(length - cut < PROGRAM_SECTION_ALIGN);
			program_free(program);
		}
		alloc_free(copy);
	}
	alloc_free(image);
}

/* Whatever was accepted can be explained and evaluated. */
static void exercise(const struct program *program)
{
	static void (*const explains[])(const struct program *, uint32_t, const struct program_explain_facts *,
					struct text_buffer *) = {
		program_explain_text,
		program_explain_dot,
		program_explain_json,
	};
	static const uint64_t slots[PROGRAM_SLOT_BYTES_MAX / 8];
	static const uint64_t record[EVENT_RECORD_BYTES_MAX / 8];
	const struct program_explain_facts facts = { 0 };
	uint64_t divisions = 0;

	for (uint32_t r = 0; r < program->rule_count; r++) {
		const struct program_rule *rule = &program->rules[r];
		struct program_operand operand = { program, rule, record, slots };

		for (size_t i = 0; i < sizeof explains / sizeof *explains; i++) {
			struct text_buffer out = { 0 };

			explains[i](program, r, &facts, &out);
			text_fini(&out);
		}
		for (uint32_t s = rule->first_state; s < rule->first_state + rule->state_count; s++) {
			const struct program_state *state = &program->states[s];

			for (uint32_t t = 0; t < state->transition_count; t++) {
				const struct program_transition *transition =
					&program->transitions[state->first_transition + t];

				program_holds(&operand, transition->fit, &divisions);
				program_holds(&operand, transition->hold, &divisions);
			}
		}
	}
}

/* One byte at a time takes every value that one flipped bit, all bits or an end of the range give. */
static void every_altered_byte_is_refused_or_harmless(void **context)
{
	static const unsigned char masks[] = { 0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80, 0xff };
	size_t length, accepted = 0;
	char *image = sample_image(&length);

	(void)context;
	for (size_t at = 0; at < length; at++) {
		for (size_t m = is_sized_down() ? at % 3 : 0; m < sizeof masks; m += is_sized_down() ? 3 : 1) {
			struct program *program = NULL;
			struct asterism_diag *diag = asterism_diag_new();

			image[at] ^= (char)masks[m];
			sample_seal(image, length);
			int result = program_load(image, length, "sample", diag, &program);
			if (!result) {
				accepted++;
				exercise(program);
			} else {
				assert_int_equal(result, -EINVAL);
				assert_int_equal(asterism_diag_count(diag, ASTERISM_ERROR), 1);
			}
			program_free(program);
			asterism_diag_free(diag);
			image[at] ^= (char)masks[m];
		}
	}
	assert_true(accepted > sized(100, 3)); /* letters of names, numbers of constants */
	alloc_free(image);
}

static void short_memory_is_reported(void **context)
{
	size_t length;
	void *image = sample_image(&length);
	struct asterism_diag *diag = asterism_diag_new();
	struct program *program = NULL;
	unsigned long n = 0;
	int result;

	(void)context;
	do {
		asterism_diag_clear(diag);
		alloc_fail_at(++n);
		result = program_load(image, length, "sample", diag, &program);
		alloc_fail_at(0);
		if (result) {
			assert_int_equal(result, -ENOMEM);
			assert_null(program);
			assert_string_equal(asterism_diag_get(diag, 0)->text, "out of memory");
		}
	} while (result);
	assert_true(n > 15);
	program_free(program);
	asterism_diag_free(diag);
	alloc_free(image);
}

/* alarm leads to dropping; let dropping emit C, which leads to pair, which emits alarm. */
static void circles_of_emission_are_refused(void **context)
{
	size_t length;
	char *image = sample_image(&length);
	struct program_rule *rule = sample_item(image, PROGRAM_RULES, RULE_DROPPING);
	struct program_statement *statement = sample_item(image, PROGRAM_STATEMENTS, 2);
	struct program_transition *completing = sample_item(image, PROGRAM_TRANSITIONS, 4);
	struct program *program = NULL;

	(void)context;
	rule->first_statement = 2;
	rule->statement_count = 1;
	sample_seal(image, length);
	assert_error(image, length, "EMIT forms a cycle: rule dropping -> C -> rule pair -> alarm -> rule dropping",
		     (uint64_t)((char *)rule - image));
	/* If C only ended runs of pair, nothing would come of it. */
	completing->target = PROGRAM_TARGET_END;
	completing->element = PROGRAM_NONE;
	sample_seal(image, length);
	assert_int_equal(program_load(image, length, "sample", NULL, &program), 0);
	program_free(program);
	statement->type = TYPE_A;
	sample_seal(image, length);
	assert_error(image, length, "EMIT forms a cycle: A -> rule dropping -> A", (uint64_t)((char *)rule - image));
	alloc_free(image);
}

static void names_are_unique(void **context)
{
	size_t length;
	char *image = sample_image(&length);
	struct program_rule *rule = sample_item(image, PROGRAM_RULES, RULE_STRICT);
	const struct program_rule *other = sample_item(image, PROGRAM_RULES, RULE_PAIR);
	struct program_type *type = sample_item(image, PROGRAM_TYPES, TYPE_C);
	const struct program_type *first = sample_item(image, PROGRAM_TYPES, TYPE_A);
	struct asterism_diag *diag = asterism_diag_new();
	struct program *program = NULL;
	uint32_t name = rule->name;

	(void)context;
	rule->name = other->name;
	sample_seal(image, length);
	assert_int_equal(program_load(image, length, "sample", diag, &program), -EINVAL);
	assert_non_null(strstr(asterism_diag_get(diag, 0)->text, "another one is also called pair"));
	asterism_diag_clear(diag);
	rule->name = name;
	type->name = first->name;
	sample_seal(image, length);
	assert_int_equal(program_load(image, length, "sample", diag, &program), -EINVAL);
	assert_non_null(strstr(asterism_diag_get(diag, 0)->text, "another one is also called A"));
	asterism_diag_free(diag);
	alloc_free(image);
}

/* Replaces the first text equal to from by bytes of the same length. */
static void retext(char *image, const char *from, const char *to)
{
	const struct program_header *header = (void *)image;
	char *at = image + header->sections[PROGRAM_STRINGS].offset;

	while (strcmp(at, from) != 0)
		at += strlen(at) + 1;
	memcpy(at, to, strlen(from));
}

static void texts_are_checked_for_their_use(void **context)
{
	static const struct {
		const char *from, *to, *text;
	} cases[] = {
		{ "alarm", "al\"rm", "no name begins" },
		{ "alarm", "al\\rm", "no name begins" },
		{ "alarm", "al rm", "no name begins" },
		{ "alarm", "al\nrm", "no name begins" },
		{ "alarm", "al\177rm", "no name begins" },
		{ "alarm", "al\303\244", "no name begins" },
		{ "after a", "after\033[", "no printable text begins" },
		{ "after a", "after\302\233", "no printable text begins" },
		{ "after a", "aft\355\240\200r", "no printable text begins" },
		{ "after a", "after \303", "no printable text begins" },
		{ "after a", "a\303\244ter\t", NULL },
		{ "c*\n", "c*\377", NULL },
	};

	(void)context;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		size_t length;
		char *image = sample_image(&length);
		struct asterism_diag *diag = asterism_diag_new();
		struct program *program = NULL;

		retext(image, cases[i].from, cases[i].to);
		sample_seal(image, length);
		assert_int_equal(program_load(image, length, "sample", diag, &program), cases[i].text ? -EINVAL : 0);
		if (cases[i].text && !strstr(asterism_diag_get(diag, 0)->text, cases[i].text))
			fail_msg("case %zu: %s", i, asterism_diag_get(diag, 0)->text);
		program_free(program);
		asterism_diag_free(diag);
		alloc_free(image);
	}
}

static void the_last_text_must_end(void **context)
{
	size_t length;
	char *image = sample_image(&length);
	const struct program_section *strings = &((struct program_header *)image)->sections[PROGRAM_STRINGS];

	(void)context;
	image[strings->offset + strings->count - 1] = 'x';
	sample_seal(image, length);
	assert_error(image, length, "the last text is not terminated", strings->offset + strings->count - 1);
	alloc_free(image);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(round_trip),
		cmocka_unit_test(an_image_may_be_empty),
		cmocka_unit_test(headers_are_checked),
		cmocka_unit_test(sections_are_checked),
		cmocka_unit_test(every_truncation_is_refused),
		cmocka_unit_test(every_altered_byte_is_refused_or_harmless),
		cmocka_unit_test(short_memory_is_reported),
		cmocka_unit_test(circles_of_emission_are_refused),
		cmocka_unit_test(names_are_unique),
		cmocka_unit_test(texts_are_checked_for_their_use),
		cmocka_unit_test(the_last_text_must_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
