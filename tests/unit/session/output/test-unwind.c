// SPDX-License-Identifier: BSD-2-Clause
/* Unwinding: this process's own stack, what is not whole of it, and copies that are nonsense. */

#include "session/output/unwinder.h"

#include "base/alloc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#include <cmocka.h>

#if defined(__x86_64__)

enum { PAGE_BYTES = 4096, PAGES = 5, RSP = 19, CS = 17 };

struct rig {
	uint64_t registers[PROGRAM_REGISTERS_MAX];
	uint8_t bytes[PAGES * PAGE_BYTES];
	struct program_stack_copy copy;
	struct program_match match;
	struct mappings mappings;
	struct unwinder *unwinder;
	struct unwound found;
};

/* A stack as the kernel sees it, with what AddressSanitizer keeps between variables; volatile, that it is no memcpy. */
__attribute__((no_sanitize("address"))) static void copy_stack(uint8_t *to, const volatile uint8_t *from, size_t count)
{
	for (size_t i = 0; i < count; i++)
		to[i] = from[i];
}

/* The registers that callers have a right to, as struct pt_regs has them. */
static void take(struct rig *rig)
{
	static const uint8_t from[] = { REG_R15, REG_R14, REG_R13, REG_R12, REG_RBP, REG_RBX };
	ucontext_t here;

	getcontext(&here);
	for (size_t i = 0; i < sizeof from; i++)
		rig->registers[i] = (uint64_t)here.uc_mcontext.gregs[from[i]];
	rig->registers[16] = (uint64_t)here.uc_mcontext.gregs[REG_RIP];
	rig->registers[RSP] = (uint64_t)here.uc_mcontext.gregs[REG_RSP];
	rig->copy = (struct program_stack_copy){ .registers = rig->registers,
						 .start = (rig->registers[RSP] - 128) & -(uint64_t)PAGE_BYTES,
						 .pages = 0x1f,
						 .bytes = rig->bytes,
						 .page_bytes = PAGE_BYTES,
						 .page_count = PAGES };
	/* As far as the stack is there: the test's is deep enough to have a page above this function. */
	const struct mapping *stack = mappings_find(&rig->mappings, rig->copy.start);
	uint64_t there = stack->end - rig->copy.start;

	copy_stack(rig->bytes, (const volatile uint8_t *)(uintptr_t)rig->copy.start,
		   there < sizeof rig->bytes ? there : sizeof rig->bytes);
	for (uint32_t i = 0; i < PAGES; i++)
		if (there < (i + 1) * PAGE_BYTES)
			rig->copy.pages &= ~(UINT64_C(1) << i);
}

__attribute__((noipa)) static void take_from_below(struct rig *rig)
{
	take(rig);
	__asm__ volatile("" ::: "memory");
}

static int setup(void **state)
{
	struct rig *rig = alloc_zero(1, sizeof *rig);

	if (!rig || mappings_read(&rig->mappings, (uint32_t)getpid()))
		return -1;
	rig->match = (struct program_match){ .pid = (uint32_t)getpid(),
					     .tid = (uint32_t)getpid(),
					     .stack_copy = &rig->copy };
	rig->unwinder = unwinder_new();
	*state = rig;
	return rig->unwinder ? 0 : -1;
}

static int teardown(void **state)
{
	struct rig *rig = *state;

	unwinder_free(rig->unwinder);
	mappings_fini(&rig->mappings);
	alloc_free(rig);
	return 0;
}

static bool is_in(uint64_t address, void (*function)(struct rig *rig))
{
	return address > (uintptr_t)function && address < (uintptr_t)function + 256;
}

static void own_callers_are_found(void **state)
{
	struct rig *rig = *state;
	uint32_t first;

	take_from_below(rig);
	unwinder_walk(rig->unwinder, &rig->match, &rig->mappings, &rig->found);
	assert_true(rig->found.count >= 6);
	assert_int_equal(rig->found.addresses[0], rig->registers[16]);
	assert_int_equal(rig->found.exact, 1);
	for (first = 0; first < rig->found.count && !is_in(rig->found.addresses[first], take_from_below);)
		first++;
	assert_true(first == 1 || first == 0); /* take may have become a part of it */
	assert_true(rig->found.addresses[first + 1] > (uintptr_t)own_callers_are_found);
	assert_true(rig->found.addresses[first + 1] < (uintptr_t)own_callers_are_found + 1024);
	/* What is known of the process by now is good for the next one. */
	uint32_t count = rig->found.count;

	unwinder_walk(rig->unwinder, &rig->match, &rig->mappings, &rig->found);
	assert_int_equal(rig->found.count, count);
}

static void what_was_not_copied_ends_it(void **state)
{
	struct rig *rig = *state;

	take_from_below(rig);
	rig->copy.pages = 0;
	unwinder_walk(rig->unwinder, &rig->match, &rig->mappings, &rig->found);
	assert_int_equal(rig->found.count, 1);
	assert_non_null(strstr(rig->found.why, " could not be read"));
	/* A copy that ends where there is more. */
	rig->copy.pages = 1;
	rig->copy.page_count = 1;
	rig->registers[RSP] = rig->copy.start + PAGE_BYTES - 8;
	unwinder_walk(rig->unwinder, &rig->match, &rig->mappings, &rig->found);
	assert_string_equal(rig->found.why, "stack cut at 0 KiB");
}

