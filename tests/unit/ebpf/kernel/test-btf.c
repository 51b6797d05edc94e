// SPDX-License-Identifier: BSD-2-Clause
/* Paths over type information made here: structs, unions, arrays, bit-fields, qualifiers, and damaged input. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "ebpf/kernel/btf-path.h"

#include <bpf/btf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * struct inner { u32 x; const volatile s16 y; };                                         8 bytes
 * struct outer {
 *	u64 first;
 *	union { u32 low; struct inner in; struct { u8 b0; struct outer *deep; }; };       at 8
 *	struct inner many[3];                                                             at 24
 *	char name[12];                                                                    at 48
 *	u32 flag_a : 3, flag_b : 7; s32 flag_c : 5;                                       at 60: bits 480, 483, 490
 *	struct outer *next; void *data; struct inner *ins; char text[];                   at 64, 72, 80, 88
 * };
 * typedef void (*btf_trace_thing)(void *, struct outer *, int); void __traceiter_thing(void *, struct outer *o, int n);
 */
struct sample {
	void *raw;
	struct btf *made;
	struct btf_kernel *btf;
	int outer, pointer, number;
};

static char reason[256];

static void add_tracepoint(struct btf *b, int data, int pointer, int s32)
{
	int bare = btf__add_func_proto(b, 0);

	btf__add_func_param(b, NULL, data);
	btf__add_func_param(b, NULL, pointer);
	btf__add_func_param(b, NULL, s32);
	btf__add_typedef(b, "btf_trace_thing", btf__add_ptr(b, bare));
	int named = btf__add_func_proto(b, 0);

	btf__add_func_param(b, "__data", data);
	btf__add_func_param(b, "o", pointer);
	btf__add_func_param(b, "n", s32);
	btf__add_func(b, "__traceiter_thing", BTF_FUNC_STATIC, named);
}

/* Enough types to need more than one noted place. */
static void add_many(struct btf *b, int u32, int inner)
{
	for (int i = 0; i < 300; i++) {
		char many_name[16];

		snprintf(many_name, sizeof many_name, "t%d", i);
		btf__add_typedef(b, many_name, i % 2 ? inner : u32);
	}
}

static int make(void **state)
{
	struct sample *sample = alloc_zero(1, sizeof *sample);
	struct btf *b = sample->made = btf__new_empty();
	int u8 = btf__add_int(b, "u8", 1, 0), u32 = btf__add_int(b, "u32", 4, 0), u64 = btf__add_int(b, "u64", 8, 0);
	int s16 = btf__add_int(b, "s16", 2, BTF_INT_SIGNED), s32 = btf__add_int(b, "s32", 4, BTF_INT_SIGNED);
	int character = btf__add_int(b, "char", 1, BTF_INT_SIGNED);
	int qualified = btf__add_const(b, btf__add_volatile(b, btf__add_typedef(b, "short_t", s16)));
	int inner = btf__add_struct(b, "inner", 8);

	btf__add_field(b, "x", u32, 0, 0);
	btf__add_field(b, "y", qualified, 32, 0);
	int many = btf__add_array(b, u32, inner, 3), name = btf__add_array(b, u32, character, 12);
	int text = btf__add_array(b, u32, character, 0);
	int pointer = btf__type_cnt(b), outer = pointer + 5;

	assert_int_equal(btf__add_ptr(b, outer), pointer);
	int data = btf__add_ptr(b, 0), ins = btf__add_ptr(b, inner);
	int deep = btf__add_struct(b, NULL, 16);

	btf__add_field(b, "b0", u8, 0, 0);
	btf__add_field(b, "deep", pointer, 64, 0);
	int either = btf__add_union(b, NULL, 16);

	btf__add_field(b, "low", u32, 0, 0);
	btf__add_field(b, "in", inner, 0, 0);
	btf__add_field(b, NULL, deep, 0, 0);
	assert_int_equal(btf__add_struct(b, "outer", 88), outer);
	btf__add_field(b, "first", u64, 0, 0);
	btf__add_field(b, NULL, either, 64, 0);
	btf__add_field(b, "many", many, 24 * 8, 0);
	btf__add_field(b, "name", name, 48 * 8, 0);
	btf__add_field(b, "flag_a", u32, 480, 3);
	btf__add_field(b, "flag_b", u32, 483, 7);
	btf__add_field(b, "flag_c", s32, 490, 5);
	btf__add_field(b, "next", pointer, 64 * 8, 0);
	btf__add_field(b, "data", data, 72 * 8, 0);
	btf__add_field(b, "ins", ins, 80 * 8, 0);
	btf__add_field(b, "text", text, 88 * 8, 0);
	add_tracepoint(b, data, pointer, s32);
	add_many(b, u32, inner);
	uint32_t bytes;
	const void *raw = btf__raw_data(b, &bytes);

	/* Looking for a name in it, as making a module upon it does, frees what libbpf gives. */
	sample->raw = alloc_zero(bytes, 1);
	memcpy(sample->raw, raw, bytes);
	assert_int_equal(btf_kernel_from_bytes(sample->raw, bytes, NULL, &sample->btf), 0);
	sample->outer = outer;
	sample->pointer = pointer;
	sample->number = s32;
	*state = sample;
	return 0;
}

