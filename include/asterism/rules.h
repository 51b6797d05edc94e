/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef ASTERISM_RULES_H
#define ASTERISM_RULES_H

#include "asterism/session.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A unit of rules: what was loaded by one call, from a rule text, a file, or a compiled image. Units know nothing of
 * each other: their rules may have the same names, and what becomes of one never disturbs the runs of another. Events
 * that a rule EMITs reach the rules of its own unit.
 *
 *   load -> LOADED -- activate -> ACTIVE -- deactivate -> LOADED ... -- unload
 *
 * A unit belongs to its session and to the thread that uses that; it is valid until it is unloaded or the session is
 * freed. Messages go to asterism_session_diag.
 */
struct asterism_rules;

enum asterism_rules_state {
	ASTERISM_RULES_LOADED, /* checked and compiled; observes nothing */
	ASTERISM_RULES_ACTIVE
};

/*
 * Loads rule text of length bytes, which need not end with a NUL. name stands in messages (NULL: "<text>"). Event
 * declarations that it names (EVENTS "x") are looked for among the installed catalogs.
 * Returns 0 and stores the unit; -EINVAL (the diag tells file, line and column), -ENOMEM.
 */
int asterism_rules_load_text(struct asterism_session *session, const char *text, size_t length, const char *name,
			     struct asterism_rules **rules);

/*
 * Loads a file of rules, text or image. This reads the file, and blocks as that does. Results as
 * asterism_rules_load_text; a file that cannot be read is -EINVAL, too.
 */
int asterism_rules_load_file(struct asterism_session *session, const char *file, struct asterism_rules **rules);

/*
 * Loads a compiled image (`asterism compile`). The bytes may come from anywhere: they are copied, and validated before
 * anything is done with them. name stands in messages (NULL: "<image>"). Results as asterism_rules_load_text.
 */
int asterism_rules_load_image(struct asterism_session *session, const void *bytes, size_t length, const char *name,
			      struct asterism_rules **rules);

/* Loads either of them: an image is known by its first bytes. */
int asterism_rules_load(struct asterism_session *session, const void *bytes, size_t length, const char *name,
			struct asterism_rules **rules);

/* Rules with what is to be known of where they come from. Zero what is of no interest, and set size. */
struct asterism_rules_source {
	size_t size; /* sizeof (struct asterism_rules_source) */
	const void *bytes;
	size_t length;
	const char *name; /* stands in messages; NULL: "<text>" or "<image>" */
	uid_t owner;      /* whose rules they are */
	int is_foreign;   /* the owner is somebody else, who gets to see the messages */
};

/*
 * Loads rules that not everything may be let into: EVENTS names installed catalogs by their plain names, or files that
 * belong to the owner (or to root) and that no other user can write by their absolute path. Foreign rules name
 * installed catalogs only, unless the policy file says clients-define: then also files of the owner. What is not
 * allowed is as if it were not there, and no message tells foreigners of what a file holds. Results as
 * asterism_rules_load_text.
 */
int asterism_rules_load_from(struct asterism_session *session, const struct asterism_rules_source *source,
			     struct asterism_rules **rules);

/* The name of the first action that a rule of the unit calls and that changes the system; NULL: there is none. */
const char *asterism_rules_action(const struct asterism_rules *rules);

/*
 * Loads the unit into the kernel; from the return on its rules see what happens in the scope of the session, with no
 * run open. Under ASTERISM_SCOPE_TREE these are the processes that were added, and their descendants by now; those
 * whose parents have ended before are not found.
 * Returns 0; -EINVAL (active already, a SYNCHRONOUS rule that cannot run in the kernel, or an action that the policy
 * does not allow), -EPERM (no privilege),
 * -EOPNOTSUPP (the kernel lacks something), -ENOMEM, -EMFILE, -EBUSY (deactivated in a callback of this very dispatch).
 */
int asterism_rules_activate(struct asterism_rules *rules);

/*
 * Takes the unit out of the kernel. Its open runs are gone, and so are matches that no dispatch has handed out.
 * Returns 0, or -EINVAL (not active).
 */
int asterism_rules_deactivate(struct asterism_rules *rules);

/*
 * The same, but what the unit found until then is handed out before it returns, as by a dispatch. So nothing is missing
 * where another unit has taken over from a moment on. Returns 0; -EINVAL (not active), -EBUSY (in a callback), or
 * -errno where matches could not be handed out: the unit is out of the kernel all the same.
 */
int asterism_rules_finish(struct asterism_rules *rules);

/* Deactivates where necessary and frees the unit. NULL is fine. */
void asterism_rules_unload(struct asterism_rules *rules);

/* The state; a unit that a callback has deactivated is LOADED. */
enum asterism_rules_state asterism_rules_state(const struct asterism_rules *rules);

/* A pointer of the caller's own, NULL at first; for callbacks that want to know whose match it is. */
void asterism_rules_set_context(struct asterism_rules *rules, void *context);
void *asterism_rules_context(const struct asterism_rules *rules);

/* The name that the unit was loaded under. Valid as long as the unit. */
const char *asterism_rules_name(const struct asterism_rules *rules);

/* The number of rules in the unit. */
size_t asterism_rules_count(const struct asterism_rules *rules);

