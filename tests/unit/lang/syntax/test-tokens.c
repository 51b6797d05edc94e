// SPDX-License-Identifier: BSD-2-Clause

#include "base/alloc.h"
#include "lang/syntax/lex.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

struct lexing {
	struct arena *arena;
	struct diag_source source;
	struct lang_report report;
	struct lang_lexer lexer;
};

static void start(struct lexing *lexing, const char *text)
{
	*lexing = (struct lexing){ .arena = arena_new() };
	assert_non_null(lexing->arena);
	lexing->source = (struct diag_source){ .file = "t", .text = text, .length = strlen(text) };
	lexing->report.arena = lexing->arena;
	lang_lex_init(&lexing->lexer, &lexing->source, lexing->arena, &lexing->report);
}

/* The only token of text. */
static struct lang_token only(struct lexing *lexing, const char *text)
{
	struct lang_token token, end;

	start(lexing, text);
	lang_lex_next(&lexing->lexer, &token);
	lang_lex_next(&lexing->lexer, &end);
	assert_int_equal(end.kind, LANG_TOKEN_END);
	return token;
}

static void test_punctuation(void **state)
{
	static const enum lang_token_kind kinds[] = {
		LANG_TOKEN_LBRACE, LANG_TOKEN_RBRACE,  LANG_TOKEN_LBRACKET,  LANG_TOKEN_RBRACKET, LANG_TOKEN_LPAREN,
		LANG_TOKEN_RPAREN, LANG_TOKEN_COMMA,   LANG_TOKEN_SEMICOLON, LANG_TOKEN_COLON,    LANG_TOKEN_DOT,
		LANG_TOKEN_DOTS,   LANG_TOKEN_TILDE,   LANG_TOKEN_HASH,      LANG_TOKEN_QUESTION, LANG_TOKEN_STAR,
		LANG_TOKEN_SLASH,  LANG_TOKEN_PERCENT, LANG_TOKEN_PLUS,      LANG_TOKEN_MINUS,    LANG_TOKEN_AMPERSAND,
		LANG_TOKEN_BAR,    LANG_TOKEN_CARET,   LANG_TOKEN_SHL,       LANG_TOKEN_SHR,      LANG_TOKEN_ASSIGN,
		LANG_TOKEN_EQ,     LANG_TOKEN_NE,      LANG_TOKEN_LT,        LANG_TOKEN_LE,       LANG_TOKEN_GT,
		LANG_TOKEN_GE,     LANG_TOKEN_ARROW,   LANG_TOKEN_LAND_C,    LANG_TOKEN_LOR_C,    LANG_TOKEN_LNOT_C,
		LANG_TOKEN_END,
	};
	struct lexing lexing;
	struct lang_token token;

	(void)state;
	start(&lexing, "{ } [ ] ( ) , ; : . .. ~ # ? * / % + - & | ^ << >> = == != < <= > >= -> && || !");
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		lang_lex_next(&lexing.lexer, &token);
		assert_int_equal(token.kind, kinds[i]);
	}
	assert_int_equal(lexing.report.error_count, 0);
	arena_free(lexing.arena);
}

static void test_places(void **state)
{
	struct lexing lexing;
	struct lang_token token;

	(void)state;
	start(&lexing, "\xef\xbb\xbf ab /* x\n y */ cd // z\n\t\"e\\n\"");
	lang_lex_next(&lexing.lexer, &token);
	assert_int_equal(token.location.line, 1);
	assert_int_equal(token.location.column, 2);
	assert_int_equal(token.location.offset, 4);
	assert_int_equal(token.location.length, 2);
	lang_lex_next(&lexing.lexer, &token);
	assert_int_equal(token.location.line, 2);
	assert_int_equal(token.location.column, 7);
	lang_lex_next(&lexing.lexer, &token);
	assert_int_equal(token.kind, LANG_TOKEN_STRING);
	assert_int_equal(token.location.line, 3);
	assert_int_equal(token.location.column, 2);
	assert_int_equal(token.location.length, 5);
	assert_string_equal(token.text, "e\n");
	lang_lex_next(&lexing.lexer, &token);
	assert_int_equal(token.kind, LANG_TOKEN_END);
	assert_int_equal(token.location.line, 3);
	assert_int_equal(token.location.column, 7);
	arena_free(lexing.arena);
}

struct number_row {
	const char *text;
	uint64_t value;
	enum lang_unit_kind unit;
};