static int unmake(void **state)
{
	struct sample *sample = *state;

	btf_kernel_close(sample->btf);
	alloc_free(sample->raw);
	btf__free(sample->made);
	alloc_free(sample);
	return 0;
}

/* "a.b.3" with numbers as indices. */
static int resolve(const struct sample *sample, const char *path, struct btf_access *access)
{
	struct event_path_step hops[32];
	char copy[256], *at = copy;
	uint32_t count = 0;

	snprintf(copy, sizeof copy, "%s", path);
	for (char *word; (word = strsep(&at, "."));)
		hops[count++] = *word >= '0' && *word <= '9' ? (struct event_path_step){ .index = (uint32_t)atoi(word) }
							     : (struct event_path_step){ .member = word };
	*reason = '\0';
	const struct btf_path hopping = { .type = (uint32_t)sample->pointer, .hops = hops, .count = *path ? count : 0 };

	return btf_path_resolve(sample->btf, &hopping, access, reason, sizeof reason);
}

static void check_load(const struct sample *sample, const char *path, uint32_t offset, uint32_t bytes, bool is_plain)
{
	struct btf_access access;
	int result = resolve(sample, path, &access);

	if (result)
		print_error("%s: %s\n", path, reason);
	assert_int_equal(result, 0);
	assert_int_equal(access.end, BTF_END_LOAD);
	assert_int_equal(access.spot.offset, offset);
	assert_int_equal(access.bytes, bytes);
	assert_int_equal(access.spot.is_plain, is_plain);
}

static void finds_members(void **state)
{
	const struct sample *sample = *state;
	struct btf_access access;

	check_load(sample, "first", 0, 8, true);
	check_load(sample, "low", 8, 4, true);
	check_load(sample, "in.x", 8, 4, false); /* not the union's first member */
	check_load(sample, "in.y", 12, 2, false);
	check_load(sample, "b0", 8, 1, false);
	check_load(sample, "many.0.x", 24, 4, false);
	check_load(sample, "many.2.y", 44, 2, false);
	check_load(sample, "next", 64, 8, true);
	check_load(sample, "text.5", 93, 1, false);
	assert_int_equal(resolve(sample, "in.y", &access), 0);
	assert_true(access.is_signed);
	assert_int_equal(resolve(sample, "next", &access), 0);
	assert_true(access.is_pointer);
}

static void follows_pointers(void **state)
{
	const struct sample *sample = *state;
	struct btf_access access;

	assert_int_equal(resolve(sample, "next.next.deep.first", &access), 0);
	assert_int_equal(access.pointer_count, 3);
	assert_int_equal(access.pointers[0].offset, 64);
	assert_int_equal(access.pointers[1].offset, 64);
	assert_true(access.pointers[1].is_plain);
	assert_int_equal(access.pointers[2].offset, 16);
	assert_false(access.pointers[2].is_plain);
	assert_int_equal(access.pointers[0].pointee, sample->outer);
	assert_int_equal(access.spot.offset, 0);
	assert_true(access.spot.is_plain);
	assert_int_equal(resolve(sample, "ins.2.y", &access), 0);
	assert_int_equal(access.spot.offset, 20);
	assert_int_equal(access.pointer_count, 1);
	assert_int_equal(resolve(sample, "", &access), 0);
	assert_int_equal(access.end, BTF_END_SELF);
	assert_true(access.is_pointer);
}

