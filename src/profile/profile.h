/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PROFILE_PROFILE_H
#define PROFILE_PROFILE_H

/*
 * What a program cost, by function: sampled (self costs alone), simulated (with calls), or completed (sampled costs
 * with the calls of a simulation). Rows of costs have one number per event type. A function is a name in an object;
 * texts are kept once and known by number, 0 being the empty one. One thread at a time; it lives until freed.
 */

#include "base/hash-table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PROFILE_EVENTS_MAX = 32, PROFILE_NONE = -1, PROFILE_KEY_BYTES = 1024 };

#define PROFILE_BUILD_ID "build-id " /* begins a key of infos, before the object */

#define PROFILE_NO_ADDRESS UINT64_MAX

/* Where a value is from. */
enum profile_origin {
	PROFILE_MEASURED,  /* counted in a run */
	PROFILE_DERIVED,   /* follows from what was measured */
	PROFILE_ESTIMATED, /* rests on how the simulation shares costs among callers */
};

enum profile_flag {
	PROFILE_UNATTACHED = 1, /* sampled, but not simulated */
	PROFILE_IN_CYCLE = 2,   /* calls itself, perhaps through others */
	PROFILE_BY_CALLS = 4,   /* shared by numbers of calls, as the simulation has no cost for it */
};

struct profile_function {
	uint32_t name, object, file;
	uint32_t next;      /* of the same name; HASH_NONE after the last */
	uint32_t last;      /* of the same name; known of the first */
	uint32_t line;      /* 0: unknown */
	uint64_t low, high; /* addresses seen, high included; low > high: none */
	unsigned flags;
	enum profile_origin origin; /* of the inclusive cost */
};

struct profile_edge {
	uint32_t caller, callee;
	double calls;
	enum profile_origin origin; /* of the cost */
};

/* One way in which a function was reached: itself, its caller and so on. */
struct profile_context {
	uint32_t function;
	uint32_t callers; /* text: the callers' names as written, with ' between them */
	size_t path;      /* where its functions begin in paths */
	uint32_t length;  /* how many */
	bool is_root;     /* nothing calls the last of them */
};

/* Where in the code a part of a function's self cost is: a line of a source or else an address of an object. */
struct profile_spot {
	uint32_t function;
	uint32_t object, file, line; /* object: of the address; line 0: not known */
	uint64_t address;            /* as the object's own headers have it; PROFILE_NO_ADDRESS: not known */
};

/* The part of an edge's calls that is made from one spot. */
struct profile_call {
	uint32_t edge, spot;
	double calls;
};

/* Of a sampled profile: a thread, and what it has of a function's self cost (profile/threads.h). */
struct profile_thread {
	uint32_t pid, tid, name;
};

struct profile_part {
	uint32_t thread, function;
	double cost;
};

/* What is said of the run: "cmd", "creator", "period". */
struct profile_info {
	uint32_t key, value;
};

struct profile_texts {
	const char **texts;
	size_t count, capacity;
	struct hash_table numbers;
};

struct profile {
	struct arena *arena;
	uint64_t seed; /* of its hashes */
	struct profile_texts texts;
	struct profile_info *infos;
	size_t info_count, info_capacity;
	uint32_t events[PROFILE_EVENTS_MAX];
	unsigned event_count; /* 0: not known yet; fixed before the first function */
	struct profile_function *functions;
	double *self; /* function * event_count + event */
	size_t function_count, function_capacity, self_capacity;
	struct profile_edge *edges;
	double *costs; /* of edges, likewise */
	size_t edge_count, edge_capacity, cost_capacity;
	struct profile_spot *spots;
	double *spot_self; /* what has no spot is in self alone */
	size_t spot_count, spot_capacity, spot_self_capacity;
	struct profile_call *calls;
	double *call_costs;
	size_t call_count, call_capacity, call_cost_capacity;
	struct profile_context *contexts;
	double *context_self;
	uint32_t *paths;
	size_t context_count, context_capacity, context_self_capacity, path_count, path_capacity;
	struct profile_thread *threads;
	struct profile_part *parts;
	size_t thread_count, thread_capacity, part_count, part_capacity;
	bool is_completed; /* there are inclusive costs */
	double *inclusive; /* likewise */
	double *deviation; /* of inclusive, standard; NAN: not known */
	size_t inclusive_capacity, deviation_capacity;
	double samples; /* 0: not known */
	double missing; /* share of the first event's cost that its own sums have and it has not */
	struct hash_table by_name /* the first of each name */, by_identity, by_pair, by_spot, by_call, by_part;
};

