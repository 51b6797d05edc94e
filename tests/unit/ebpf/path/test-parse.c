// SPDX-License-Identifier: BSD-2-Clause
/* Catalog paths as text: what they mean, and that nothing hostile gets through. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "ebpf/path/path.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char reason[256];

static int parse(struct arena *arena, const char *text, struct source_node **node)
{
	*reason = '\0';
	return path_parse_path(text, arena, node, reason, sizeof reason);
}

/* Prints a tree with all parentheses, so that one string tells how a text was understood. */
static void print(const struct source_node *node, char *out, size_t size)
{
	static const char *const signs[] = {
		[SOURCE_AND] = "&", [SOURCE_OR] = "|",  [SOURCE_SHL] = "<<", [SOURCE_SHR] = ">>",   [SOURCE_ADD] = "+",
		[SOURCE_SUB] = "-", [SOURCE_MUL] = "*", [SOURCE_EQ] = "==",  [SOURCE_NE] = "!=",    [SOURCE_LT] = "<",
		[SOURCE_LE] = "<=", [SOURCE_GT] = ">",  [SOURCE_GE] = ">=",  [SOURCE_CHOICE] = "?",
	};
	static const char *const names[] = {
		[SOURCE_KSTR] = "kstr",
		[SOURCE_USTR] = "ustr",
		[SOURCE_BE16] = "be16",
		[SOURCE_BE32] = "be32",
		[SOURCE_BE64] = "be64",
		[SOURCE_USER_WORD] = "user_word",
		[SOURCE_KERNEL_WORD] = "kernel_word",
	};
	char left[512] = "", right[512] = "";

	if (node->left)
		print(node->left, left, sizeof left);
	if (node->right)
		print(node->right, right, sizeof right);
	if (node->op == SOURCE_CONST) {
		snprintf(out, size, "%lld", (long long)node->value);
	} else if (node->op == SOURCE_ACCESS || node->op == SOURCE_CAST) {
		int length = node->op == SOURCE_CAST ? snprintf(out, size, "cast(%s,%s)", node->name, left)
						     : snprintf(out, size, "%s", node->name);

		for (uint32_t i = 0; i < node->hop_count; i++)
			length += node->hops[i].member
					  ? snprintf(out + length, size - (size_t)length, ".%s", node->hops[i].member)
					  : snprintf(out + length, size - (size_t)length, "[%u]", node->hops[i].index);
	} else if (node->op <= SOURCE_CHOICE) {
		snprintf(out, size, "(%s%s%s)", left, signs[node->op], right);
	} else if (node->op <= SOURCE_KERNEL_WORD) {
		snprintf(out, size, "%s(%s)", names[node->op], left);
	} else {
		snprintf(out, size, "#%d(%lld,%u)", node->op - SOURCE_CAST, (long long)node->value, node->bytes);
	}
}

static void check(const char *text, const char *wanted)
{
	struct arena *arena = arena_new();
	struct source_node *node;
	char out[1024];

	int result = parse(arena, text, &node);

	if (result)
		print_error("%s: %s\n", text, reason);
	assert_int_equal(result, 0);
	print(node, out, sizeof out);
	assert_string_equal(out, wanted);
	arena_free(arena);
}

static void check_refused(const char *text, const char *why)
{
	struct arena *arena = arena_new();
	struct source_node *node;

	assert_int_equal(parse(arena, text, &node), -EINVAL);
	if (!strstr(reason, why))
		print_error("%s: \"%s\" does not say \"%s\"\n", text, reason, why);
	assert_non_null(strstr(reason, why));
	arena_free(arena);
}

