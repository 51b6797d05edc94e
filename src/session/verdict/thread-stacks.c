// SPDX-License-Identifier: BSD-2-Clause
/*
 * Takes the stacks of threads for a match, and says why another one's is missing. All are taken before the first has
 * names, for which files may have to be read.
 */

#include "session/verdict/thread-stacks.h"

#include "base/alloc.h"
#include "ebpf/thread-stack.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct thread_stacks {
	struct frames *frames;
	struct ebpf_thread_reader *reader; /* NULL: this kernel has none */
	const struct program_match *match;
	struct program_thread threads[FRAMES_THREADS_MAX];
	struct taken {
		uint64_t ns;
		char comm[EVENT_COMM_BYTES];
		uint64_t registers[PROGRAM_REGISTERS_MAX];
		struct program_stack_copy copy;
		uint8_t *bytes; /* as many as a copy has; NULL: none yet */
	} taken[FRAMES_THREADS_MAX];
	uint32_t count;
};

static const struct {
	int error;
	const char *text; /* behind "thread 12 " */
} reasons[] = {
	{ -ESRCH, "has ended" },
	{ -EBUSY, "was running: only waiting threads have a stack that can be read" },
	{ -ENODATA, "has no user code: it is a kernel thread, or about to exit" },
	{ -ETIMEDOUT, "has a stack that is not in memory and was not loaded in time" },
	{ -EAGAIN, "is waiting for another thread's stack, which is not in memory and not loaded yet" },
};

struct thread_stacks *thread_stacks_new(struct frames *frames)
{
	struct thread_stacks *stacks = alloc_zero(1, sizeof *stacks);

	if (!stacks)
		return NULL;
	stacks->frames = frames;
	if (ebpf_thread_reader_new(NULL, &stacks->reader))
		stacks->reader = NULL;
	return stacks;
}

void thread_stacks_free(struct thread_stacks *stacks)
{
	if (!stacks)
		return;
	ebpf_thread_reader_free(stacks->reader);
	for (int i = 0; i < FRAMES_THREADS_MAX; i++)
		alloc_free(stacks->taken[i].bytes);
	alloc_free(stacks);
}

void thread_stacks_begin(struct thread_stacks *stacks, const struct program_match *match)
{
	stacks->match = match;
	stacks->count = 0;
}

static bool has_thread(const struct thread_stacks *stacks, int tid)
{
	for (uint32_t i = 0; i < stacks->count; i++)
		if (stacks->threads[i].tid == (uint32_t)tid)
			return true;
	return false;
}

static int refuse_stack(int tid, int error, char *why, size_t size)
{
	for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
		if (reasons[i].error == error) {
			snprintf(why, size, "thread %d %s", tid, reasons[i].text);
			return error;
		}
	snprintf(why, size, "cannot inspect thread %d: %s", tid, strerror(-error));
	return error;
}

/* Who has the thread's number now and was born after the match is another one. */
static int read_thread(struct thread_stacks *stacks, int tid, struct ebpf_thread_stack *found)
{
	int result = ebpf_thread_read(stacks->reader, tid, found);

	return !result && found->started_ns > stacks->match->ts ? -ESRCH : result;
}

/* What was found is the reader's only until it reads again. Returns 0 or -ENOMEM. */
static int keep_found_stack(struct taken *taken, const struct ebpf_thread_stack *found)
{
	size_t bytes = (size_t)found->copy.page_bytes * found->copy.page_count;

	if (!taken->bytes)
		taken->bytes = alloc_zero(bytes, 1);
	if (!taken->bytes)
		return -ENOMEM;
	taken->ns = found->taken_ns;
	taken->copy = found->copy;
	taken->copy.registers = memcpy(taken->registers, found->copy.registers, sizeof taken->registers);
	taken->copy.bytes = memcpy(taken->bytes, found->copy.bytes, bytes);
	memcpy(taken->comm, found->comm, sizeof taken->comm);
	return 0;
}

int thread_stacks_take(void *context, int tid, char *why, size_t size)
{
	struct thread_stacks *stacks = context;
	uint32_t index = stacks->count;
	struct program_thread *thread = &stacks->threads[index];
	struct ebpf_thread_stack found;

	if (has_thread(stacks, tid))
		return 0;
	if (!stacks->reader) {
		snprintf(why, size, "this kernel cannot iterate over threads with BPF (since Linux 5.18)");
		return -EOPNOTSUPP;
	}
	if (index == FRAMES_THREADS_MAX) {
		snprintf(why, size, "a match can have the stacks of at most %d threads", FRAMES_THREADS_MAX);
		return -E2BIG;
	}
	int result = read_thread(stacks, tid, &found);

	if (!result)
		result = keep_found_stack(&stacks->taken[index], &found);
	if (result)
		return refuse_stack(tid, result, why, size);
	*thread = (struct program_thread){
		.pid = found.pid,
		.tid = found.tid,
		.comm = stacks->taken[index].comm,
		.late_ns = found.taken_ns > stacks->match->ts ? found.taken_ns - stacks->match->ts : 0,
	};
	stacks->count++;
	return 0;
}

void thread_stacks_tell(struct thread_stacks *stacks, struct program_match *reported)
{
	static const char *const short_of_memory[] = { "(out of memory)" };

	for (uint32_t i = 0; i < stacks->count; i++) {
		const struct taken *taken = &stacks->taken[i];
		struct program_thread *thread = &stacks->threads[i];

		if (frames_name_thread(stacks->frames, &taken->copy, taken->ns, i, thread))
			thread->stack = (struct program_stack){ short_of_memory, 1, PROGRAM_BY_REGISTERS, NULL };
	}
	reported->threads = stacks->threads;
	reported->thread_count = stacks->count;
}
