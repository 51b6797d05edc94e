// SPDX-License-Identifier: BSD-2-Clause
/*
 * Names the function of a program at an address. The kernel says where the code of the program begins, so what lies in
 * a library has no name.
 */

#include "cmd/report/functions.h"

#include "base/alloc.h"
#include "session/output/symbols.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PROGRAMS_MAX = 256, SYMBOLS_BYTES_MAX = 1 << 26 };

struct functions_program {
	char *path;
	uint64_t inode;
	int64_t changed_ns;      /* the time of day, when the file was last changed */
	struct symbols *symbols; /* NULL: the file is not there, not what it was, or has none */
};

static void look_into(struct functions *functions, struct functions_program *program)
{
	int fd = open(program->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat about;

	if (fd < 0)
		return;
	if (fstat(fd, &about) == 0 && S_ISREG(about.st_mode) && about.st_ino == program->inode &&
	    symbols_read(fd, ELF_CODE, &program->symbols) == 0) {
		program->changed_ns = about.st_ctim.tv_sec * INT64_C(1000000000) + about.st_ctim.tv_nsec;
		functions->bytes += symbols_bytes(program->symbols);
	}
	close(fd);
}

/* NULL: too many are there, or no memory. */
static const struct functions_program *program_of(struct functions *functions, const struct report_start *start)
{
	struct functions_program *program;

	for (size_t i = 0; i < functions->count; i++) {
		if (functions->programs[i].inode == start->inode &&
		    strcmp(functions->programs[i].path, start->program) == 0)
			return &functions->programs[i];
	}
	if (functions->count == PROGRAMS_MAX || functions->bytes > SYMBOLS_BYTES_MAX ||
	    alloc_grow(&functions->programs, &functions->capacity, functions->count, sizeof *program))
		return NULL;
	program = &functions->programs[functions->count];
	*program = (struct functions_program){ .path = alloc_text(start->program), .inode = start->inode };
	if (!program->path)
		return NULL;
	functions->count++;
	look_into(functions, program);
	return program;
}

const char *functions_name(void *context, const struct report_start *start)
{
	const struct functions_program *program = program_of(context, start);
	const char *name;
	uint64_t distance;

	if (!program || !program->symbols || (start->wall_ns && (uint64_t)program->changed_ns > start->wall_ns))
		return NULL;
	name = symbols_at(program->symbols, start->address - start->code_start + symbols_start(program->symbols),
			  &distance);
	return name && distance == 0 ? name : NULL;
}

void functions_fini(struct functions *functions)
{
	for (size_t i = 0; i < functions->count; i++) {
		alloc_free(functions->programs[i].path);
		symbols_free(functions->programs[i].symbols);
	}
	alloc_free(functions->programs);
}
