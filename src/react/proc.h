/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef REACT_PROC_H
#define REACT_PROC_H

/*
 * What /proc says of processes and threads. Nothing here allocates or takes a lock: a child of fork may call it,
 * whatever the threads of its parent were about.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* When the thread was made, in the kernel's ticks since boot: with the id it names it for good. -ESRCH: it is gone. */
int proc_birth(pid_t tid, uint64_t *ticks);

/* The process that a thread belongs to; 0: there is no such thread. */
pid_t proc_process_of(pid_t tid);

/* Reads a small file whole, as text. Returns its length, cut to size - 1, or -errno. */
ssize_t proc_read(const char *path, char *text, size_t size);

/* Writes a text to a file that is there. Returns 0 or -errno. */
int proc_write(const char *path, const char *text);

#endif
