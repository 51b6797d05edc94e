/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef ASTERISM_SESSION_H
#define ASTERISM_SESSION_H

#include "asterism/diag.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A session observes a part of the running system and hands out the matches of the rules that are loaded into it
 * (rules.h). It needs root, or CAP_BPF and CAP_PERFMON. A process may have any number of sessions; they share nothing.
 *
 * Threads: a session, with its rules and matches, is used by one thread at a time, by whichever. Callbacks are called
 * from asterism_session_dispatch and asterism_session_wait only, in the thread that calls these.
 *
 * The process that holds the session is never observed, with none of its threads, whatever the scope: what it does
 * because of a match can cause none.
 *
 * No function prints, ends the process, or changes its signals, limits, working directory or locale. All results are
 * >= 0, or -Exxx as errno has it; after an error asterism_session_diag tells what is wrong.
 *
 * After fork() the child has no use of a session: only the process that opened it may call it.
 */
struct asterism_session;
struct asterism_match;
struct asterism_rules;

/* What a session observes. */
enum asterism_scope {
	ASTERISM_SCOPE_TREE, /* the processes added or launched, and all their descendants */
	ASTERISM_SCOPE_PIDS, /* the processes added or launched, no others */
	ASTERISM_SCOPE_ALL   /* every process but the own one */
};

/*
 * What becomes of a process that a rule asks about (CALL Ask()). LATER and DEFAULT are for on_ask only: somebody will
 * call asterism_ask_answer; what the rule says for want of an answer.
 */
enum asterism_verdict { ASTERISM_CONTINUE = 0, ASTERISM_ABORT = 1, ASTERISM_LATER = 2, ASTERISM_DEFAULT = 3 };

/*
 * Told of a match, which is borrowed for the length of the call (match.h). Returns ASTERISM_CONTINUE or ASTERISM_ABORT,
 * which have an effect where a rule asks and there is no on_ask; or -Exxx: then the dispatch ends and returns that;
 * what else is pending stays for the next one, but for what rules in user space have found in the same events, which
 * comes first. Any other result is -EINVAL.
 *
 * A callback may call everything but dispatch and wait of its session (-EBUSY). What it deactivates or unloads hands
 * out nothing more at once; a session that it frees goes when the dispatch returns.
 */
typedef int asterism_match_fn(void *context, const struct asterism_match *match);

/* A question of a rule, borrowed for the length of the call. */
struct asterism_ask {
	size_t size;          /* that this library knows */
	uint64_t ticket;      /* names the question in asterism_ask_answer; never 0, never used again */
	uint64_t deadline_ns; /* CLOCK_MONOTONIC: then the default is the answer */
	int aborts;           /* whether the default is ABORT */
	int is_stopped;       /* the process was seen stopped; 0: it could not stop yet, or is dying */
	int signal;           /* of ABORT */
};

/*
 * Asked what becomes of the process that completed match, which is stopped. Returns an enum asterism_verdict; anything
 * else is ASTERISM_DEFAULT. Once there is a verdict on_match is told of the match, with it.
 */
typedef int asterism_ask_fn(void *context, const struct asterism_match *match, const struct asterism_ask *ask);

/*
 * What the matches of a rule with AGGREGATE have come to for one key: a line of JSON without its end, as the language
 * has it (docs/language.md, "AGGREGATE"), borrowed for the length of the call. Where a unit is deactivated, unloaded or
 * freed with its session it is called from there, for the last time. It must not change what is loaded or active.
 */
typedef void asterism_aggregate_fn(void *context, struct asterism_rules *unit, const char *json);

/*
 * Told that a process that was added or launched has ended. status: of a launched one its exit status, or 128 + the
 * signal that ended it; -ECHILD where somebody else reaped it; of an added one always -ECHILD.
 */
typedef void asterism_exit_fn(void *context, pid_t pid, int status);

/* Zero what is of no interest, and set size: members that come with later versions are then as if they were not. */
struct asterism_session_options {
	size_t size; /* sizeof (struct asterism_session_options) */
	enum asterism_scope scope;
	asterism_match_fn *on_match; /* NULL: matches are counted, and that is all */
	asterism_exit_fn *on_exit;   /* NULL: no need */
	void *context;               /* of all callbacks */

	/*
	 * What rules may do to the system by CALL; else calls are only reported. One of: all
	 * actions; those of a list of names that NULL ends; what a file says, as `asterism run --policy` has it. A unit
	 * with actions that neither list nor file allows is not activated.
	 */
	int allow_actions;
	const char *const *allowed_actions;
	const char *policy_file;
	int outside_scope; /* also to processes that are not observed */

	asterism_ask_fn *on_ask; /* answers questions. NULL: on_match does, by what it returns; it is told once then */
	int measure;             /* the kernel adds up the time that programs take; costs a little at each event */

