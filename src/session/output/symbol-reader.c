// SPDX-License-Identifier: BSD-2-Clause
/* Reads a file's symbols in a thread, to which they belong until nothing is under way. */

#include "session/output/symbol-reader.h"

#include "base/alloc.h"
#include "base/errand.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* The thread's. */
struct job {
	int fd; /* -1: there is none */
	enum elf_part part;
	struct symbols *made; /* NULL: none could be read */
};

struct symbol_reader {
	struct errand *errand;
	struct job *job;
	bool is_late; /* what the job comes to was not taken yet */
};

static int read_job_symbols(void *context, uint64_t argument)
{
	struct job *job = context;
	int result = symbols_read(job->fd, job->part, &job->made);

	(void)argument;
	close(job->fd);
	job->fd = -1;
	return result;
}

static void dispose(void *context)
{
	struct job *job = context;

	symbols_free(job->made);
	alloc_free(job);
}

int symbol_reader_new(struct symbol_reader **made)
{
	struct symbol_reader *reader = alloc_zero(1, sizeof *reader);
	struct job *job = alloc_zero(1, sizeof *job);
	int result = reader && job ? errand_new(read_job_symbols, dispose, job, &reader->errand) : -ENOMEM;

	if (result) {
		alloc_free(job);
		alloc_free(reader);
		return result;
	}
	job->fd = -1;
	reader->job = job;
	*made = reader;
	return 0;
}

void symbol_reader_free(struct symbol_reader *reader)
{
	if (!reader)
		return;
	errand_free(reader->errand);
	alloc_free(reader);
}

static struct symbols *take_job_symbols(struct job *job)
{
	struct symbols *made = job->made;

	job->made = NULL;
	return made;
}

int symbol_reader_read(struct symbol_reader *reader, int fd, enum elf_part part, uint64_t patience_ns,
		       struct symbols **made)
{
	struct job *job = reader->job;
	int result;

	if (reader->is_late)
		return -EAGAIN;
	job->part = part;
	job->fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	result = errand_do(reader->errand, 0, patience_ns);
	reader->is_late = result == -ETIMEDOUT;
	if (!result)
		*made = take_job_symbols(job);
	return result;
}

bool symbol_reader_take(struct symbol_reader *reader, struct symbols **made)
{
	if (!reader->is_late || !errand_is_idle(reader->errand))
		return false;
	reader->is_late = false;
	*made = take_job_symbols(reader->job);
	return true;
}