/* The rig's mappings, and below them so many of files: of this program's, or of one that is not there. */
static void crowd(const struct rig *rig, size_t count, bool is_there, struct mappings *crowded)
{
	const struct mapping *own = mappings_find(&rig->mappings, (uintptr_t)crowd);
	struct text_buffer *names = &crowded->names;

	crowded->pid = rig->mappings.pid;
	crowded->count = count + rig->mappings.count;
	crowded->items = alloc_zero(crowded->count, sizeof *crowded->items);
	assert_non_null(crowded->items);
	text_append_bytes(names, rig->mappings.names.bytes, rig->mappings.names.length);
	for (size_t i = 0; i < count; i++)
		crowded->items[i] = (struct mapping){ .start = 0x10000 + 0x2000 * i,
						      .end = 0x11000 + 0x2000 * i,
						      .inode = own->inode,
						      .name = is_there ? own->name : names->length,
						      .is_code = true };
	text_append_bytes(names, "/none", sizeof "/none");
	memcpy(crowded->items + count, rig->mappings.items, rig->mappings.count * sizeof *crowded->items);
}

static void files_without_end_are_not_looked_at(void **state)
{
	struct rig *rig = *state;
	struct mappings some = { 0 }, many = { 0 }, none = { 0 };

	take_from_below(rig);
	crowd(rig, 100, true, &some);
	unwinder_walk(rig->unwinder, &rig->match, &some, &rig->found);
	assert_true(rig->found.count >= 6);
	assert_null(strstr(rig->found.why, "first"));
	crowd(rig, UNWIND_FILES_MAX, true, &many);
	unwinder_walk(rig->unwinder, &rig->match, &many, &rig->found);
	assert_int_equal(rig->found.addresses[0], rig->registers[16]);
	assert_non_null(strstr(rig->found.why, " is not among the first 1024 files that its process has mapped"));
	crowd(rig, UNWIND_FILES_MAX + 1, false, &none);
	unwinder_walk(rig->unwinder, &rig->match, &none, &rig->found);
	assert_int_equal(rig->found.count, 0);
	assert_string_equal(rig->found.why, "cannot read any of the first 1024 files that its process has mapped");
	mappings_fini(&some);
	mappings_fini(&many);
	mappings_fini(&none);
}

/* Between two parts of a file, where nothing is mapped: a return address that a process has made up. */
static void what_lies_between_the_parts_of_a_file_ends_it(void **state)
{
	struct rig *rig = *state;
	struct mapping *own = NULL;
	uint64_t end;

	take_from_below(rig);
	for (size_t i = 0; i < rig->mappings.count; i++)
		if (rig->mappings.items[i].is_code && rig->registers[16] >= rig->mappings.items[i].start &&
		    rig->registers[16] < rig->mappings.items[i].end)
			own = &rig->mappings.items[i];
	assert_non_null(own);
	end = own->end;
	own->end = own->start + 1;
	rig->registers[16] = own->start + 16;
	unwinder_walk(rig->unwinder, &rig->match, &rig->mappings, &rig->found);
	own->end = end;
	assert_true(rig->found.count >= 1);
	assert_non_null(strstr(rig->found.why, "no file is mapped at 0x"));
}

static void a_32_bit_thread_is_left_alone(void **state)
{
	struct rig *rig = *state;

	take_from_below(rig);
	rig->registers[CS] = 0x23;
	unwinder_walk(rig->unwinder, &rig->match, &rig->mappings, &rig->found);
	assert_int_equal(rig->found.count, 0);
	assert_string_equal(rig->found.why, "cannot unwind code of another architecture");
}

static uint64_t pick(void)
{
	return (uint64_t)random() << 33 ^ (uint64_t)random();
}

/* Any registers, any stack: it ends, within bounds. */
static void nonsense_ends(void **state)
{
	struct rig *rig = *state;

	srandom(1);
	for (int turn = 0; turn < 3000; turn++) {
		take_from_below(rig);
		for (uint32_t i = 0; i < (uint32_t)random() % 64; i++)
			rig->bytes[pick() % sizeof rig->bytes] = (uint8_t)random();
		if (turn % 3 == 0)
			rig->registers[pick() % 21] = pick();
		if (turn % 3 == 1) /* anywhere in some code */
			rig->registers[16] = rig->mappings.items[pick() % rig->mappings.count].start + pick() % 4096;
		if (turn % 7 == 0)
			rig->copy.pages = pick() & 0x1f;
		unwinder_walk(rig->unwinder, &rig->match, &rig->mappings, &rig->found);
		assert_true(rig->found.count <= PROGRAM_FRAMES_MAX);
		assert_true(strlen(rig->found.why) < UNWIND_WHY_BYTES);
	}
}

static void memory_may_be_short(void **state)
{
	struct rig *rig = *state;
	bool done = false;

	take_from_below(rig);
	for (unsigned long n = 1; !done; n++) {
		struct unwinder *unwinder = unwinder_new();

		assert_non_null(unwinder);
		alloc_fail_at(n);
		unwinder_walk(unwinder, &rig->match, &rig->mappings, &rig->found);
		alloc_fail_at(0);
		done = rig->found.count > 0;
		assert_true(done || strcmp(rig->found.why, "out of memory") == 0);
		unwinder_free(unwinder);
		assert_true(n < 1000);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(own_callers_are_found, setup, teardown),
		cmocka_unit_test_setup_teardown(what_was_not_copied_ends_it, setup, teardown),
		cmocka_unit_test_setup_teardown(files_without_end_are_not_looked_at, setup, teardown),
		cmocka_unit_test_setup_teardown(what_lies_between_the_parts_of_a_file_ends_it, setup, teardown),
		cmocka_unit_test_setup_teardown(a_32_bit_thread_is_left_alone, setup, teardown),
		cmocka_unit_test_setup_teardown(nonsense_ends, setup, teardown),
		cmocka_unit_test_setup_teardown(memory_may_be_short, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void)
{
	return 77; /* the registers are known to this test on x86-64 only */
}

#endif