static void finds_bits_arrays_and_addresses(void **state)
{
	const struct sample *sample = *state;
	struct btf_access access;

	assert_int_equal(resolve(sample, "flag_a", &access), 0);
	assert_int_equal(access.spot.offset, 60);
	assert_int_equal(access.bytes, 1);
	assert_int_equal(access.shift, 0);
	assert_int_equal(access.bits, 3);
	assert_int_equal(resolve(sample, "flag_b", &access), 0);
	assert_int_equal(access.bytes, 2); /* crosses a byte */
	assert_int_equal(access.shift, 3);
	assert_int_equal(access.bits, 7);
	assert_int_equal(resolve(sample, "flag_c", &access), 0);
	assert_true(access.is_signed);
	assert_int_equal(access.spot.offset, 61);
	assert_int_equal(access.shift, 2);
	assert_int_equal(resolve(sample, "name", &access), 0);
	assert_int_equal(access.end, BTF_END_CHARS);
	assert_int_equal(access.bytes, 12);
	assert_false(access.is_padded);
	assert_int_equal(resolve(sample, "many.1", &access), 0);
	assert_int_equal(access.end, BTF_END_ADDRESS);
	assert_int_equal(access.spot.offset, 32);
}

static void check_refused(const struct sample *sample, const char *path, int code, const char *why)
{
	struct btf_access access;

	assert_int_equal(resolve(sample, path, &access), code);
	if (!strstr(reason, why))
		print_error("%s: \"%s\" does not say \"%s\"\n", path, reason, why);
	assert_non_null(strstr(reason, why));
}

static void says_what_is_missing(void **state)
{
	const struct sample *sample = *state;

	check_refused(sample, "nosuch", -ENOENT, "struct outer has no member 'nosuch'");
	check_refused(sample, "in.z", -ENOENT, "struct inner has no member 'z'");
	check_refused(sample, "first.x", -EINVAL, "cannot look up 'x' in a number");
	check_refused(sample, "data.x", -EINVAL, "cannot look up 'x' in a void");
	check_refused(sample, "many.3.x", -EINVAL, "index 3 is beyond the array's 3 elements");
	check_refused(sample, "first.0", -EINVAL, "[0] needs an array or a pointer, but follows a number");
	check_refused(sample, "data.1", -EINVAL, "elements whose size is known");
	check_refused(sample, "flag_a.x", -EINVAL, "bit-field");
	check_refused(sample,
		      "next.next.next.next.next.next.next.next.next.next.next.next.next.next.next.next.next.first",
		      -EINVAL, "more than 16 pointers");
}

static void finds_tracepoints_and_types(void **state)
{
	const struct sample *sample = *state;
	struct btf_tracepoint found;

	assert_int_equal(btf_kernel_tracepoint(sample->btf, "thing", &found), 0);
	assert_int_equal(found.param_count, 2);
	assert_string_equal(btf_kernel_name(sample->btf, found.params[0].name_off), "o");
	assert_int_equal(found.params[1].type, sample->number);
	assert_int_equal(btf_kernel_tracepoint(sample->btf, "nothing", &found), -ENOENT);
	/* Far beyond the first noted type. */
	uint32_t id = btf_kernel_find(sample->btf, BTF_KIND_TYPEDEF, "t299");

	assert_int_equal(id, btf__find_by_name_kind(sample->made, "t299", BTF_KIND_TYPEDEF));
	assert_int_equal(btf_kernel_size(sample->btf, id), 8);
	assert_null(btf_kernel_type(sample->btf, id + 1));
	assert_null(btf_kernel_type(sample->btf, 0));
	assert_int_equal(btf_kernel_find(sample->btf, BTF_KIND_STRUCT, "t299"), 0);
}

static void refuses_damaged_input(void **state)
{
	const struct sample *sample = *state;
	struct btf_kernel *btf;
	uint32_t bytes;
	const char *raw = btf__raw_data(sample->made, &bytes);
	char *copy = alloc_zero(bytes, 1);

	for (uint32_t length = 0; length < bytes; length += length < 64 ? 1 : 37) {
		memcpy(copy, raw, length);
		assert_int_equal(btf_kernel_from_bytes(copy, length, NULL, &btf), -EINVAL);
	}
	/* One byte wrong anywhere: refused, or still within bounds whatever is asked. */
	for (uint32_t i = 0; i < bytes; i++) {
		memcpy(copy, raw, bytes);
		copy[i] = (char)(copy[i] ^ 0x55);
		if (btf_kernel_from_bytes(copy, bytes, NULL, &btf))
			continue;
		struct sample damaged = { .btf = btf, .pointer = sample->pointer };
		struct btf_access access;
		struct btf_tracepoint found;

		resolve(&damaged, "next.deep.many.1.y", &access);
		resolve(&damaged, "flag_b", &access);
		btf_kernel_tracepoint(btf, "thing", &found);
		btf_kernel_find(btf, BTF_KIND_TYPEDEF, "t299");
		btf_kernel_close(btf);
	}
	alloc_free(copy);
}