static void understands_paths(void **state)
{
	(void)state;
	check("user_word(a + 8) >> 32", "(user_word((a+8))>>32)");
	check("kernel_word(skb->data)", "kernel_word(skb.data)");
	check("cast(file, a + 8)->f_inode->i_mode & 7", "(cast(file,(a+8)).f_inode.i_mode&7)");
	check("cast(file, a)", "cast(file,a)");
	check("user_arg(2)", "#6(2,0)");
	check("usdt_arg(11)", "#9(11,0)");
	check("user_uint(a + 8, 4) + user_int(b, 1)", "(user_word((a+8))+user_word(b))");
	check("user_chars(a->b, 16)", "ustr(a.b)");
	check("user_caller()", "#8(0,0)");
	check("a", "a");
	check(" prev -> comm ", "prev.comm");
	check("a->b.c[3]->d", "a.b.c[3].d");
	check("now[0]", "now[0]");
	check("1 + 2 * 3 - 4", "(((1+2)*3)-4)");
	check("a & 1 << 2 | 0xff", "(((a&1)<<2)|255)");
	check("(a + (b * c)) >> 3", "((a+(b*c))>>3)");
	check("a->x ? a->y ? 0", "((a.x?a.y)?0)");
	check("(ret == -110) * 258", "((ret==-110)*258)");
	check("(a <= 1) + (b >= 2) + (c < 3) + (d > 4) + (e != 5)", "(((((a<=1)+(b>=2))+(c<3))+(d>4))+(e!=5))");
	check("((prev_state ? prev->__state) & 3)", "((prev_state?prev.__state)&3)");
	check("kstr(bprm->filename)", "kstr(bprm.filename)");
	check("be16(sk->port) + be32(x)", "(be16(sk.port)+be32(x))");
	check("be64(kernel_word(x + 8))", "be64(kernel_word((x+8)))");
	check("syscall_arg(5)", "#1(5,0)");
	check("ctx(8,4)", "#2(8,4)");
	check("ctxs( 16 , 8 )", "#3(16,8)");
	check("ctxstr(24, 16)", "#4(24,16)");
	check("ctxloc(40)", "#5(40,0)");
	check("-9223372036854775808", "-9223372036854775808");
	check("0xffffffffffffffff", "-1");
}

static void refuses_nonsense(void **state)
{
	(void)state;
	check_refused("", "expected a path, found the end");
	check_refused("a->", "a member's name");
	check_refused("a b", "the end of the path, found 'b'");
	check_refused("a +", "expected a path, found the end");
	check_refused("(a", "expected ')', found the end");
	check_refused("a == 1", "the end of the path, found '='");
	check_refused("a[-1]", "expected a number");
	check_refused("a[99999999999]", "below 65536");
	check_refused("a[x]", "expected a number");
	check_refused("18446744073709551616", "64 bits");
	check_refused("-9223372036854775809", "64 bits");
	check_refused("0x", "not a number");
	check_refused("12ab", "'12ab' is not a number");
	check_refused("nosuch(a)", "unknown function in a path");
	check_refused("syscall_arg(6)", "below 6");
	check_refused("syscall_arg(a)", "expected a number");
	check_refused("user_arg(6)", "below 6");
	check_refused("usdt_arg(12)", "below 12");
	check_refused("user_int(a, 3)", "1, 2, 4 or 8");
	check_refused("user_uint(a, 16)", "below 9");
	check_refused("user_int(a)", "expected ','");
	check_refused("user_chars(a, 0)", "at least one");
	check_refused("user_arg(-1)", "expected a number");
	check_refused("user_arg()", "expected a number");
	check_refused("user_result(1)", "");
	check_refused("user_word()", "");
	check_refused("kernel_word(a", "");
	check_refused("cast(a)", "expected ','");
	check_refused("cast(1, a)", "name of a struct");
	check_refused("cast(file, a", "expected ')'");
	check_refused("cast(file, )", "expected a path");
	check_refused("cast(file, a)->", "a member's name");
	check_refused("ctx(8,3)", "1, 2, 4 or 8");
	check_refused("ctxstr(8,0)", "at least one");
	check_refused("ctx(99999,4)", "below 65536");
	check_refused("ctx(8193,4)", "at most 8192 bytes");
	check_refused("a ? ", "expected a path, found the end");
	check_refused("\xff\xfe", "expected a path, found the byte 0xff");
}

