// SPDX-License-Identifier: BSD-2-Clause
/* Where notes say that arguments of USDT probes are, on both processors; and notes that say nonsense. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ebpf/kernel/usdt-argument.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char reason[256];

static int find(uint32_t machine, const char *text, uint32_t number, struct usdt_argument *argument)
{
	*reason = '\0';
	return usdt_argument_find(text, number, machine, argument, &(struct usdt_reason){ reason, sizeof reason });
}

/* As one text: size, place, and what belongs to it. */
static void check(uint32_t machine, const char *text, uint32_t number, const char *wanted)
{
	static const char *const places[] = { "constant", "register", "memory", "variable" };
	struct usdt_argument argument;
	char found[256];
	int result = find(machine, text, number, &argument);

	snprintf(found, sizeof found, "%s", reason);
	if (!result)
		snprintf(found, sizeof found, "%s%u %s %d+(%d<<%u)+%lld%s", argument.is_signed ? "-" : "",
			 argument.bytes, places[argument.place], argument.base, argument.index, argument.shift,
			 (long long)argument.value, argument.symbol);
	assert_string_equal(found, wanted);
}

static void understands_x86(void **state)
{
	static const char text[] = "8@%rdi -4@$-5 1@%sil -2@-16(%rbp) 4@(%rsp) 8@8(%rdx,%rax,4) 2@(,%r9,8) 8@$0x10";

	(void)state;
	check(EM_X86_64, text, 0, "8 register 112+(-1<<0)+0");
	check(EM_X86_64, text, 1, "-4 constant -1+(-1<<0)+-5");
	check(EM_X86_64, text, 2, "1 register 104+(-1<<0)+0");
	check(EM_X86_64, text, 3, "-2 memory 32+(-1<<0)+-16");
	check(EM_X86_64, text, 4, "4 memory 152+(-1<<0)+0");
	check(EM_X86_64, text, 5, "8 memory 96+(80<<2)+8");
	check(EM_X86_64, text, 6, "2 memory -1+(64<<3)+0");
	check(EM_X86_64, text, 7, "8 constant -1+(-1<<0)+16");
	check(EM_X86_64, text, 8, "the probe has 8 arguments, but no usdt_arg(8)");
	check(EM_X86_64, "8@(%rdx,%rax)", 0, "8 memory 96+(80<<0)+0");
	check(EM_X86_64, "-8@%r15 -1@%r10b", 1, "-1 register 56+(-1<<0)+0");
	check(EM_X86_64, "-4@sum(%rip)", 0, "-4 variable -1+(-1<<0)+0sum");
	check(EM_X86_64, "4@sum.0+12(%rip)", 0, "4 variable -1+(-1<<0)+12sum.0");
	check(EM_X86_64, "4@8+sum-4(%rip)", 0, "4 variable -1+(-1<<0)+4sum");
	check(EM_X86_64, "8@$18446744073709551615", 0, "8 constant -1+(-1<<0)+-1");
	check(EM_386, "4@4(%esp)", 0, "4 memory 152+(-1<<0)+4");
	check(EM_X86_64, "", 0, "the probe has 0 arguments, but no usdt_arg(0)");
	check(EM_X86_64, "  4@%eax ", 1, "the probe has 1 argument, but no usdt_arg(1)");
}

static void understands_arm(void **state)
{
	static const char text[] =
		"8@x0 -4@[sp, 60] 4@w19 -8@[x29, -8] 8@[x1] -4@5 8@[x0, x2] 4@[x3, x4, lsl 2] -4@-1 8@xzr 8@sp";

	(void)state;
	check(EM_AARCH64, text, 0, "8 register 0+(-1<<0)+0");
	check(EM_AARCH64, text, 1, "-4 memory 248+(-1<<0)+60");
	check(EM_AARCH64, text, 2, "4 register 152+(-1<<0)+0");
	check(EM_AARCH64, text, 3, "-8 memory 232+(-1<<0)+-8");
	check(EM_AARCH64, text, 4, "8 memory 8+(-1<<0)+0");
	check(EM_AARCH64, text, 5, "-4 constant -1+(-1<<0)+5");
	check(EM_AARCH64, text, 6, "8 memory 0+(16<<0)+0");
	check(EM_AARCH64, text, 7, "4 memory 24+(32<<2)+0");
	check(EM_AARCH64, text, 8, "-4 constant -1+(-1<<0)+-1");
	check(EM_AARCH64, text, 9, "8 constant -1+(-1<<0)+0");
	check(EM_AARCH64, text, 10, "8 register 248+(-1<<0)+0");
	check(EM_AARCH64, text, 11, "the probe has 11 arguments, but no usdt_arg(11)");
	check(EM_AARCH64, "8@x30 8@x31", 0, "8 register 240+(-1<<0)+0");
}

