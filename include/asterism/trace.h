/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef ASTERISM_TRACE_H
#define ASTERISM_TRACE_H

#include "asterism/diag.h"
#include "asterism/match.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A trace, or several merged by time, read from its first event to its last: what `asterism record` has written, any
 * other directory with CTF, or a file of JSON lines. Nothing is observed, so no privilege is needed, and memory does
 * not grow with the length of the trace. A trace may be damaged or made by somebody who means harm: it is checked as it
 * is read, and what is wrong with it is an error with a sentence. One trace belongs to one thread at a time.
 *
 * A foreign CTF trace is read by a child process of the library's, which is gone when the trace is freed.
 */
struct asterism_trace;

/* Which events are given. Zero what is of no interest, and set size. All that is set must hold. Copied. */
struct asterism_trace_options {
	size_t size;         /* sizeof (struct asterism_trace_options) */
	const char *events;  /* names, with '*' and '?', separated by commas; NULL: all types */
	const char *catalog; /* of event types, for traces that do not say what theirs are; NULL: Linux's alone */
	uint64_t from_ns;    /* not earlier than this, in ns after the first event of all traces */
	uint64_t to_ns;      /* earlier than this, likewise; 0: to the end */
	int on_clock;        /* from_ns and to_ns are times on the clock of the events instead */
	const uint32_t *pids, *tids, *cpus;     /* one of these processes, threads, CPUs */
	size_t pid_count, tid_count, cpu_count; /* 0: all */
};

/*
 * Opens count traces (at least 1). options may be NULL. Returns 0 and stores the trace; -EINVAL (a wrong option, no
 * such trace, or it is damaged), -EOPNOTSUPP (a foreign trace, without what reads these), -ENOMEM, another -errno, with
 * sentences in diag (NULL: nobody wants to know).
 */
int asterism_trace_open(const char *const *paths, size_t count, const struct asterism_trace_options *options,
			struct asterism_diag *diag, struct asterism_trace **trace);

/* Closes and frees it. NULL is fine. */
void asterism_trace_free(struct asterism_trace *trace);

/* What asterism_trace_next has come to. */
enum asterism_trace_item {
	ASTERISM_TRACE_END,
	ASTERISM_TRACE_EVENT, /* the functions below tell which */
	ASTERISM_TRACE_LOSS,  /* events are missing here: asterism_trace_loss tells how many */
};

/*
 * Goes on to the next item. Returns one of enum asterism_trace_item; -EINVAL (the trace is damaged here: what can be
 * read behind the damage comes with the next call), -EIO (too much of it is damaged), -EINTR (a signal came while it
 * waited for input: call again), -ENOMEM, another -errno. After END and any error but -EINVAL and -EINTR nothing more
 * comes: the same is returned again. asterism_trace_diag has sentences of errors, and warnings at the end, such as that
 * nothing is called as the options have it.
 */
int asterism_trace_next(struct asterism_trace *trace);

/* The messages of the last call of asterism_trace_next, valid until the next one. Never NULL. */
const struct asterism_diag *asterism_trace_diag(const struct asterism_trace *trace);

/*
 * The event, for as long as it is not asked for the next; its name is NULL, its seq the ordinal in all traces, whatever
 * is given of them; cpu UINT32_MAX: unknown. Returns 0, or -EINVAL: there is no event, or no such size.
 */
int asterism_trace_event(const struct asterism_trace *trace, struct asterism_event *event);

/*
 * The number of the event's type, from 0 in the order in which types come up: what was found out about a type - the
 * index of a field - can be kept under it. Types of one name in several traces have numbers of their own, as they may
 * have other fields. UINT32_MAX: there is no event.
 */
uint32_t asterism_trace_type(const struct asterism_trace *trace);

/* The index of the event's field called name, or -ENOENT; -EINVAL: there is no event. */
int asterism_trace_field_index(const struct asterism_trace *trace, const char *name);

/*
 * Field number field of the event, from 0 to field_count - 1. Returns 0; 1 (a text that may have been longer); -ENODATA
 * (a text that could not be read where it was recorded; *value has its name and kind), -EINVAL (there is none). A text
 * is valid until the next event.
 */
int asterism_trace_field(const struct asterism_trace *trace, size_t field, struct asterism_value *value);

/* The field called name, of the event or of its header (ts, cpu, pid, tid, comm). Likewise; -ENOENT: there is none. */
int asterism_trace_field_find(const struct asterism_trace *trace, const char *name, struct asterism_value *value);

/*
 * A field as people read it, NUL-terminated, to size bytes at buffer (NULL with size 0): `O_CREAT|O_WRONLY`, `openat`,
 * `30.1ms`, `-ENOENT`; texts as they are, whatever bytes that is. Returns its length, as snprintf: what is size or more
 * was cut. -ENODATA, -EINVAL as asterism_trace_field; -ENOMEM.
 * What numbers stand for is what the catalogs of this library say where the trace does not.
 */
int asterism_trace_field_text(const struct asterism_trace *trace, size_t field, char *buffer, size_t size);

/* What is known of a field. Texts live as long as the trace. */
struct asterism_trace_field_about {
	size_t size;         /* sizeof (struct asterism_trace_field_about), set by the caller */
	const char *name;    /* "flags" */
	const char *type;    /* "u32", "string", ... as catalogs have it */
	const char *meaning; /* what its numbers stand for, "flags open", "duration"; NULL: nothing but numbers */
	const char *unit;    /* "sectors"; NULL: none */
	const char *doc;     /* a few words; NULL: none */
	uint32_t bytes;      /* of a text, its NUL included; else 8 */
};

/* Returns 0; -EINVAL (there is no such field, or no such size), -ENOMEM. */
int asterism_trace_field_describe(const struct asterism_trace *trace, size_t field,
				  struct asterism_trace_field_about *about);

/* The event as `asterism dump -f json` has it, without a newline. As asterism_trace_field_text; -ENOMEM. */
int asterism_trace_json(const struct asterism_trace *trace, char *buffer, size_t size);

/* Events that are missing: they were raised between the item before and until_ns, whatever the options choose. */
struct asterism_trace_loss {
	size_t size;       /* sizeof (struct asterism_trace_loss), set by the caller */
	uint64_t count;    /* at least: a piece of unknown size counts as 1 */
	uint64_t from_ns;  /* time of the last event that was read before; 0: none was */
	uint64_t until_ns; /* 0: up to the end */
};

/* Returns 0, or -EINVAL: the item is no loss, or no such size. */
int asterism_trace_loss(const struct asterism_trace *trace, struct asterism_trace_loss *loss);

/* How far it has been read. */
struct asterism_trace_stats {
	size_t size;          /* sizeof (struct asterism_trace_stats), set by the caller */
	uint64_t read;        /* events, those that were not given too */
	uint64_t given;       /* events */
	uint64_t lost;        /* events, so far */
	uint64_t damaged;     /* how often -EINVAL was returned */
	uint64_t bytes;       /* of the input */
	uint64_t bytes_total; /* of all of it; 0: unknown */
	uint64_t start_ns;    /* time of the first event; 0: there was none */
	uint64_t wall_ns;     /* what added to a time gives CLOCK_REALTIME; 0: unknown */
	const char *host;     /* where it was recorded, or ""; lives as long as the trace */
};

/* Returns 0, or -EINVAL: no such size. */
int asterism_trace_stats(const struct asterism_trace *trace, struct asterism_trace_stats *stats);

#ifdef __cplusplus
}
#endif

#endif