static void bounds_what_it_accepts(void **state)
{
	char text[8192];
	(void)state;

	memset(text, '(', 100);
	strcpy(text + 100, "a");
	check_refused(text, "nested more than");
	memset(text, 'a', sizeof text - 1);
	text[sizeof text - 1] = '\0';
	check_refused(text, "longer than 4000 bytes");
	strcpy(text, "a");
	for (int i = 0; i < 65; i++)
		strcat(text, ".b");
	check_refused(text, "at most 64 members");
	/* As long as it gets without nesting: a chain of operators. */
	strcpy(text, "a");
	for (int i = 0; i < 1999; i++)
		strcat(text, "+a");
	struct arena *arena = arena_new();
	struct source_node *node;

	assert_int_equal(parse(arena, text, &node), 0);
	arena_free(arena);
}

/* Every prefix, and every text with one byte changed, of a text with all constructs: an answer, never a crash. */
static void survives_damage(void **state)
{
	static const char text[] = "((kstr(a->b.c[2]) ? ustr(syscall_arg(1)) ? 0) == -0x1f) * be16(x) | ctxloc(8) << 3"
				   " + user_word(kernel_word(user_arg(5))) - user_result() & user_caller()";
	char damaged[sizeof text];
	struct source_node *node;
	(void)state;

	for (size_t i = 0; i < sizeof text - 1; i++) {
		struct arena *arena = arena_new();

		memcpy(damaged, text, i);
		damaged[i] = '\0';
		parse(arena, damaged, &node);
		for (int c = 1; c < 256; c++) {
			memcpy(damaged, text, sizeof text);
			damaged[i] = (char)c;
			int result = parse(arena, damaged, &node);

			assert_true(result == 0 || (result == -EINVAL && *reason));
		}
		arena_free(arena);
	}
}

static void understands_conditions(void **state)
{
	struct arena *arena = arena_new();
	struct source_conditions when;
	struct source_paths scope;
	(void)state;

	assert_int_equal(
		path_parse_when("id == 257 AND (a & 2) != 0 and b->c >= -5", arena, &when, reason, sizeof reason), 0);
	assert_int_equal(when.count, 3);
	assert_int_equal(when.items[0].compare, SOURCE_EQ);
	assert_int_equal(when.items[0].value, 257);
	assert_int_equal(when.items[2].compare, SOURCE_GE);
	assert_int_equal(when.items[2].value, -5);
	assert_int_equal(path_parse_when(NULL, arena, &when, reason, sizeof reason), 0);
	assert_int_equal(when.count, 0);
	assert_int_equal(path_parse_when("id", arena, &when, reason, sizeof reason), -EINVAL);
	assert_int_equal(path_parse_when("id == 1 AND", arena, &when, reason, sizeof reason), -EINVAL);
	assert_int_equal(path_parse_when("id == 1 OR id == 2", arena, &when, reason, sizeof reason), -EINVAL);
	assert_int_equal(path_parse_scope("next->tgid, p->tgid", arena, &scope, reason, sizeof reason), 0);
	assert_int_equal(scope.count, 2);
	assert_int_equal(path_parse_scope("next->tgid,", arena, &scope, reason, sizeof reason), -EINVAL);
	arena_free(arena);
}

static void reports_missing_memory(void **state)
{
	static const char text[] = "(kstr(a->b[2]) ? 0) == 1 AND be16(x) < 3";
	(void)state;

	for (unsigned long n = 1;; n++) {
		struct arena *arena = arena_new();
		struct source_conditions when;

		alloc_fail_at(n);
		int result = path_parse_when(text, arena, &when, reason, sizeof reason);

		alloc_fail_at(0);
		arena_free(arena);
		if (result == 0)
			break;
		assert_int_equal(result, -ENOMEM);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(understands_paths),      cmocka_unit_test(refuses_nonsense),
		cmocka_unit_test(bounds_what_it_accepts), cmocka_unit_test(survives_damage),
		cmocka_unit_test(understands_conditions), cmocka_unit_test(reports_missing_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