static void refuses_nonsense(void **state)
{
	static const char *const x86[] = {
		"8",
		"@%rax",
		"3@%rax",
		"16@%rax",
		"8@",
		"8@%",
		"8@%rxx",
		"8@%ah",
		"8@(%rax",
		"8@()",
		"8@(%rax,)",
		"8@(,,)",
		"8@(%rax,%rbx,3)",
		"8@$",
		"8@$x",
		"8@$1x",
		"8@%rax%rbx",
		"8@x0",
		"8@[sp, 60]",
		"8@sum",
		"8@(%rip)",
		"8@4(%rip)",
		"8@%fs:8",
		"8@$99999999999999999999",
		"--8@%rax",
		"0@%rax",
		"8@-(%rax)",
		"8@sum+(%rip)",
		"8@$-9223372036854775809",
	};
	static const char *const arm[] = { "8@x31",
					   "8@x",
					   "8@[x0",
					   "8@[x0,]",
					   "8@[]",
					   "8@[x0, 4",
					   "8@%rax",
					   "8@[x0, w1, sxtw 2]",
					   "8@[x0, x1, lsl 9]",
					   "8@q0",
					   "8@#",
					   "8@[x0, x1 lsl 2]" };
	struct usdt_argument argument;

	(void)state;
	for (size_t i = 0; i < sizeof x86 / sizeof *x86; i++)
		if (find(EM_X86_64, x86[i], 0, &argument) != -ENOENT || !strstr(reason, "cannot parse the argument"))
			fail_msg("%s: %s", x86[i], reason);
	for (size_t i = 0; i < sizeof arm / sizeof *arm; i++)
		if (find(EM_AARCH64, arm[i], 0, &argument) != -ENOENT || !strstr(reason, "cannot parse the argument"))
			fail_msg("%s: %s", arm[i], reason);
	check(EM_X86_64, "8f@%xmm0", 0, "the argument is a floating-point number: 8f@%xmm0");
	check(EM_RISCV, "8@a0", 0, "asterism does not know the argument locations of this CPU architecture");
}

/* Every prefix of, and every change of a byte in, a text with all forms; and texts without an end in sight. */
static void survives_damage(void **state)
{
	static const char text[] =
		"8@%rdi -4@$-5 8@8(%rdx,%rax,4) -4@4+sum+8(%rip) -4@[sp, #60] 4@[x3, x4, lsl 2] 1@w1";
	static const uint32_t machines[] = { EM_X86_64, EM_AARCH64, EM_386, EM_NONE };
	char damaged[sizeof text], endless[4096];
	struct usdt_argument argument;

	(void)state;
	for (size_t i = 0; i + 1 < sizeof text; i++) {
		for (int byte = 1; byte < 256; byte++) {
			memcpy(damaged, text, sizeof text);
			damaged[i] = (char)(byte == 1 ? 0 : byte);
			for (uint32_t number = 0; number < 8; number++)
				find(machines[byte % 4], damaged, number, &argument);
		}
	}
	for (int byte = 1; byte < 256; byte++) {
		memset(endless, byte, sizeof endless);
		endless[0] = '8';
		endless[1] = '@';
		endless[sizeof endless - 1] = '\0';
		for (size_t i = 0; i < sizeof machines / sizeof *machines; i++)
			assert_int_not_equal(find(machines[i], endless, 0, &argument), byte == ' ' ? 1 : 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(understands_x86),
		cmocka_unit_test(understands_arm),
		cmocka_unit_test(refuses_nonsense),
		cmocka_unit_test(survives_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
