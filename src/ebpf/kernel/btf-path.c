// SPDX-License-Identifier: BSD-2-Clause
/*
 * Translates a path of members into loads. The walker stands on a place: an offset from the last pointer, and the type
 * of what is there. Stepping into structs and arrays moves the offset, stepping over a pointer is one more load. The
 * verifier walks types in its own simple way (first member of a union wins, no flexible arrays); wherever it might see
 * something else than we do, the spot is marked as not plain.
 */

#include "ebpf/kernel/btf-path.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum {
	NESTING_MAX = 16,
	POINTER_BYTES = 8,
	COMM_BYTES = 16,
	/* The kernel takes the low half of the register for the number of a system call, whatever the rest says. */
	CALL_BYTES = 4,
};

struct walk {
	const struct btf_kernel *btf;
	struct btf_access *access;
	uint32_t type; /* bare */
	bool in_register;
	struct btf_spot spot;
	uint64_t bit; /* of the bit-field from offset; only where bits != 0 */
	uint8_t bits;
	bool is_comm;
	bool is_call; /* the number of a system call */
	char *reason;
	size_t size;
};

struct found {
	uint32_t type;
	uint64_t bit_offset;
	uint8_t bits;
	bool is_plain;
};

static const char *kind_word(const struct btf_type *type)
{
	switch (type ? BTF_INFO_KIND(type->info) : BTF_KIND_UNKN) {
	case BTF_KIND_STRUCT:
		return "struct";
	case BTF_KIND_UNION:
		return "union";
	case BTF_KIND_FWD:
		return "incomplete struct";
	case BTF_KIND_ARRAY:
		return "array";
	case BTF_KIND_PTR:
		return "pointer";
	case BTF_KIND_FUNC_PROTO:
		return "function";
	case BTF_KIND_UNKN:
		return "void";
	default:
		return "number";
	}
}

static const char *btf_type_name(const struct walk *walk, const struct btf_type *type)
{
	const char *name = type ? btf_kernel_name(walk->btf, type->name_off) : "";

	return *name ? name : "(unnamed)";
}

/* Finds the member called name in struct or union type id, also inside its unnamed ones. */
static bool find_btf_member(const struct btf_kernel *btf, uint32_t id, const char *name, int depth, struct found *found)
{
	const struct btf_type *type = btf_kernel_bare(btf, &id);

	if (!type || depth > NESTING_MAX ||
	    (BTF_INFO_KIND(type->info) != BTF_KIND_STRUCT && BTF_INFO_KIND(type->info) != BTF_KIND_UNION))
		return false;
	bool is_union = BTF_INFO_KIND(type->info) == BTF_KIND_UNION, has_bits = BTF_INFO_KFLAG(type->info);
	const struct btf_member *member = (const void *)(type + 1);

	for (uint32_t i = 0; i < BTF_INFO_VLEN(type->info); i++, member++) {
		const char *own = btf_kernel_name(btf, member->name_off);
		uint32_t bit_offset = has_bits ? BTF_MEMBER_BIT_OFFSET(member->offset) : member->offset;

		if (*own == '\0' && find_btf_member(btf, member->type, name, depth + 1, found)) {
			found->bit_offset += bit_offset;
		} else if (*own != '\0' && strcmp(own, name) == 0) {
			*found = (struct found){ .type = member->type, .bit_offset = bit_offset, .is_plain = true };
			found->bits = has_bits ? BTF_MEMBER_BITFIELD_SIZE(member->offset) : 0;
		} else {
			continue;
		}
		found->is_plain = found->is_plain && (!is_union || i == 0);
		return true;
	}
	return false;
}

/* Follows the pointer that the walk stands on. */
static int follow_btf_pointer(struct walk *walk, const struct btf_type *pointer)
{
	uint32_t pointee = pointer->type;
	const struct btf_type *tag = btf_kernel_type(walk->btf, pointee);
	bool tagged = tag && BTF_INFO_KIND(tag->info) == BTF_KIND_TYPE_TAG;
	const struct btf_type *type = btf_kernel_bare(walk->btf, &pointee);
	bool is_struct = type && BTF_INFO_KIND(type->info) == BTF_KIND_STRUCT;

	if (walk->in_register) {
		walk->in_register = false;
	} else {
		if (walk->access->pointer_count == BTF_POINTERS_MAX) {
			snprintf(walk->reason, walk->size, "the path follows more than %d pointers", BTF_POINTERS_MAX);
			return -EINVAL;
		}
		walk->access->pointers[walk->access->pointer_count++] = walk->spot;
	}
	walk->type = pointee;
	/* Numbers of a module's types mean others where the verifier casts. */
	is_struct = is_struct && !tagged && !btf_kernel_is_split(walk->btf, pointee);
	walk->spot = (struct btf_spot){ .pointee = is_struct ? pointee : 0, .is_plain = true };
	return 0;
}

