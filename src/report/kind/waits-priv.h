/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef REPORT_KIND_WAITS_PRIV_H
#define REPORT_KIND_WAITS_PRIV_H

/*
 * Which threads wait for which: what the parts of the report share. waits.c listens, waits-call.c reads
 * calls, waits-object.c keeps objects, waits-circle.c finds cycles, waits-write.c writes tables, waits-draw.c
 * pictures.
 *
 * An object is a futex: an address in a process. A process is a pid and a generation, which exec and the reuse of the
 * pid begin anew. A holder is proved by probes in the lock's functions, and for a join by the kernel, which ends that
 * wait when the thread ends. Else it is suspected: a thread that was woken in a wait for a mutex, and did not wait for
 * it again, has it until it wakes others.
 */

#include "report/kind/kinds.h"

#include "report/table.h"
#include "report/tally.h"

enum {
	WAITS_OBJECTS_MAX = 1 << 18,
	WAITS_EDGES_MAX = 1 << 19,
	WAITS_PAIRS_MAX = 1 << 16,
	WAITS_PROCESSES_MAX = 1 << 18,
	WAITS_CIRCLES_MAX = 4096,
	WAITS_MEMBERS_MAX = 1 << 20, /* of all cycles */
	WAITS_STEPS_MAX = 1 << 28,   /* in the search for cycles */
	WAITS_STANDS_NS = 100000000, /* so long a suspected cycle has to stand */
	WAITS_NODES_DRAWN = 300,
};

enum waits_object_kind { WAITS_CONDITION, WAITS_MUTEX, WAITS_JOIN };
/* What became of a cycle. */
enum waits_fate { WAITS_NOT_KNOWN_HOW, WAITS_ENDED, WAITS_INTERRUPTED, WAITS_ENDED_BY_EXIT, WAITS_STANDS };

enum waits_proof { WAITS_NOT_KNOWN, WAITS_SUSPECTED, WAITS_PROVED };

struct waits_sum {
	uint64_t count, ns, most_ns;
};

struct waits_object {
	uint64_t key[3]; /* process with generation, address, kind and for joins the thread above it */
	struct waits_sum sum;
	uint32_t threads;    /* how many have waited */
	uint32_t holder;     /* now; REPORT_NONE */
	uint32_t last;       /* the last holder or, of conditions, who woke last; REPORT_NONE */
	uint32_t depth;      /* of a recursive mutex */
	uint32_t epoch;      /* holder is of it: gaps so far */
	uint32_t process;    /* a thread of its process */
	uint32_t red_holder; /* who has it in a cycle; REPORT_NONE */
	uint8_t proof, last_proof;
	bool is_made;
	bool is_private; /* no other process has it */
	bool is_red;     /* in a cycle */
};

struct waits_edge {
	uint64_t key[2]; /* thread, object */
	struct waits_sum sum;
	bool is_red;
};

struct waits_pair {
	uint64_t key[3]; /* who waited, the waker, and for what: the kind of object, or above 255 a reason */
	uint64_t count, ns;
};

struct waits_process {
	uint64_t key[1];             /* report_process */
	uint32_t generation;         /* of its memory */
	uint32_t alive;              /* threads, as far as they are known */
	uint32_t stuck, stuck_mutex; /* threads that wait for joins and mutexes without end; for mutexes */
	uint32_t epoch;              /* what is known of threads is of it */
	uint64_t stuck_since;        /* since when all that are alive do */
	uint32_t made, met;          /* threads that began, and that have shown themselves */
	bool is_whole;               /* the birth of the process, or a state of each thread, is in the trace */
};

/* A thread, by its index. */
struct waits_thread {
	uint64_t begin;
	uint64_t blocked_ns, blocked_end; /* the last slice in which it was blocked */
	uint64_t blocked_for;             /* as the key of a pair has it */
	uint64_t wanted;                  /* the mutex of the lock function that it is in; 0: in none */
	uint32_t object;                  /* that it waits for, and 1; 0: none */
	uint32_t resumes;                 /* the object of a call that a signal interrupted, and 1 */
	uint32_t circle;                  /* in which it is now, and 1 */
	bool is_stuck;                    /* counted so in its process */
	bool is_timed;                    /* the wait has an end */
	bool inherits;                    /* the wait is for a mutex with priority inheritance */
	bool is_gone;
	bool is_met;  /* counted so in its process */
	bool is_told; /* the call that it was in when the recording began */
};

