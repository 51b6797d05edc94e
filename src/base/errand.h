/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef BASE_ERRAND_H
#define BASE_ERRAND_H

/*
 * Something that may take for ever, done by a thread of its own: who asks for it waits only so long. What is under way
 * when it is given up is still done, and until then nothing else is. Belongs to one thread.
 */

#include <stdbool.h>
#include <stdint.h>

struct errand;

/*
 * work is done again and again in the thread, which takes no signals; what it returns is for errand_do. dispose is
 * called once, when work is done for the last time: by errand_free, or, where that cannot wait, by the thread. Returns
 * 0, -ENOMEM, -EAGAIN; context is disposed of by the caller then.
 */
int errand_new(int (*work)(void *context, uint64_t argument), void (*dispose)(void *context), void *context,
	       struct errand **made);
void errand_free(struct errand *errand);

/* Has work done, with argument. Returns what it does; -ETIMEDOUT: not within patience_ns; -EAGAIN: what was given up is
 * under way. */
int errand_do(struct errand *errand, uint64_t argument, uint64_t patience_ns);

/* Whether nothing is under way: then what work has left in its context may be looked at. */
bool errand_is_idle(struct errand *errand);

#endif