	/*
	 * What narrows the scope down, as the options of `asterism run` of these names do: lists that NULL ends, which
	 * must outlive the session; NULL: not at all. Processes that are added or launched must pass as well.
	 * Containers are found by their ids, and by names that cgroups have; the files of Docker and Podman are not
	 * read.
	 */
	const char *const *cgroups, *const *containers, *const *units, *const *comms, *const *users;
	asterism_aggregate_fn *on_aggregate; /* NULL: nobody is told */
	int count_transitions;               /* for asterism_rules_why; costs some tens of nanoseconds at each event */
};

/*
 * Opens a session that observes nothing yet: options (NULL: all zero) are copied. diag (NULL: not wanted) tells
 * what is wrong where this fails; it is not used later.
 * Returns 0 and stores the session, to be freed with asterism_session_free; -EINVAL (options that this library does not
 * know, no such action, a wrong policy file), -ENOMEM, -EMFILE, -ENFILE. Privileges are not asked for before rules are
 * activated, but for measuring (-EPERM).
 */
int asterism_session_open(const struct asterism_session_options *options, struct asterism_diag *diag,
			  struct asterism_session **session);

/*
 * Unloads all rules, which are not valid after this, and frees the session. A launched command goes on. NULL is fine.
 */
void asterism_session_free(struct asterism_session *session);

/*
 * Adds a process, and, under ASTERISM_SCOPE_TREE, its descendants, to what is observed by all rules of the session,
 * active now or later. A process leaves by ending.
 * Returns 0; -ESRCH (no such process), -EINVAL (the own process, a thread's id, or a session that observes everything),
 * -EOPNOTSUPP (outside the initial pid namespace), -EMFILE, -ENOMEM.
 */
int asterism_session_add_process(struct asterism_session *session, pid_t pid);

/*
 * Launches a command, looked up as execvp does, so that rules which are active see all it does. It inherits the signal
 * mask, the environment and the descriptors without close-on-exec of the caller, is a child of the calling process, and
 * is reaped by the dispatch. Takes as long as a fork, at most half a second. A session launches one command at a time.
 * Returns 0 and stores the pid where it is not NULL; -EINVAL (no such command, or it may not be run), -EBUSY (the last
 * one still runs), -EAGAIN, -EMFILE, -ENOMEM, or as asterism_session_add_process.
 */
int asterism_session_launch(struct asterism_session *session, char *const argv[], pid_t *pid);

/*
 * The descriptor for poll, select or epoll: readable when asterism_session_dispatch has something to do, which is not
 * always a match. It belongs to the session, and must not be read, closed or duplicated beyond its life.
 */
int asterism_session_fd(const struct asterism_session *session);

/*
 * Does what is due and hands out the matches that are there; never blocks but by the callbacks, and ends however fast
 * matches come: what is left makes the descriptor readable at once. To be called whenever that is readable; calling it
 * more often does no harm.
 * Returns the number of matches handed out, what on_match returned if that was negative, -EBUSY (called from a
 * callback), -ECANCELED (a callback has freed the session), -ENOMEM or another -Exxx.
 */
int asterism_session_dispatch(struct asterism_session *session);

/*
 * Waits until there was something to dispatch, timeout_ms milliseconds at most (-1: no limit), and dispatches it.
 * Returns as asterism_session_dispatch; 0 where the time was up, something other than a match was due, or a signal
 * handler ran. So call it in a loop.
 */
int asterism_session_wait(struct asterism_session *session, int timeout_ms);

/*
 * Answers the question that has this ticket: CONTINUE, ABORT or DEFAULT. on_match is told from within this call.
 * Returns 0; -ENOENT (no such question: it never was, or it has its verdict), -EINVAL, -ECANCELED (a callback has freed
 * the session), or what on_match returned.
 */
int asterism_ask_answer(struct asterism_session *session, uint64_t ticket, enum asterism_verdict verdict);

/* What a session has counted, since it was opened. */
struct asterism_session_stats {
	size_t size;      /* sizeof (struct asterism_session_stats), set by the caller */
	uint64_t matches; /* handed out */
	uint64_t events;  /* seen in scope; each unit of rules counts its own */
	uint64_t lost;    /* events and matches lost, and runs refused for want of room */
};

/* Counts. Returns 0, or -EINVAL (stats->size is not one that this library knows). */
int asterism_session_stats(const struct asterism_session *session, struct asterism_session_stats *stats);

/*
 * What the last call with this session, or with rules of it, had to say: errors with file, line and column, warnings
 * and notes (where a rule runs, and why). Never NULL; valid until the next such call. Calls that only ask leave it be.
 */
const struct asterism_diag *asterism_session_diag(const struct asterism_session *session);

/*
 * The first error of asterism_session_diag as one line, "file:line:column: what is wrong (what would be right)", cut
 * after 511 bytes; "" where there was none. Valid until the next call as above.
 */
const char *asterism_session_error(const struct asterism_session *session);

#ifdef __cplusplus
}
#endif

#endif