/* Moves the spot by offset; -EINVAL where that leaves any thinkable object. */
static int move(struct walk *walk, uint64_t offset)
{
	if (offset > INT16_MAX - walk->spot.offset) {
		/* Direct loads have 16 bits for their offset; probe reads have all they want. */
		if (offset > INT32_MAX - (uint64_t)walk->spot.offset) {
			snprintf(walk->reason, walk->size, "an offset of the path exceeds 2 GiB");
			return -EINVAL;
		}
		walk->spot.is_plain = false;
	}
	walk->spot.offset += (uint32_t)offset;
	return 0;
}

static int step_member(struct walk *walk, const char *name)
{
	const struct btf_type *type = btf_kernel_type(walk->btf, walk->type);
	struct found found;
	int result;

	if (type && BTF_INFO_KIND(type->info) == BTF_KIND_PTR) {
		result = follow_btf_pointer(walk, type);
		if (result)
			return result;
		type = btf_kernel_type(walk->btf, walk->type);
	}
	uint32_t kind = type ? BTF_INFO_KIND(type->info) : BTF_KIND_UNKN;

	if (walk->in_register || (kind != BTF_KIND_STRUCT && kind != BTF_KIND_UNION)) {
		snprintf(walk->reason, walk->size, "cannot look up '%s' in a %s: it has no members", name,
			 kind_word(type));
		return kind == BTF_KIND_FWD ? -ENOENT : -EINVAL;
	}
	if (!find_btf_member(walk->btf, walk->type, name, 0, &found)) {
		snprintf(walk->reason, walk->size, "%s %s has no member '%s'", kind_word(type),
			 btf_type_name(walk, type), name);
		return -ENOENT;
	}
	walk->is_comm = strcmp(name, "comm") == 0 && strcmp(btf_type_name(walk, type), "task_struct") == 0;
	walk->is_call = strcmp(name, "orig_ax") == 0 && strcmp(btf_type_name(walk, type), "pt_regs") == 0;
	walk->type = found.type;
	btf_kernel_bare(walk->btf, &walk->type);
	walk->spot.is_plain = walk->spot.is_plain && found.is_plain;
	walk->bits = found.bits;
	walk->bit = found.bit_offset;
	return found.bits ? 0 : move(walk, found.bit_offset / 8);
}

static int step_index(struct walk *walk, uint32_t index)
{
	const struct btf_type *type = btf_kernel_type(walk->btf, walk->type);
	uint32_t kind = type ? BTF_INFO_KIND(type->info) : BTF_KIND_UNKN;
	int result = 0;

	if (kind == BTF_KIND_PTR) {
		result = follow_btf_pointer(walk, type);
	} else if (kind == BTF_KIND_ARRAY && !walk->in_register) {
		const struct btf_array *array = (const void *)(type + 1);

		if (array->nelems != 0 && index >= array->nelems) {
			snprintf(walk->reason, walk->size, "index %u is beyond the array's %u elements", index,
				 array->nelems);
			return -EINVAL;
		}
		walk->type = array->type;
		btf_kernel_bare(walk->btf, &walk->type);
	} else {
		snprintf(walk->reason, walk->size, "[%u] needs an array or a pointer, but follows a %s", index,
			 kind_word(type));
		return -EINVAL;
	}
	uint32_t bytes = btf_kernel_size(walk->btf, walk->type);

	if (!result && bytes == 0) {
		snprintf(walk->reason, walk->size, "[%u] needs elements whose size is known", index);
		result = -EINVAL;
	}
	if (!result)
		result = move(walk, (uint64_t)index * bytes);
	walk->spot.is_plain = walk->spot.is_plain && index == 0 && kind == BTF_KIND_PTR;
	walk->is_comm = walk->is_call = false;
	walk->bits = 0;
	return result;
}

