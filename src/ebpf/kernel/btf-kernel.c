// SPDX-License-Identifier: BSD-2-Clause
/*
 * An index of the kernel's BTF. Types have no fixed size and hence no address by number: opening passes over them once,
 * checks that each lies within its section, and notes where every 64th begins and which are tracepoint prototypes.
 * Everything after that walks at most 63 types from a noted one.
 */

#include "ebpf/kernel/btf-kernel.h"

#include "base/alloc.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define BTF_PATH      "/sys/kernel/btf/vmlinux"
#define TRACE_PREFIX  "btf_trace_"   /* typedef: what a program attaches to; its parameters have no names */
#define CALLER_PREFIX "__traceiter_" /* function that calls the attached ones: the same parameters with names */

enum {
	NOTED_EVERY = 64,
	HOPS_MAX = 32, /* qualifiers and typedefs in a row; C code has a handful */
	DEPTH_MAX = 16,
	BYTES_MAX = 256 * 1024 * 1024,
};

/* A type whose name begins with a prefix; name is the offset of the rest. */
struct entry {
	uint32_t id, name;
};

struct entries {
	struct entry *items;
	size_t count, capacity;
};

struct btf_kernel {
	const struct btf_kernel *base; /* of a module: the kernel's */
	uint32_t base_types, base_strings;
	const uint8_t *bytes;
	size_t length;
	bool mapped, allocated;
	const uint8_t *types;
	uint32_t types_bytes;
	const char *strings;
	uint32_t strings_bytes;
	uint32_t type_count; /* ids base_types + 1 .. base_types + type_count */
	uint32_t *noted;     /* offset of own type 1 + 64 * i */
	size_t noted_count, noted_capacity;
	struct entries traces, callers;
};

/* Bytes that follow the fixed head of a type, or SIZE_MAX for an unknown kind. */
static size_t tail_bytes(const struct btf_type *type)
{
	static const uint8_t once[] = {
		[BTF_KIND_INT] = 4,
		[BTF_KIND_ARRAY] = sizeof(struct btf_array),
		[BTF_KIND_VAR] = sizeof(struct btf_var),
		[BTF_KIND_DECL_TAG] = 4,
	};
	static const uint8_t each[] = {
		[BTF_KIND_STRUCT] = sizeof(struct btf_member),       [BTF_KIND_UNION] = sizeof(struct btf_member),
		[BTF_KIND_ENUM] = sizeof(struct btf_enum),           [BTF_KIND_FUNC_PROTO] = sizeof(struct btf_param),
		[BTF_KIND_DATASEC] = sizeof(struct btf_var_secinfo), [BTF_KIND_ENUM64] = 12,
	};
	uint32_t kind = BTF_INFO_KIND(type->info);

	if (kind == BTF_KIND_UNKN || kind > BTF_KIND_ENUM64)
		return SIZE_MAX;
	size_t bytes = kind < sizeof once ? once[kind] : 0;

	if (kind < sizeof each)
		bytes += (size_t)each[kind] * BTF_INFO_VLEN(type->info);
	return bytes;
}

const char *btf_kernel_name(const struct btf_kernel *btf, uint32_t offset)
{
	if (btf->base && offset < btf->base_strings)
		return btf_kernel_name(btf->base, offset);
	offset -= btf->base_strings;
	return offset < btf->strings_bytes ? btf->strings + offset : "";
}

/* Notes type id where its name begins with prefix. */
static int note_entry(struct entries *entries, const struct btf_kernel *btf, const struct btf_type *type, uint32_t id)
{
	const char *prefix = entries == &btf->traces ? TRACE_PREFIX : CALLER_PREFIX;
	size_t length = strlen(prefix);

	if (strncmp(btf_kernel_name(btf, type->name_off), prefix, length) != 0)
		return 0;
	if (alloc_grow(&entries->items, &entries->capacity, entries->count, sizeof *entries->items))
		return -ENOMEM;
	entries->items[entries->count++] = (struct entry){ .id = id, .name = type->name_off + (uint32_t)length };
	return 0;
}

static int note_offset(struct btf_kernel *btf, uint32_t own, uint32_t offset)
{
	const struct btf_type *type = (const void *)(btf->types + offset);
	uint32_t id = btf->base_types + own;

	if ((own - 1) % NOTED_EVERY == 0) {
		if (alloc_grow(&btf->noted, &btf->noted_capacity, btf->noted_count, sizeof *btf->noted))
			return -ENOMEM;
		btf->noted[btf->noted_count++] = offset;
	}
	switch (BTF_INFO_KIND(type->info)) {
	case BTF_KIND_TYPEDEF:
		return note_entry(&btf->traces, btf, type, id);
	case BTF_KIND_FUNC:
		return note_entry(&btf->callers, btf, type, id);
	default:
		return 0;
	}
}