/* A module over the sample: struct inside { struct outer *up; u32 own; } and tracepoint "load" of a pointer to it. */
static struct btf *make_module(const struct sample *sample)
{
	struct btf *b = btf__new_empty_split(sample->made);
	int inside = btf__add_struct(b, "inside", 16);

	btf__add_field(b, "up", sample->pointer, 0, 0);
	btf__add_field(b, "own", btf__find_by_name_kind(sample->made, "u32", BTF_KIND_INT), 64, 0);
	int pointer = btf__add_ptr(b, inside), bare = btf__add_func_proto(b, 0);

	btf__add_func_param(b, NULL, pointer);
	btf__add_func_param(b, NULL, pointer);
	btf__add_typedef(b, "btf_trace_load", btf__add_ptr(b, bare));
	return b;
}

static void follow_module(const struct btf_kernel *btf, bool is_whole)
{
	struct event_path_step own[] = { { .member = "own" } };
	struct event_path_step up[] = { { .member = "up" }, { .member = "next" }, { .member = "first" } };
	struct btf_tracepoint found;
	struct btf_access access;

	if (btf_kernel_tracepoint(btf, "load", &found) || !found.param_count) {
		assert_false(is_whole);
		return;
	}
	struct btf_path path = { .type = found.params[0].type, .hops = own, .count = 1 };
	int result = btf_path_resolve(btf, &path, &access, reason, sizeof reason);

	if (is_whole) {
		assert_int_equal(result, 0);
		assert_int_equal(access.spot.offset, 8);
		assert_int_equal(access.spot.pointee, 0); /* a number of the module's must not be cast to */
	}
	path.hops = up;
	path.count = 3;
	result = btf_path_resolve(btf, &path, &access, reason, sizeof reason);
	if (is_whole) {
		assert_int_equal(result, 0);
		assert_int_equal(access.pointer_count, 2);
		assert_int_not_equal(access.pointers[1].pointee, 0); /* the kernel's own */
	}
}

static void reads_types_of_a_module(void **state)
{
	const struct sample *sample = *state;
	struct btf *made = make_module(sample);
	struct btf_kernel *btf;
	uint32_t bytes, own;
	const char *raw = btf__raw_data(made, &bytes);
	char *copy = alloc_zero(bytes, 1);

	assert_int_equal(btf_kernel_from_split(sample->btf, raw, bytes, NULL, &btf), 0);
	own = btf_kernel_find(btf, BTF_KIND_STRUCT, "inside");
	assert_true(btf_kernel_is_split(btf, own));
	assert_false(btf_kernel_is_split(btf, btf_kernel_find(btf, BTF_KIND_STRUCT, "outer")));
	assert_int_equal(btf_kernel_size(btf, own), 16);
	follow_module(btf, true);
	btf_kernel_close(btf);
	for (uint32_t length = 0; length < bytes; length++) {
		memcpy(copy, raw, length);
		assert_int_equal(btf_kernel_from_split(sample->btf, copy, length, NULL, &btf), -EINVAL);
	}
	/* Any byte replaced: refused, or within bounds whatever is asked. */
	for (uint32_t i = 0; i < bytes * 3; i++) {
		memcpy(copy, raw, bytes);
		copy[i / 3] = (char)(copy[i / 3] ^ (i % 3 == 0 ? 0x55 : i % 3 == 1 ? 1 : 0xff));
		if (btf_kernel_from_split(sample->btf, copy, bytes, NULL, &btf))
			continue;
		follow_module(btf, false);
		btf_kernel_size(btf, own);
		btf_kernel_find(btf, BTF_KIND_STRUCT, "nothing");
		btf_kernel_close(btf);
	}
	alloc_free(copy);
	btf__free(made);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(finds_members, make, unmake),
		cmocka_unit_test_setup_teardown(follows_pointers, make, unmake),
		cmocka_unit_test_setup_teardown(finds_bits_arrays_and_addresses, make, unmake),
		cmocka_unit_test_setup_teardown(says_what_is_missing, make, unmake),
		cmocka_unit_test_setup_teardown(finds_tracepoints_and_types, make, unmake),
		cmocka_unit_test_setup_teardown(refuses_damaged_input, make, unmake),
		cmocka_unit_test_setup_teardown(reads_types_of_a_module, make, unmake),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
