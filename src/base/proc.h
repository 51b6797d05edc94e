/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef BASE_PROC_H
#define BASE_PROC_H

/*
 * What /proc says of processes and threads. Whatever is read may be gone a moment later, or may be that of another
 * process of the same id: proc_birth tells one from the other. Nothing here allocates, takes a lock or keeps anything,
 * but for proc_each and what reads from a stream: a child of fork may call the rest, whatever the threads of its parent
 * were about.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

/* Reads a small file whole, as text. Returns its length, cut to size - 1, or -errno. */
ssize_t proc_read(const char *path, char *text, size_t size);

/* Writes a text to a file that is there. Returns 0 or -errno. */
int proc_write(const char *path, const char *text);

/* Longest of all are those of kernel workers. */
enum { PROC_NAME_BYTES = 64 };

/* What is used of /proc/PID/stat. */
struct proc_stat {
	char name[PROC_NAME_BYTES]; /* cut; may hold anything */
	char state;                 /* R, S, D, T, t, Z, X, I ... */
	pid_t parent;               /* 0: outside of our namespace */
	uint32_t flags;             /* PF_... of the kernel */
	uint32_t threads;           /* of its process, 0 or 1: it is the last one */
	int32_t prio;               /* as the kernel has it: 0..99 real time, 120 nice 0 */
	uint64_t birth_ticks;       /* since boot */
	uint32_t cpu;               /* where it runs, or ran last */
};

/* Of thread tid of process pid; of the process as a whole if tid is 0; pid may be any thread's then. Returns 0,
 * -EINVAL: what is there makes no sense; -errno. */
int proc_stat(pid_t pid, pid_t tid, struct proc_stat *stat);

/* The same of a text. */
int proc_stat_parse(const char *text, struct proc_stat *stat);

/* When the thread was made, in the kernel's ticks since boot: with the id it names it for good. -ESRCH: it is gone. */
int proc_birth(pid_t tid, uint64_t *ticks);

/* The process that a thread belongs to; 0: there is no such thread. */
pid_t proc_process_of(pid_t tid);

/* Lets this process open as many files as it may: shells allow few. Commands that it starts from then on may, too. */
void proc_allow_descriptors(void);

/*
 * The numbers on the line of text that begins with label, a colon included: at most count of them, written as in C
 * (octal ones begin with 0). Returns how many there are.
 */
int proc_numbers(const char *text, const char *label, uint64_t *numbers, int count);

/*
 * Calls one for each entry of the folder at path whose name is a number - processes, threads, descriptors - until it
 * returns something else than 0, which is returned. -errno: the folder cannot be looked into.
 */
int proc_each(const char *path, int (*one)(void *context, int number), void *context);

/* A line of /proc/PID/maps. */
struct proc_mapping {
	uint64_t start, end, offset, inode;
	bool is_code; /* it may be executed */
	bool is_writable;
	const char *path; /* in the line; "": no name */
};

/* Takes the next mapping from a stream of them; line, of size bytes, is room for it. Returns false at the end. */
bool proc_mapping_next(FILE *maps, char *line, int size, struct proc_mapping *mapping);

#endif
