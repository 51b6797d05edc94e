/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef ASTERISM_MATCH_H
#define ASTERISM_MATCH_H

#include "asterism/rules.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A match, as an on_match callback gets it: the rule, when and where it was completed, the values that it RETURNs, and
 * with RETURN SEQUENCE its events; of a machine the warning, its values, and the transitions that led to it. Match,
 * texts and events are borrowed: they are valid until the callback returns.
 */
struct asterism_match;

/* The name of the rule, and its number in the unit. */
const char *asterism_match_rule(const struct asterism_match *match);
size_t asterism_match_rule_index(const struct asterism_match *match);

/* The unit of the rule. */
struct asterism_rules *asterism_match_unit(const struct asterism_match *match);

/* When it was completed: ns, CLOCK_MONOTONIC. */
uint64_t asterism_match_time_ns(const struct asterism_match *match);

/* On which CPU, and by whom: process and thread as the initial pid namespace numbers them, and its name. */
uint32_t asterism_match_cpu(const struct asterism_match *match);
uint32_t asterism_match_pid(const struct asterism_match *match);
uint32_t asterism_match_tid(const struct asterism_match *match);
const char *asterism_match_comm(const struct asterism_match *match);

/* 1 where events were lost while the run was open, so that the match may be wrong; else 0. */
int asterism_match_is_tainted(const struct asterism_match *match);

enum asterism_kind { ASTERISM_I64 = 1, ASTERISM_U64, ASTERISM_F64, ASTERISM_BOOL, ASTERISM_STRING };

/* A value with its name. Texts are borrowed as the match is, and NUL-terminated; they may hold any other bytes. */
struct asterism_value {
	const char *name; /* as after AS, else the expression; of an event the field */
	enum asterism_kind kind;
	union {
		int64_t i64;
		uint64_t u64;
		double f64;
		int boolean; /* 0 or 1 */
		const char *string;
	} as;
};

/* How many values the rule returns; of a machine: how many the warning has. */
size_t asterism_match_value_count(const struct asterism_match *match);

/*
 * Value number index, from 0. Returns 0; -EINVAL (there is none), -EDOM (it divides by zero; *value has its name and
 * kind), -ENODATA (the match is without it: the alternative that it took does not have the event; likewise).
 */
int asterism_match_value(const struct asterism_match *match, size_t index, struct asterism_value *value);

/*
 * Value number index as people read it, and as `asterism run` writes it: "300.1ms", "openat", "-ENOENT"; control
 * characters of strings are escaped. NUL-terminated, to size bytes at buffer (NULL with size 0). Returns its length,
 * as snprintf: what is size or more was cut. Errors as asterism_match_value; -ENOMEM.
 */
int asterism_match_value_shown(const struct asterism_match *match, size_t index, char *buffer, size_t size);

/* The value called name. Returns as asterism_match_value; -ENOENT where there is none. */
int asterism_match_value_find(const struct asterism_match *match, const char *name, struct asterism_value *value);

/*
 * Fills a structure that `asterism compile --header` has made for the rule; its member layout must be set, as the
 * generated function NAME_values_get does. A machine's structure has the values of all its warnings; those of others
 * than this one's count as missing. Strings are cut to their capacity, which the rule gives them anyway.
 * Returns 0, or -EINVAL: size or layout are those of another rule, or of another version of it.
 */
int asterism_match_values(const struct asterism_match *match, void *values, size_t size);

/* For the generated structures: what must hold for them when they are compiled. */
#if defined(__cplusplus)
#define ASTERISM_STATIC_ASSERT(condition, text) static_assert(condition, text)
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define ASTERISM_STATIC_ASSERT(condition, text) _Static_assert(condition, text)
#else
#define ASTERISM_STATIC_ASSERT(condition, text) struct asterism_static_assert
#endif

/* An event of RETURN SEQUENCE. Texts are borrowed as the match is. */
struct asterism_event {
	size_t size;      /* sizeof (struct asterism_event), set by the caller */
	const char *type; /* "sys_enter_openat" */
	const char *name; /* of the element of the rule that it became; NULL where it has none */
	uint64_t seq;     /* ordinal in the input, from 1; 0: it has none, its rule runs in the kernel */
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	uint32_t cpu, pid, tid;
	const char *comm;
	size_t field_count;
};

/* How many events the match holds; 0 unless the rule says RETURN SEQUENCE. */
size_t asterism_match_event_count(const struct asterism_match *match);

/* Event number index, from 0, in the order of time. Returns 0, or -EINVAL (there is none, or no such size). */
int asterism_match_event(const struct asterism_match *match, size_t index, struct asterism_event *event);

/* Field number field of event number index. Returns 0, or -EINVAL. */
int asterism_match_event_field(const struct asterism_match *match, size_t index, size_t field,
			       struct asterism_value *value);

/*
 * What a machine warns of (docs/machines.md), borrowed as the match is. Its texts hold whatever bytes the processes
 * gave them, control characters too. "" where a transition only calls; NULL: the match is of a rule, or memory is
 * short.
 */
const char *asterism_match_warning(const struct asterism_match *match);

/* A transition of a machine's instance. Texts are borrowed as the match is. */
struct asterism_transition {
	size_t size;       /* sizeof (struct asterism_transition), set by the caller */
	const char *event; /* its type; "AFTER" for a timer */
	const char *from;  /* the state */
	const char *to;    /* likewise; "END" where the instance ended */
	uint64_t time_ns;  /* CLOCK_MONOTONIC */
	uint32_t cpu, pid, tid;
};

/* How many of the last transitions, up to the one that warns, the match holds: TRAIL at most; 0 of a rule. */
size_t asterism_match_trail_count(const struct asterism_match *match);

/* Transition number index, from 0, the oldest first. Returns 0, or -EINVAL (there is none, or no such size). */
int asterism_match_trail(const struct asterism_match *match, size_t index, struct asterism_transition *transition);

/*
 * Writes the match as one JSON object, as `asterism run -f json` has it but without a newline, NUL-terminated, to size
 * bytes at buffer (NULL with size 0). Returns its length, as snprintf: what is size or more was cut. -ENOMEM.
 */
int asterism_match_json(const struct asterism_match *match, char *buffer, size_t size);

/* The same as a text of the caller's own, to be freed with free(3). Returns its length, or -ENOMEM. */
int asterism_match_json_text(const struct asterism_match *match, char **text);

#ifdef __cplusplus
}
#endif

#endif
