/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EBPF_THREAD_STACK_H
#define EBPF_THREAD_STACK_H

/*
 * Looks into a thread, whichever it is: a program that goes along the kernel's tasks (an iterator) copies the registers
 * that its user code had and its stack. The thread is neither stopped nor told. Only one that waits can be read: the
 * registers of one that runs are in its CPU.
 *
 * Where a page of the stack is not in memory, reading waits for whoever brings it, which may be the thread's own
 * process (userfaultfd). So a thread of our own does that, and a read that takes longer than EBPF_THREAD_PATIENCE_NS is
 * given up: the caller is never held up for longer. A reader belongs to one thread.
 */

#include "base/diag.h"
#include "event/event.h"
#include "program/match.h"

#include <stdint.h>
#include <sys/types.h>

#define EBPF_THREAD_PATIENCE_NS UINT64_C(50000000)

struct ebpf_thread_reader;

/* What was found, as of taken_ns; copy is valid until the next read. Times are those of events. */
struct ebpf_thread_stack {
	uint32_t pid, tid;
	char comm[EVENT_COMM_BYTES];
	uint64_t started_ns, taken_ns;
	struct program_stack_copy copy;
};

/* Returns 0; -EOPNOTSUPP (this kernel has no such programs, before 5.18), -EPERM, -ENOMEM, with a sentence. */
int ebpf_thread_reader_new(struct asterism_diag *diag, struct ebpf_thread_reader **made);
void ebpf_thread_reader_free(struct ebpf_thread_reader *reader);

/*
 * Returns 0; -ESRCH: there is no such thread; -EBUSY: it runs; -ENODATA: it has no user code; -ETIMEDOUT: its memory
 * did not come in time; -EAGAIN: the memory of one before has not come yet; or why the kernel refuses.
 */
int ebpf_thread_read(struct ebpf_thread_reader *reader, pid_t tid, struct ebpf_thread_stack *stack);

#endif
