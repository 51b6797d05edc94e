/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

/*
 * What a recording tells about threads and CPUs, worked out in one pass, and the reports that listen to it. The
 * pass (pass.h) keeps the state of every thread and hands on events, slices of time in one state, gaps and matches. A
 * report is a descriptor in a file of its own and a row in kinds.c; what it has found it writes as tables (table.h),
 * which every form shows its own way. Nothing here is used by more than one thread.
 */

#include "event/source.h"
#include "report/roles.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum report_state {
	REPORT_UNKNOWN, /* after a gap, until the thread is seen again */
	REPORT_RUNNING,
	REPORT_READY, /* it could run, and waits for a CPU */
	REPORT_BLOCKED,
	REPORT_OTHERS, /* of a CPU: threads that were not observed ran, or nobody */
	REPORT_IDLE,   /* of a CPU: nobody ran */
	REPORT_DEAD,   /* is never a slice's state */
	REPORT_STATES,
};

/* In place of the index of a thread. */
#define REPORT_NONE      UINT32_MAX       /* there is none, or it is not known */
#define REPORT_INTERRUPT (UINT32_MAX - 1) /* an interrupt was it, whichever thread was under it */
#define REPORT_TIMER     (UINT32_MAX - 2) /* a timer was it: what the thread has waited for was a time */

/*
 * A thread or, of states OTHERS and IDLE and of UNKNOWN with thread REPORT_NONE, a CPU was in one state from
 * begin to end, begin < end. Slices come when they end, so in the order of their ends, but for those that only a gap
 * has ended: these may come later. Slices of one thread do not overlap, nor do those of one CPU, which are these
 * and all that are RUNNING.
 */
struct report_slice {
	uint64_t begin, end; /* ns, the clock of the events */
	uint32_t thread;     /* index in threads, or REPORT_NONE */
	uint32_t waker;  /* of READY: who woke it; REPORT_INTERRUPT, REPORT_TIMER, or REPORT_NONE: not known, or nobody
			    did */
	uint32_t reason; /* of BLOCKED, READY: index of a name (report_reason), 0: not known */
	uint16_t cpu;    /* of RUNNING, OTHERS, IDLE, UNKNOWN of a CPU; READY: where it left or was
			    put, REPORT_NO_CPU: not known; else 0 */
	uint8_t state;
	uint8_t prio; /* as the kernel has it, 0..139; REPORT_NO_PRIO: not known */
};

enum { REPORT_NO_PRIO = 255, REPORT_CPUS_MAX = 4096, REPORT_NO_CPU = UINT16_MAX };

/* A thread is a tid and a birth: tids are used again. Index 0 stands for the idle threads of all CPUs. */
struct report_thread {
	uint32_t tid, pid;     /* pid 0: not known */
	uint32_t parent;       /* index of the thread that made it, or REPORT_NONE */
	uint32_t parent_pid;   /* 0: not known */
	uint64_t birth, death; /* death 0: it did not end before the trace did */
	uint64_t state_ns[REPORT_STATES];
	uint64_t runs;      /* how often it began to run */
	uint32_t function;  /* index of a name: its start function; 0: not known, or not to be shown */
	uint32_t program;   /* index of a name: the file that it runs; 0: not known */
	uint32_t arguments; /* index of a name: the command line, as far as it was recorded; 0: not known */
	char comm[EVENT_COMM_BYTES];
	bool is_born;     /* its creation is in the trace; else birth is when it was first seen */
	bool is_kernel;   /* a thread of the kernel */
	bool is_stranger; /* it was met only where it gave way to observed threads, or was woken by them */
	uint8_t prio;     /* the last that is known; REPORT_NO_PRIO */
};

/* Events may be missing between begin and end; every state is unknown there. */
struct report_loss {
	uint64_t begin, end;
	uint64_t count; /* 1 for each piece of unknown size */
};

/* A rule matched. */
struct report_match {
	uint64_t ts;
	uint32_t cpu, thread; /* REPORT_NONE: not known */
	const char *rule;
	const char *values; /* one JSON object; valid while it is told */
	bool is_tainted;
};

