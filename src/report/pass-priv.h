/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef REPORT_PASS_PRIV_H
#define REPORT_PASS_PRIV_H

/* What the pass knows at one moment. */

#include "report/names.h"
#include "report/pass.h"

/* Names that reasons have, in the order of their numbers. */
enum pass_reason {
	REASON_NONE,
	REASON_WOKEN,
	REASON_PREEMPTED,
	REASON_NEW,
	REASON_ASLEEP,
	REASON_UNINTERRUPTIBLE,
	REASON_STOPPED,
	REASON_TRACED,
	REASON_IDLE_WORKER,
	REASON_FAULT,
	REASON_EXIT,
	REASON_FIXED,
};

enum {
	PASS_TIDS_MAX = 1 << 22, /* no kernel has greater ones */
	PASS_PAGE_TIDS = 4096,
	PASS_CALLS = 512,
	/* A wake-up may come while its thread is about to leave its CPU, but no longer before that. */
	PASS_PENDING_NS = 1000000,
};

/* A thread's state, beside what reports see of it. */
struct pass_lane {
	uint64_t since; /* of state */
	uint64_t exit_ns;
	uint64_t pending_ns; /* when it was woken while it ran; 0: it was not */
	uint32_t pending_waker;
	uint32_t waker, reason;
	uint32_t blocked_reason; /* of READY by a pending wake: why it left */
	uint64_t made_ns;        /* when it was about to make a thread that is not there yet */
	uint32_t function;       /* that this begins with; 0: not known, or there is none */
	uint32_t call;           /* that it is in, and 1; 0: none that is known */
	uint16_t cpu;            /* RUNNING: where; else where it left or was put, REPORT_NO_CPU: not known */
	uint8_t state;
	bool is_tentative; /* READY by a pending wake, which another one disproves */
	bool in_fault;     /* the last that was seen of it was a page fault */
	bool is_listed;    /* in active */
	bool is_observed;  /* it is one of those whose switches are all there */
	bool is_foreign;   /* a switch of it is missing, so it is none of them */
};

struct pass_cpu {
	uint64_t since;
	uint32_t current; /* index of a thread, 0: idle; REPORT_NONE: not known */
	uint32_t current_tid;
	uint32_t depth;  /* of interrupts */
	uint64_t timers; /* bit i: the i-th from within is a timer's */
	bool is_met;
	bool has_switched; /* and so tells who runs */
};

struct report_pass {
	struct report_view view;
	struct report_options options;
	struct report_names names;
	struct report_seen seen[ROLE_COUNT];
	struct report **reports;
	size_t report_count, report_capacity;

	struct report_layout *layouts; /* per type number of the source */
	size_t layout_count, layout_capacity;

	struct report_thread *threads;
	struct pass_lane *lanes;
	size_t thread_capacity, lane_capacity;
	uint32_t *tids[PASS_TIDS_MAX / PASS_PAGE_TIDS]; /* per tid the index of its thread, 0: none */

	uint32_t *active; /* threads of which something is known */
	size_t active_count, active_capacity;

	struct pass_cpu *cpus;
	size_t cpu_capacity;

	struct report_loss *losses;
	size_t loss_capacity;
	uint64_t lost, lossy_until_ns, gap_until_ns;

	uint64_t now;                  /* time of the last event, never going back */
	uint32_t calls[PASS_CALLS][2]; /* per system call: its name, and that beside uninterruptible; 0: not asked */
	bool has_begun;
	int failure;
};

/* threads.c */

/* The thread that has the tid now, or REPORT_NONE. 0 is the idle thread. */
uint32_t pass_thread_find(const struct report_pass *pass, uint32_t tid);
/* The same, made where there is none. pid and comm may be 0 and NULL: not known. REPORT_NONE: no such tid, or no
 * memory. */
uint32_t pass_thread_meet(struct report_pass *pass, uint32_t tid, uint32_t pid, const char *comm);
/* A thread that did not exist before, and the tid is nobody's. */
uint32_t pass_thread_make(struct report_pass *pass, uint32_t tid, uint32_t pid, const char *comm);
/* What is known of it now that was not. */
void pass_thread_name(struct report_pass *pass, uint32_t thread, uint32_t pid, const char *comm);
/* Its tid belongs to nobody from now on. */
void pass_thread_forget(struct report_pass *pass, uint32_t thread);
void pass_threads_fini(struct report_pass *pass);

/* states.c: what threads and CPUs are, from one time on */

/* Ends what the thread was, and begins anew at pass->now. */
void pass_enter(struct report_pass *pass, uint32_t thread, enum report_state state, uint32_t reason, uint32_t waker);
void pass_wake(struct report_pass *pass, uint32_t thread, uint32_t waker);
/* The thread leaves the CPU; state is the kernel's. */
void pass_leave(struct report_pass *pass, uint32_t thread, int64_t state);
void pass_die(struct report_pass *pass, uint32_t thread);
/* Ends what the CPU was; current is who runs from now on. */
void pass_cpu_turn(struct report_pass *pass, uint32_t cpu, uint32_t left, uint32_t current);
/* The CPU, which becomes known; NULL: its number is too great, or no memory. */
struct pass_cpu *pass_cpu_get(struct report_pass *pass, uint32_t cpu);
/* Nothing is known from begin to end. */
void pass_gap(struct report_pass *pass, uint64_t begin, uint64_t end, uint64_t count);
void pass_end_all(struct report_pass *pass, uint64_t end);

/* follow.c: what an event changes */
void pass_follow(struct report_pass *pass, const struct report_event *event);

/* names of reasons */
uint32_t pass_call_name(struct report_pass *pass, uint32_t call, bool is_uninterruptible);

#endif