static void test_integers(void **state)
{
	static const struct number_row rows[] = {
		{ "0", 0, LANG_PLAIN },
		{ "42", 42, LANG_PLAIN },
		{ "18446744073709551615", UINT64_MAX, LANG_PLAIN },
		{ "0x0", 0, LANG_PLAIN },
		{ "0XfF", 255, LANG_PLAIN },
		{ "0xffffffffffffffff", UINT64_MAX, LANG_PLAIN },
		{ "7ns", 7, LANG_TIME },
		{ "3us", 3000, LANG_TIME },
		{ "250ms", 250000000, LANG_TIME },
		{ "1s", 1000000000, LANG_TIME },
		{ "1S", 1000000000, LANG_TIME },
		{ "2min", UINT64_C(120000000000), LANG_TIME },
		{ "2h", UINT64_C(7200000000000), LANG_TIME },
		{ "1.5s", 1500000000, LANG_TIME },
		{ "0.000000001s", 1, LANG_TIME },
		{ "1.10us", 1100, LANG_TIME },
		{ "9223372036854775807ns", INT64_MAX, LANG_TIME },
		{ "2KiB", 2048, LANG_SIZE },
		{ "2kib", 2048, LANG_SIZE },
		{ "0.5MiB", 524288, LANG_SIZE },
		{ "1GiB", 1073741824, LANG_SIZE },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct lexing lexing;
		struct lang_token token = only(&lexing, rows[i].text);

		if (token.kind != LANG_TOKEN_INTEGER || token.integer != rows[i].value || token.unit != rows[i].unit)
			fail_msg("%s is kind %d, %llu, unit %d", rows[i].text, token.kind,
				 (unsigned long long)token.integer, token.unit);
		assert_int_equal(token.location.length, strlen(rows[i].text));
		arena_free(lexing.arena);
	}
}

static void test_reals(void **state)
{
	static const struct {
		const char *text;
		double value;
	} rows[] = { { "1.5", 1.5 }, { "1e3", 1000 }, { "2.5E-1", 0.25 }, { "1e+2", 100 }, { "0.1", 0.1 } };

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct lexing lexing;
		struct lang_token token = only(&lexing, rows[i].text);

		assert_int_equal(token.kind, LANG_TOKEN_REAL);
		assert_true(token.real == rows[i].value);
		arena_free(lexing.arena);
	}
}

/* "1..5" is a range, not two reals. */
static void test_range(void **state)
{
	static const enum lang_token_kind kinds[] = { LANG_TOKEN_INTEGER, LANG_TOKEN_DOTS, LANG_TOKEN_INTEGER,
						      LANG_TOKEN_END };
	struct lexing lexing;
	struct lang_token token;

	(void)state;
	start(&lexing, "1..5");
	for (size_t i = 0; i < 4; i++) {
		lang_lex_next(&lexing.lexer, &token);
		assert_int_equal(token.kind, kinds[i]);
	}
	arena_free(lexing.arena);
}

static void test_escapes(void **state)
{
	struct lexing lexing;
	struct lang_token token = only(&lexing, "\"\\a\\b\\f\\n\\r\\t\\v\\\\\\'\\\"\\?\\x41\\x4\\101\\7z\xc3\xa9\"");

	(void)state;
	assert_int_equal(token.kind, LANG_TOKEN_STRING);
	assert_string_equal(token.text, "\a\b\f\n\r\t\v\\'\"?A\004A\az\xc3\xa9");
	arena_free(lexing.arena);
}

static void test_keywords_in_any_case(void **state)
{
	struct lexing lexing;
	struct lang_token token = only(&lexing, "SkipTillNext");

	(void)state;
	assert_true(lang_token_is(&token, "SKIPTILLNEXT"));
	assert_false(lang_token_is(&token, "SKIPTILLNEX"));
	assert_false(lang_token_is(&token, "SKIPTILLNEXTX"));
	arena_free(lexing.arena);
}

static void check_text(const char *bytes, size_t length, bool expected)
{
	struct lexing lexing;

	start(&lexing, "");
	lexing.source = (struct diag_source){ .file = "t", .text = bytes, .length = length };
	assert_int_equal(lang_text_check(&lexing.source, "a rule file is UTF-8 text", &lexing.report), expected);
	assert_int_equal(lexing.report.error_count, expected ? 0 : 1);
	arena_free(lexing.arena);
}

static void test_what_is_text(void **state)
{
	(void)state;
	check_text("a\tb\r\n\f\v", 7, true);
	check_text("\xc3\xa9\xe2\x89\xa4\xf0\x9f\x8c\x9f", 9, true);
	check_text("a\0b", 3, false);
	check_text("a\x1b", 2, false);
	check_text("a\x7f", 2, false);
	check_text("\xc3", 1, false);         /* cut off */
	check_text("\xc0\x80", 2, false);     /* overlong */
	check_text("\xed\xa0\x80", 3, false); /* surrogate */
	check_text("\xf4\x90\x80\x80", 4, false);
	check_text("\x80", 1, false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_punctuation),
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_integers),
		cmocka_unit_test(test_reals),
		cmocka_unit_test(test_range),
		cmocka_unit_test(test_escapes),
		cmocka_unit_test(test_keywords_in_any_case),
		cmocka_unit_test(test_what_is_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
