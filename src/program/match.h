/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PROGRAM_MATCH_H
#define PROGRAM_MATCH_H

/* What every executor tells about a match and about its rules, so that one writer serves all of them. */

#include "event/type.h"
#include "program/image.h"

#include <stdbool.h>

/* One event of RETURN SEQUENCE: a full record and the element of the rule that it became. */
struct program_match_event {
	const struct event_header *record; /* type = index in the image's types */
	uint32_t element;                  /* of the rule, from 0 */
};

/* What became of a call. */
enum program_done { PROGRAM_NOT_TRIED, PROGRAM_DONE_IN_KERNEL, PROGRAM_DONE, PROGRAM_NOT_DONE };

struct program_reaction {
	enum program_done how;
	const char *why; /* NOT_DONE: one clause; NOT_TRIED: one, or NULL where that goes without saying */
	/* Of a question: "continue" or "abort", and whose verdict that is: "answer", "default", "late". Else NULL. */
	const char *verdict, *by;
};

enum { PROGRAM_FRAMES_MAX = 32, PROGRAM_REGISTERS_MAX = 34 };

/*
 * The stack of a thread in user mode as it was, for unwinding: page i, from start on, can be read where bit i of pages
 * says so. registers are those of the architecture's struct pt_regs.
 */
struct program_stack_copy {
	const uint64_t *registers;
	uint64_t start, pages;
	const uint8_t *bytes;
	uint32_t page_bytes, page_count;
};

/* How a stack was found: by following frame pointers, in the kernel; by unwinding a copy of it; the place alone. */
enum program_stack_by { PROGRAM_BY_FRAME_POINTERS, PROGRAM_BY_UNWINDING, PROGRAM_BY_REGISTERS };

/* A stack with names. */
struct program_stack {
	const char *const *frames; /* innermost first */
	uint32_t frame_count;
	enum program_stack_by by;
	const char *end; /* what is missing of it, and why; NULL: nothing is known to be */
};

/* Of a thread that the match names, late_ns after the match. */
struct program_thread {
	uint32_t pid, tid;
	const char *comm; /* NUL-terminated, at most 15 bytes */
	uint64_t late_ns;
	struct program_stack stack;
};

/*
 * Who knows what addresses of a match's process are called, as long as the process is as it was. Returns a text that is
 * valid until the next call; NULL: there is no name for it.
 */
struct program_match;
struct program_namer {
	const char *(*name)(void *context, const struct program_match *match, uint64_t address);
	void *context;
};

/* A match, borrowed by the callee for the length of the call. */
struct program_match {
	uint32_t rule;   /* index in the image */
	uint32_t notice; /* a machine's: which of its notices, from 1; else 0 */
	bool tainted;
	uint64_t ts; /* of the completing event; first.ts + within when the time was up */
	uint32_t cpu, pid, tid;
	const char *comm;                         /* NUL-terminated, at most 15 bytes */
	const void *slots;                        /* the run's slot area, for the RETURN nodes */
	const struct program_match_event *events; /* RETURN SEQUENCE: in stream order */
	uint32_t event_count;
	uint64_t done;                            /* bit i: statement i of the rule was done in the kernel */
	const struct program_reaction *reactions; /* per statement of the rule; NULL: nothing was tried */
	/* Of the thread in user mode, if the rule asks for it: addresses, innermost first, */
	const uint64_t *stack;
	uint32_t stack_count;
	const struct program_stack_copy *stack_copy; /* NULL: there is none; */
	struct program_stack named_stack;            /* and what they mean; frames NULL: not looked up yet */
	const struct program_thread *threads;        /* others that the rule asks for */
	uint32_t thread_count;
	const struct program_namer *namer; /* NULL: nobody knows */
	bool has_own_values; /* what its rule returns are values of its process, pid, and of nobody else */
};

/* Receives matches in order. A negative result stops the executor, which passes it on. */
typedef int program_match_fn(void *context, const struct program_match *match);

struct program_rule_stats {
	uint64_t matches;
	uint64_t runs_opened;
	uint64_t runs_live_max;
	uint64_t pool_exhausted; /* runs refused because the pool was full */
	uint64_t replaced;       /* runs that gave their place to a newer one; not lost */
	uint64_t crowded;        /* of these, because the pool was full */
	uint64_t lost;           /* everything lost for this rule: refused runs, unraised, ring, map and lock losses */
	uint64_t divisions_by_zero;
	uint64_t unread;      /* events that the rule did not see, or not whole: what it looks at could not be read */
	uint32_t unread_type; /* 1 + the type of the last of these; 0: none, or not known; */
	uint32_t unread_pid;  /* and its process; 0: not known */
	uint64_t calls_32bit; /* system calls of 32-bit code while the rule looked for system calls: none is an event */
	uint64_t io_uring;    /* operations of io_uring that did what a call does for which the rule looked: no event */
	uint64_t excepted;    /* matches that an exception kept from being told and from acting; not among matches */
	uint64_t unshown;     /* matches that an output was told to leave out, as there were so many */
	uint64_t unraised;    /* events that its matches did not raise: there was no room for so many at one event */
	/* Of pool_exhausted, runs that found no room to keep an event in (RETURN SEQUENCE). */
	uint64_t events_refused;
};

#endif