/* True for integers and enumerations; stores their signedness. */
static bool is_btf_number(const struct btf_type *type, bool *is_signed)
{
	switch (type ? BTF_INFO_KIND(type->info) : BTF_KIND_UNKN) {
	case BTF_KIND_INT: {
		uint32_t data;

		memcpy(&data, type + 1, sizeof data);
		*is_signed = BTF_INT_ENCODING(data) & BTF_INT_SIGNED;
		return true;
	}
	case BTF_KIND_ENUM:
	case BTF_KIND_ENUM64:
		*is_signed = BTF_INFO_KFLAG(type->info);
		return true;
	default:
		return false;
	}
}

/* The smallest aligned load that holds the whole bit-field. */
static int end_at_bits(struct walk *walk)
{
	struct btf_access *access = walk->access;

	for (uint32_t bytes = 1; bytes <= 8; bytes *= 2) {
		uint64_t start = walk->bit / (bytes * 8) * bytes, shift = walk->bit - start * 8;

		if (shift + walk->bits > bytes * 8)
			continue;
		int result = move(walk, start);

		access->end = BTF_END_LOAD;
		access->spot = walk->spot;
		access->bytes = bytes;
		access->shift = (uint8_t)shift;
		access->bits = walk->bits;
		return result;
	}
	snprintf(walk->reason, walk->size, "the bit-field crosses eight bytes");
	return -EINVAL;
}

static int end_btf_walk(struct walk *walk)
{
	struct btf_access *access = walk->access;
	const struct btf_type *type = btf_kernel_type(walk->btf, walk->type);
	uint32_t kind = type ? BTF_INFO_KIND(type->info) : BTF_KIND_UNKN;
	bool number = is_btf_number(type, &access->is_signed);

	access->spot = walk->spot;
	access->is_pointer = kind == BTF_KIND_PTR;
	access->bytes = access->is_pointer ? POINTER_BYTES : number ? type->size : 0;
	if (number && walk->is_call) {
		access->bytes = CALL_BYTES;
		access->is_signed = true;
	}
	if (walk->bits && number)
		return end_at_bits(walk);
	if (number || access->is_pointer) {
		access->end = walk->in_register ? BTF_END_SELF : BTF_END_LOAD;
		if (access->bytes > 8 || (access->bytes & (access->bytes - 1)) != 0) {
			snprintf(walk->reason, walk->size, "integers of %u bytes are not supported", access->bytes);
			return -EINVAL;
		}
		return 0;
	}
	if (walk->in_register) {
		snprintf(walk->reason, walk->size, "a %s is passed by value", kind_word(type));
		return -EINVAL;
	}
	access->end = BTF_END_ADDRESS;
	if (kind == BTF_KIND_ARRAY) {
		const struct btf_array *array = (const void *)(type + 1);
		uint32_t element = array->type;
		bool ignored;

		type = btf_kernel_bare(walk->btf, &element);
		if (is_btf_number(type, &ignored) && type->size == 1) {
			access->end = BTF_END_CHARS;
			access->bytes = array->nelems;
			access->is_padded = walk->is_comm && array->nelems == COMM_BYTES;
		}
	}
	return 0;
}

static int walk_hops(struct walk *walk, const struct event_path_step *hops, uint32_t count)
{
	int result = 0;

	for (uint32_t i = 0; i < count && !result; i++) {
		if (walk->bits) {
			snprintf(walk->reason, walk->size, "a bit-field has no members");
			return -EINVAL;
		}
		result = hops[i].member ? step_member(walk, hops[i].member) : step_index(walk, hops[i].index);
	}
	return result ? result : end_btf_walk(walk);
}

int btf_path_resolve(const struct btf_kernel *btf, const struct btf_path *path, struct btf_access *access, char *reason,
		     size_t size)
{
	struct walk walk = {
		.btf = btf,
		.access = access,
		.type = path->type,
		.in_register = !path->from_struct,
		.reason = reason,
		.size = size,
	};

	if (path->from_struct) {
		walk.spot.pointee = btf_kernel_is_split(btf, path->type) ? 0 : path->type;
		walk.spot.is_plain = true;
	}
	*access = (struct btf_access){ 0 };
	btf_kernel_bare(btf, &walk.type);
	return walk_hops(&walk, path->hops, path->count);
}