/* -EINVAL where the types do not fill their section exactly. */
static int index_types(struct btf_kernel *btf)
{
	uint32_t offset = 0, id = 0;

	while (offset < btf->types_bytes) {
		size_t left = btf->types_bytes - offset, tail;

		if (left < sizeof(struct btf_type))
			return -EINVAL;
		tail = tail_bytes((const void *)(btf->types + offset));
		if (tail > left - sizeof(struct btf_type))
			return -EINVAL;
		int result = note_offset(btf, ++id, offset);

		if (result)
			return result;
		offset += (uint32_t)(sizeof(struct btf_type) + tail);
	}
	btf->type_count = id;
	return 0;
}

/* True when a section lies in the bytes after the header. */
static bool within(const struct btf_kernel *btf, uint32_t head, uint32_t offset, uint32_t length)
{
	return head <= btf->length && offset <= btf->length - head && length <= btf->length - head - offset;
}

static int index_sections(struct btf_kernel *btf)
{
	struct btf_header header;

	if (btf->length < sizeof header)
		return -EINVAL;
	memcpy(&header, btf->bytes, sizeof header);
	if (header.magic != BTF_MAGIC || header.version != BTF_VERSION || header.hdr_len < sizeof header ||
	    (header.hdr_len | header.type_off) % 4 != 0 ||
	    !within(btf, header.hdr_len, header.type_off, header.type_len) ||
	    !within(btf, header.hdr_len, header.str_off, header.str_len) || header.str_len == 0 ||
	    header.str_len > UINT32_MAX - btf->base_strings)
		return -EINVAL;
	btf->types = btf->bytes + header.hdr_len + header.type_off;
	btf->types_bytes = header.type_len;
	btf->strings = (const char *)btf->bytes + header.hdr_len + header.str_off;
	btf->strings_bytes = header.str_len;
	if (btf->strings[header.str_len - 1] != '\0')
		return -EINVAL;
	return index_types(btf);
}

/* Fills btf->bytes from the file: by mapping (Linux 6.16 and later), else by a copy. */
static int read_kernel(struct btf_kernel *btf, int fd, size_t length)
{
	void *mapping = mmap(NULL, length, PROT_READ, MAP_PRIVATE, fd, 0);

	btf->length = length;
	if (mapping != MAP_FAILED) {
		btf->bytes = mapping;
		btf->mapped = true;
		return 0;
	}
	uint8_t *copy = alloc_zero(length, 1);

	if (!copy)
		return -ENOMEM;
	btf->bytes = copy;
	btf->allocated = true;
	for (size_t done = 0; done < length;) {
		ssize_t got = read(fd, copy + done, length - done);

		if (got <= 0)
			return got < 0 ? -errno : -EINVAL;
		done += (size_t)got;
	}
	return 0;
}

int btf_kernel_from_split(const struct btf_kernel *base, const void *bytes, size_t length, struct asterism_diag *diag,
			  struct btf_kernel **opened)
{
	struct btf_kernel *btf = alloc_zero(1, sizeof *btf);

	if (!btf)
		return diag_no_memory(diag);
	if (base) {
		btf->base = base;
		btf->base_types = base->base_types + base->type_count;
		btf->base_strings = base->base_strings + base->strings_bytes;
	}
	btf->bytes = bytes;
	btf->length = length;
	int result = index_sections(btf);

	if (result) {
		btf_kernel_close(btf);
		return result == -ENOMEM ? diag_no_memory(diag)
					 : diag_error(diag, NULL, result, "the type information (BTF) is malformed");
	}
	*opened = btf;
	return 0;
}

int btf_kernel_from_bytes(const void *bytes, size_t length, struct asterism_diag *diag, struct btf_kernel **opened)
{
	return btf_kernel_from_split(NULL, bytes, length, diag, opened);
}

bool btf_kernel_is_split(const struct btf_kernel *btf, uint32_t id)
{
	return btf->base && id > btf->base_types;
}

int btf_kernel_open(struct asterism_diag *diag, struct btf_kernel **opened)
{
	struct btf_kernel *btf = NULL;
	struct stat status;
	int result, fd = open(BTF_PATH, O_RDONLY | O_CLOEXEC);

	if (fd < 0 && errno == ENOENT)
		return diag_error(diag, NULL, -EOPNOTSUPP,
				  "this kernel has no type information at " BTF_PATH " (CONFIG_DEBUG_INFO_BTF)");
	if (fd < 0)
		return diag_error(diag, NULL, -errno, "cannot read the kernel's type information at " BTF_PATH ": %s",
				  strerror(errno));
	if (fstat(fd, &status) < 0 || status.st_size <= 0 || status.st_size > BYTES_MAX) {
		result = diag_error(diag, NULL, -EINVAL, "%s has no usable size", BTF_PATH);
		goto out;
	}
	btf = alloc_zero(1, sizeof *btf);
	result = btf ? read_kernel(btf, fd, (size_t)status.st_size) : -ENOMEM;
	if (!result)
		result = index_sections(btf);
	if (result == -ENOMEM)
		diag_no_memory(diag);
	else if (result)
		diag_error(diag, NULL, result, "cannot read %s: %s", BTF_PATH, strerror(-result));
out:
	close(fd);
	if (result)
		btf_kernel_close(btf);
	else
		*opened = btf;
	return result;
}

