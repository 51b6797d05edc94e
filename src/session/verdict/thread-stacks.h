/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_VERDICT_THREAD_STACKS_H
#define SESSION_VERDICT_THREAD_STACKS_H

/* The stacks of threads that a match asks for by name, StackOf: taken and named as soon as the match is handed out. */

#include "session/output/frames.h"

#include <stddef.h>

struct thread_stacks;

/* frames outlives it. Where this kernel cannot tell, each call says so. NULL: memory is short. */
struct thread_stacks *thread_stacks_new(struct frames *frames);
void thread_stacks_free(struct thread_stacks *stacks);

/* What is taken from here on is for match, which is borrowed. */
void thread_stacks_begin(struct thread_stacks *stacks, const struct program_match *match);

/* As stack of struct react_agent_options; context: the stacks. */
int thread_stacks_take(void *context, int tid, char *why, size_t size);

/* Names those that were taken for the match; valid until the next begins. */
void thread_stacks_tell(struct thread_stacks *stacks, struct program_match *reported);

#endif