/* An event as reports see it. */
struct report_event {
	const struct event *event;
	const struct report_layout *layout; /* what it is, and where its fields are */
	uint32_t thread;                    /* index of the one that raised it; REPORT_NONE */
	uint32_t comes;                     /* of a switch: index of the thread that comes; REPORT_NONE */
	bool in_interrupt;                  /* of this CPU, as far as that was recorded */
};

/* The pass, as reports may look at it. Pointers are good until the next event. */
struct report_view {
	const struct report_thread *threads;
	uint32_t thread_count;
	uint32_t cpu_count;         /* the greatest number met, and 1 */
	uint64_t first_ns, last_ns; /* of the events shown; both 0 where there are none */
	uint64_t events;
	uint32_t tid;     /* of the thread that is asked about; 0: none is */
	uint64_t wall_ns; /* added to a time gives that of day; 0: not known */
	const char *host;
	const struct report_loss *losses;
	uint32_t loss_count;
	const struct report_names *names;
	struct event_source *source;
	/* For the end, per role: whether the trace was to hold such events, and how many there were. */
	const struct report_seen {
		bool held;
		uint64_t count;
	} * seen;
	bool is_whole;    /* all processes were observed, but asterism */
	bool is_partial;  /* switches between threads that are not observed are missing */
	const char *pair; /* "BEGIN,END": names of events that the report rates is about; NULL: not said */
	bool is_redacted; /* names of programs, files and threads, and what is in memory, are not to be shown */
};

/* What stands for a thread's process: its pid, or where that is not known the thread, with the highest bit. */
static inline uint64_t report_process(const struct report_view *view, uint32_t thread)
{
	uint32_t pid = view->threads[thread].pid;

	return pid ? pid : UINT64_C(1) << 63 | thread;
}

/* How long the thread has been on a CPU up to the event that is told. */
uint64_t report_ran(const struct report_view *view, uint32_t thread);

/* What a slice in that state is called: "running". */
const char *report_state_name(unsigned state);

/* The name with that index (reasons, functions, programs); "" for 0. */
const char *report_name(const struct report_view *view, uint32_t index);

/* The thread that has the tid now, or REPORT_NONE; 0 for 0. */
uint32_t report_thread_find(const struct report_view *view, uint32_t tid);

struct report;
struct report_tables;
struct text_buffer;

/*
 * What a report is. Functions return 0 or -ENOMEM, which ends the pass; NULL: it does not listen to that. All are told
 * in the order of the pass. finish comes once, before anything is written; then all slices have been told.
 */
struct report_kind {
	const char *name, *title, *question;
	const struct report_need *needs; /* ended by one without an event; NULL: whatever there is */
	int (*open)(const struct report_view *view, struct report **made);
	int (*event)(struct report *report, const struct report_event *event);
	int (*slice)(struct report *report, const struct report_slice *slice);
	/* The thread has another priority, or it is known now, from ns on. */
	int (*priority)(struct report *report, uint32_t thread, uint8_t prio, uint64_t ns);
	int (*loss)(struct report *report, const struct report_loss *loss);
	int (*match)(struct report *report, const struct report_match *match);
	int (*finish)(struct report *report);
	void (*write)(struct report *report, struct report_tables *tables); /* may be called again */
	/* What it has found, in two sentences for the summary; nothing where it has found nothing. */
	void (*say)(const struct report *report, struct text_buffer *text);
	int (*draw)(struct report *report, FILE *stream);  /* a picture as SVG; NULL: it has none */
	int (*graph)(struct report *report, FILE *stream); /* a graph as DOT; NULL: it has none */
	void (*free)(struct report *report);
	bool is_asked;  /* only where it is named */
	uint64_t roles; /* 1 << enum report_role: the only events that it is told of; ALL: of every one */
};

#define REPORT_ALL UINT64_MAX

/* Events that a report looks at, and what it cannot say without them. */
struct report_need {
	enum report_role role;
	const char *without; /* "who woke whom is not known" */
};

/* The first member of every report. */
struct report {
	const struct report_kind *kind;
	const struct report_view *view;
};

#endif