/* Where a rule runs. */
enum asterism_place {
	ASTERISM_PLACE_KERNEL,
	ASTERISM_PLACE_USER,   /* here, over events that the kernel ships: in dispatch */
	ASTERISM_PLACE_NOWHERE /* SYNCHRONOUS, but the kernel cannot; such a unit cannot be activated */
};

/* What is known of one rule. Counts are sums over all activations. */
struct asterism_rule_info {
	size_t size;      /* sizeof (struct asterism_rule_info), set by the caller */
	const char *name; /* valid as long as the unit */
	enum asterism_place place;
	char reason[200]; /* why not in the kernel, one clause; "" where it is */
	uint64_t matches; /* found; asterism_session_stats has those handed out */
	uint64_t runs_opened;
	uint64_t runs_live_max;     /* at one time */
	uint64_t pool_exhausted;    /* runs refused because the pool was full */
	uint64_t lost;              /* everything lost for this rule */
	uint64_t divisions_by_zero; /* in conditions, which were then false, and in assignments, not done */
	uint64_t kernel_bytes;      /* memory that its runs take in the kernel, while the unit is active */
	uint64_t unread;      /* events that it did not see, or not whole: a string could not be read, or was cut */
	uint64_t calls_32bit; /* system calls of 32-bit code while it looked for system calls: none is an event */
	uint64_t excepted;    /* matches that its EXCEPT kept back; not among matches */
	uint32_t severity;    /* 0: it says none; 1 info, 2 low, 3 medium, 4 high, 5 critical */
	uint64_t replaced;    /* runs that gave their place to a newer one (LATEST, POOL ... REPLACE); not lost */
	uint64_t crowded;     /* of these, because the pool, or the share of their key, was full */
	uint64_t io_uring;    /* operations of io_uring that did what a call does for which it looked: no event */
};

/* Tells of rule number index, from 0. Returns 0, or -EINVAL (no such rule, or no such size). */
int asterism_rules_info(const struct asterism_rules *rules, size_t index, struct asterism_rule_info *info);

/*
 * The counts of rule number index that say whether its runs find places, since the unit was activated last:
 * pool_exhausted and crowded of struct asterism_rule_info. Costs a look at memory, so it can be asked for at any time.
 * Returns 0, or -EINVAL (no such rule).
 */
int asterism_rules_crowded(const struct asterism_rules *rules, size_t index, uint64_t *pool_exhausted,
			   uint64_t *crowded);

/*
 * In the same way what rule number index, which looks for system calls, has not seen since the unit was activated last:
 * calls_32bit and io_uring of struct asterism_rule_info.
 */
int asterism_rules_bypassed(const struct asterism_rules *rules, size_t index, uint64_t *calls_32bit,
			    uint64_t *io_uring);

/*
 * In the same way how many events rule number index has not seen completely since the unit was activated last: unread
 * of struct asterism_rule_info. *event = the type of the last of them, valid as long as the unit, NULL where it is not
 * known; *pid its process, 0 where that is not. Returns 0, or -EINVAL (no such rule).
 */
int asterism_rules_unread(const struct asterism_rules *rules, size_t index, uint64_t *unread, const char **event,
			  uint32_t *pid);

/* What a unit has counted, over all activations. */
struct asterism_rules_stats {
	size_t size;      /* sizeof (struct asterism_rules_stats), set by the caller */
	uint64_t matches; /* handed out */
	uint64_t events;  /* seen in scope, of the types that its rules want */
	uint64_t lost;    /* as in asterism_session_stats */

	uint64_t kernel_ns, kernel_runs; /* time in and runs of its programs, all rules together; 0 if not measured */
	uint64_t programs;               /* in the kernel now */
	uint64_t requests_lost;          /* questions that got the default answer without being told */
	uint64_t stops_refused;          /* processes that were not stopped for a question: too many were */
	uint64_t files_replaced; /* with probes, since it was activated: what begins with the new ones is not seen */
};

/* Counts. Returns 0, or -EINVAL (no such size). */
int asterism_rules_stats(const struct asterism_rules *rules, struct asterism_rules_stats *stats);

/* A counter (CALL Count) or histogram (CALL Histogram) of a unit. */
struct asterism_tally {
	size_t size;      /* sizeof (struct asterism_tally), set by the caller */
	const char *name; /* valid until the next asterism_rules_tallies of the unit */
	int is_histogram;
	uint64_t count;       /* of all values */
	uint64_t buckets[64]; /* 0: values of 0 and less; k: 2^(k-1) to 2^k - 1 */
};

/*
 * Adds up the counters and histograms of the unit, over all activations. Returns how many there are, to be read with
 * asterism_rules_tally; -ENOMEM.
 */
int asterism_rules_tallies(struct asterism_rules *rules);

/* Number index, from 0, as it was then. Returns 0, or -EINVAL. */
int asterism_rules_tally(const struct asterism_rules *rules, size_t index, struct asterism_tally *tally);

/*
 * Writes what has become of the runs of rule number index, over all activations, as the JSON object of `asterism run
 * --why -f json`: transitions and their conditions, counted. It is cut to size bytes and NUL-terminated; text may be
 * NULL where size is 0. Returns how many bytes it has without the NUL, -EINVAL (no such rule), -ENOENT (the session
 * does not count), -ENOMEM.
 */
int asterism_rules_why(const struct asterism_rules *rules, size_t index, char *text, size_t size);

#ifdef __cplusplus
}
#endif

#endif