struct profile *profile_new(void);
void profile_free(struct profile *profile);

/* All that fail return -ENOMEM, or -E2BIG beyond 2^31 of a kind. */
int profile_text(struct profile *profile, const char *text, size_t length, uint32_t *number);
int profile_add_event(struct profile *profile, const char *name, size_t length);
int profile_set_info(struct profile *profile, const char *key, const char *value);
int profile_function(struct profile *profile, uint32_t name, uint32_t object, uint32_t *function);
/* Adds calls to the edge, which is made where there is none. */
int profile_edge(struct profile *profile, uint32_t caller, uint32_t callee, double calls, uint32_t *edge);
uint32_t profile_find_edge(const struct profile *profile, uint32_t caller, uint32_t callee); /* or HASH_NONE */
/* The spot that is such a one, made where there is none. */
int profile_spot(struct profile *profile, const struct profile_spot *wanted, uint32_t *spot);
/* Adds calls of the edge to those that are made from the spot. */
int profile_call(struct profile *profile, uint32_t edge, uint32_t spot, double calls, uint32_t *call);
int profile_context(struct profile *profile, uint32_t function, uint32_t callers, uint32_t *context);
/* Finds the functions that contexts name. Once, when all has been read. */
int profile_resolve_contexts(struct profile *profile);
/* Makes room for inclusive costs, 0 and of unknown deviation, of all functions, also those to come. */
int profile_add_inclusive(struct profile *profile);

/* The functions of that name: step is 0 at first; HASH_NONE after the last. */
uint32_t profile_find_name(const struct profile *profile, const char *name, size_t *step);

static inline const char *profile_get_text(const struct profile *profile, uint32_t number)
{
	return profile->texts.texts[number];
}

static inline const char *profile_name(const struct profile *profile, uint32_t function)
{
	return profile_get_text(profile, profile->functions[function].name);
}

static inline double *profile_self(const struct profile *profile, uint32_t function)
{
	return profile->self + (size_t)function * profile->event_count;
}

static inline double *profile_inclusive(const struct profile *profile, uint32_t function)
{
	return profile->inclusive + (size_t)function * profile->event_count;
}

static inline double *profile_deviation(const struct profile *profile, uint32_t function)
{
	return profile->deviation + (size_t)function * profile->event_count;
}

static inline double *profile_cost(const struct profile *profile, uint32_t edge)
{
	return profile->costs + (size_t)edge * profile->event_count;
}

static inline double *profile_spot_self(const struct profile *profile, uint32_t spot)
{
	return profile->spot_self + (size_t)spot * profile->event_count;
}

static inline double *profile_call_cost(const struct profile *profile, uint32_t call)
{
	return profile->call_costs + (size_t)call * profile->event_count;
}

/* NULL where nothing is said of key. */
const char *profile_get_info(const struct profile *profile, const char *key);

/*
 * What the run had of an object, by the build-id of its file: one thing more that is said of it, "build-id OBJECT".
 * NULL: it is not known. Names that a line of a file has no room for, or that have controls in them, are left out.
 */
int profile_set_build_id(struct profile *profile, uint32_t object, const char *digits);
const char *profile_get_build_id(const struct profile *profile, uint32_t object);
/* Sets those of all objects that are files now. 0 or -ENOMEM. */
int profile_read_build_ids(struct profile *profile);

/* The sum of all self costs of an event. */
double profile_total(const struct profile *profile, unsigned event);

/* The event of that name, or PROFILE_NONE. */
int profile_find_event(const struct profile *profile, const char *name);

#endif
