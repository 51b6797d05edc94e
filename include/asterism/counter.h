/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef ASTERISM_COUNTER_H
#define ASTERISM_COUNTER_H

#include "asterism/diag.h"

#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A set of counters of the CPUs and the system that is open: types of the registry by name, such as PAGED_PAGE_FAULTS
 * (`asterism counters list` has them all), those that are derived from others included. It counts from when it was
 * opened on, of the own process, of another one, or of the machine. Reading it gives a snapshot; two snapshots give by
 * how much a type has grown between them, and how fast. Operands of a derived type are counted together where the
 * CPU has enough counters for that. One set, with its snapshots, belongs to one thread at a time; several share
 * nothing. In place of this machine's sources a file that the environment's ASTERISM_COUNTERS names may have values,
 * for tests.
 */
struct asterism_counter_set;

/* What a set had come to at one time. It is freed before its set. */
struct asterism_counter_snapshot;

/* Whose counters. */
enum asterism_counter_scope {
	ASTERISM_COUNTER_OWN,     /* the own process: threads that are there, and all that they begin later */
	ASTERISM_COUNTER_PROCESS, /* the process pid, likewise */
	ASTERISM_COUNTER_MACHINE, /* all CPUs; of perf's sources by root, CAP_PERFMON, or perf_event_paranoid 0 */
};

/* Zero what is of no interest, and set size. Copied. */
struct asterism_counter_options {
	size_t size;                 /* sizeof (struct asterism_counter_options) */
	int scope;                   /* one of enum asterism_counter_scope */
	pid_t pid;                   /* of ASTERISM_COUNTER_PROCESS */
	const char *const *catalogs; /* files with further types; NULL: the shipped ones alone */
	size_t catalog_count;
};

/*
 * Opens count types (1 to 256), in the order in which values are asked for later. options NULL: of the own process.
 * Files of /proc know no processes: where a type has no other source, it is of the machine, with a warning. Where the
 * kernel's part of a process may not be counted, its own code alone is, with a warning.
 * Returns 0 and stores the set; -EINVAL (a wrong option, a catalog that is wrong), -ENOENT (no such type, no such
 * catalog), -ESRCH (no such process), -EACCES (not permitted), -EMFILE (a descriptor for each thread or CPU and
 * source is needed), -E2BIG (a process of more than 4096 threads), -EAGAIN (it begins threads or processes faster than
 * they can be counted), -EOPNOTSUPP (this machine does not have the type), -ENOMEM, another -errno; with sentences in
 * diag (NULL: they are of no interest), warnings also after success.
 */
int asterism_counter_open(const char *const *types, size_t count, const struct asterism_counter_options *options,
			  struct asterism_diag *diag, struct asterism_counter_set **set);

/* Closes and frees it. NULL is fine. */
void asterism_counter_free(struct asterism_counter_set *set);

/* The number of types. */
size_t asterism_counter_count(const struct asterism_counter_set *set);

enum asterism_counter_kind {
	ASTERISM_COUNTER_SINGLE,    /* occurs once per cycle at most */
	ASTERISM_COUNTER_DURATION,  /* grows while a condition holds */
	ASTERISM_COUNTER_MULTI,     /* occurs several times per cycle */
	ASTERISM_COUNTER_THRESHOLD, /* cycles in which a multiple occurrence exceeds a limit */
	ASTERISM_COUNTER_GAUGE,     /* a state: it does not grow, and has no rate */
};

/* What is known of a type of the set. Texts live as long as the set. */
struct asterism_counter_about {
	size_t size;              /* sizeof (struct asterism_counter_about), set by the caller */
	const char *name;         /* "PAGED_PAGE_FAULTS" */
	const char *doc;          /* a few words; NULL: none */
	const char *unit;         /* "count", "cycles", "ns" */
	const char *source;       /* where it is from, "perf software page-faults"; NULL: derived */
	const char *formula;      /* what it is derived by; NULL: it is counted */
	const char *approximates; /* what its source counts instead; NULL: just this, or it is derived */
	int kind;                 /* one of enum asterism_counter_kind */
	int is_approximate;       /* its source, or that of an operand, counts something near it */
	int is_ratio;             /* it does not grow, and has no rate */
	int is_of_machine;        /* its source, or that of an operand, counts the machine */
	int is_of_user;           /* its source, or that of an operand, counts user code alone: no more is permitted */
	int is_apart;             /* operands are not counted together: there are too few counters */
};

/* Type number index, from 0. Returns 0, or -EINVAL: there is none, or no such size. */
int asterism_counter_describe(const struct asterism_counter_set *set, size_t index,
			      struct asterism_counter_about *about);

/*
 * Reads all types of the set, to *snapshot, which is made where it is NULL. Snapshots may be read to again and again;
 * that allocates nothing but what files of /proc need to be read. Returns 0; -ENOMEM, another -errno (a source cannot
 * be read any more) with sentences in asterism_counter_diag: *snapshot is what it was then.
 */
int asterism_counter_read(struct asterism_counter_set *set, struct asterism_counter_snapshot **snapshot);

/* The messages of the last asterism_counter_read, valid until the next one. Never NULL. */
const struct asterism_diag *asterism_counter_diag(const struct asterism_counter_set *set);

/* Frees it. NULL is fine. */
void asterism_counter_snapshot_free(struct asterism_counter_snapshot *snapshot);

/* When it was read, in ns on CLOCK_MONOTONIC. */
uint64_t asterism_counter_snapshot_time_ns(const struct asterism_counter_snapshot *snapshot);

/* What a type has come to between two snapshots. */
struct asterism_counter_value {
	size_t size;         /* sizeof (struct asterism_counter_value), set by the caller */
	double value;        /* grown by, in the type's unit; of gauges and ratios what they are; NAN: not known */
	double per_second;   /* grown by per second between the snapshots; NAN: gauges, ratios, no time, not known */
	double share;        /* of the time in which it was counted, 0 to 1: below 1 value is scaled up */
	uint64_t elapsed_ns; /* between the snapshots */
	uint64_t enabled_ns; /* in which it was to be counted, summed over threads or CPUs; 0: the source does not
				say */
	uint64_t running_ns; /* in which it was counted; of the operand that was counted least */
};

/*
 * From one snapshot to a later one of the same set; from NULL: since it was opened. Of a gauge what it is in the later
 * one. Returns 0; -ENODATA (it was not counted between them, or not throughout: the CPU had no counter for it),
 * -EDOM (a division by zero), both with value NAN; -EINVAL (no such type, no such size, snapshots of two sets, or
 * in the wrong order).
 */
int asterism_counter_between(const struct asterism_counter_snapshot *from, const struct asterism_counter_snapshot *to,
			     size_t index, struct asterism_counter_value *value);

#ifdef __cplusplus
}
#endif

#endif