struct waits_member {
	uint32_t thread, object;
};

struct waits_circle {
	uint64_t key[4]; /* the least thread, its object, length, proof */
	struct waits_member *members;
	uint64_t since, begin, end, longest; /* first; of the one now or last; */
	uint64_t count;
	uint8_t fate;
};

struct waits {
	struct report report;
	struct report_tally objects, edges, pairs, processes, circles;
	struct waits_thread *threads;
	size_t thread_count, thread_capacity;
	struct waits_member *walk; /* of the search */
	size_t walk_capacity;
	uint64_t members, steps;
	uint64_t halves;   /* waits whose return is not in the trace */
	uint64_t standing; /* waits that have no end in the trace */
	uint64_t earlier;  /* waits that began before the recording */
	uint64_t unread;   /* calls whose addresses are not in the trace */
	uint64_t circles_left_out;
	uint32_t epoch;    /* gaps so far */
	uint32_t *order;   /* at the end: objects by time */
	uint32_t *numbers; /* by object its place in order, and 1 */
	uint32_t shown;    /* objects in order: some thread waited for them */
};

static inline enum waits_object_kind waits_kind_of(const struct waits_object *object)
{
	return (enum waits_object_kind)(object->key[2] & 0xff);
}

static inline struct waits_object *waits_object(const struct waits *waits, uint32_t index)
{
	return (struct waits_object *)waits->objects.items + index;
}

/* waits-call.c */

enum waits_call_kind { WAITS_CALL_OTHER, WAITS_CALL_WAIT, WAITS_CALL_WAKE, WAITS_CALL_RESTART, WAITS_CALL_UNREAD };

/* What a system call is to waits, whichever of the calls it is. */
struct waits_call {
	enum waits_call_kind what;
	uint64_t address, value;
	uint32_t joined; /* the tid whose end it may wait for; 0: none */
	bool is_mutex, is_private, is_timed;
	bool inherits; /* a mutex with priority inheritance: when it is given back without a wait is not seen */
};

struct waits_call waits_read_call(const struct report_event *event, int64_t id);

/* How a wait ends: its return is LOST; it was NONE; a signal came, and the wait may be RESUMED; only after WOKEN its
 * mutex may be its own. */
enum waits_end {
	WAITS_END_LOST,
	WAITS_END_NONE,
	WAITS_END_RETURN,
	WAITS_END_SIGNAL,
	WAITS_END_RESUMED,
	WAITS_END_WOKEN,
	WAITS_END_EXIT,
};

/* Whether returns of the call end waits, and how. */
bool waits_returns(int64_t id);
enum waits_end waits_end_of(int64_t result);

/* waits-object.c */

/* The process of that key, or of the thread; behind a gap its threads are not known any more. NULL: no room. */
struct waits_process *waits_process_at(struct waits *waits, uint64_t key);
struct waits_process *waits_process_of(struct waits *waits, uint32_t thread);
/* The object at the address in the thread's process, or NULL: it is not there or, if made, there is no room. Behind a
 * gap who holds it is not known. */
struct waits_object *waits_object_of(struct waits *waits, uint32_t thread, uint64_t address, uint64_t kind, bool make);
void waits_set_holder(struct waits_object *object, uint32_t thread, enum waits_proof proof);

/* waits-circle.c */

/* The thread waits for something now, or has a mutex now: is there a cycle with it? Returns 0, -ENOMEM. */
int waits_look_for_circle(struct waits *waits, uint32_t thread, uint64_t ts);
/* The cycle that the thread is in ends, if it is in one. */
void waits_end_circle(struct waits *waits, uint32_t thread, uint64_t ts, enum waits_fate fate);
/* Do all threads of the process wait for each other without end? That is a cycle, whoever has what. Asked before one
 * of them stops to wait, and at the end. Returns 0, -ENOMEM. */
int waits_judge(struct waits *waits, const struct waits_process *process, uint64_t ts);
/* Marks what is red. */
void waits_mark_circles(struct waits *waits);

/* waits-write.c */

/* "mutex 3", as tables and pictures name it. */
void waits_object_name(struct text_buffer *text, const struct waits *waits, uint32_t index);
const char *waits_proof_name(unsigned proof);
void waits_write(struct report *report, struct report_tables *tables);

/* waits-draw.c */
int waits_draw(struct report *report, FILE *stream);
int waits_graph(struct report *report, FILE *stream);

#endif