void btf_kernel_close(struct btf_kernel *btf)
{
	if (!btf)
		return;
	if (btf->mapped)
		munmap((void *)(uintptr_t)btf->bytes, btf->length);
	if (btf->allocated)
		alloc_free((void *)(uintptr_t)btf->bytes);
	alloc_free(btf->noted);
	alloc_free(btf->traces.items);
	alloc_free(btf->callers.items);
	alloc_free(btf);
}

static const struct btf_type *next_of(const struct btf_type *type)
{
	return (const void *)((const uint8_t *)(type + 1) + tail_bytes(type));
}

const struct btf_type *btf_kernel_type(const struct btf_kernel *btf, uint32_t id)
{
	if (btf->base && id <= btf->base_types)
		return btf_kernel_type(btf->base, id);
	id -= btf->base_types;
	if (id == 0 || id > btf->type_count)
		return NULL;
	const struct btf_type *type = (const void *)(btf->types + btf->noted[(id - 1) / NOTED_EVERY]);

	for (uint32_t left = (id - 1) % NOTED_EVERY; left > 0; left--)
		type = next_of(type);
	return type;
}

uint32_t btf_kernel_find(const struct btf_kernel *btf, uint32_t kind, const char *name)
{
	uint32_t found = btf->base ? btf_kernel_find(btf->base, kind, name) : 0;
	const struct btf_type *type = (const void *)btf->types;

	for (uint32_t own = 1; own <= btf->type_count && !found; own++, type = next_of(type)) {
		if (BTF_INFO_KIND(type->info) == kind && strcmp(btf_kernel_name(btf, type->name_off), name) == 0)
			found = btf->base_types + own;
	}
	return found;
}

static bool is_transparent(const struct btf_type *type)
{
	switch (BTF_INFO_KIND(type->info)) {
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_CONST:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_TYPE_TAG:
		return true;
	default:
		return false;
	}
}

const struct btf_type *btf_kernel_bare(const struct btf_kernel *btf, uint32_t *id)
{
	const struct btf_type *type = btf_kernel_type(btf, *id);

	for (int hops = 0; type && is_transparent(type); hops++) {
		if (hops == HOPS_MAX)
			return NULL;
		*id = type->type;
		type = btf_kernel_type(btf, *id);
	}
	return type;
}

uint32_t btf_kernel_size(const struct btf_kernel *btf, uint32_t id)
{
	uint64_t count = 1;

	for (int depth = 0; depth < DEPTH_MAX; depth++) {
		const struct btf_type *type = btf_kernel_bare(btf, &id);

		switch (type ? BTF_INFO_KIND(type->info) : BTF_KIND_UNKN) {
		case BTF_KIND_PTR:
			count *= 8;
			return count > UINT32_MAX ? 0 : (uint32_t)count;
		case BTF_KIND_INT:
		case BTF_KIND_ENUM:
		case BTF_KIND_ENUM64:
		case BTF_KIND_FLOAT:
		case BTF_KIND_STRUCT:
		case BTF_KIND_UNION:
			count *= type->size;
			return count > UINT32_MAX ? 0 : (uint32_t)count;
		case BTF_KIND_ARRAY: {
			const struct btf_array *array = (const void *)(type + 1);

			count *= array->nelems;
			if (count > UINT32_MAX)
				return 0;
			id = array->type;
			break;
		}
		default:
			return 0;
		}
	}
	return 0;
}

/* The prototype of what entries hold under name, or NULL. *id becomes the entry's type. */
static const struct btf_type *prototype(const struct btf_kernel *btf, const struct entries *entries, const char *name,
					uint32_t *id)
{
	for (size_t i = 0; i < entries->count; i++) {
		if (strcmp(btf_kernel_name(btf, entries->items[i].name), name) != 0)
			continue;
		uint32_t at = entries->items[i].id;
		const struct btf_type *type = btf_kernel_bare(btf, &at);

		if (type && (BTF_INFO_KIND(type->info) == BTF_KIND_PTR || BTF_INFO_KIND(type->info) == BTF_KIND_FUNC))
			type = btf_kernel_type(btf, type->type);
		if (type && BTF_INFO_KIND(type->info) == BTF_KIND_FUNC_PROTO && BTF_INFO_VLEN(type->info) > 0) {
			*id = entries->items[i].id;
			return type;
		}
	}
	return NULL;
}

int btf_kernel_tracepoint(const struct btf_kernel *btf, const char *name, struct btf_tracepoint *found)
{
	uint32_t id, caller_id;
	const struct btf_type *type = prototype(btf, &btf->traces, name, &id);

	if (!type)
		return -ENOENT;
	const struct btf_type *named = prototype(btf, &btf->callers, name, &caller_id);

	if (named && BTF_INFO_VLEN(named->info) == BTF_INFO_VLEN(type->info))
		type = named;
	*found = (struct btf_tracepoint){
		.id = id,
		.params = (const struct btf_param *)(type + 1) + 1,
		.param_count = BTF_INFO_VLEN(type->info) - 1u,
	};
	return 0;
}
