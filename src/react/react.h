/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef REACT_REACT_H
#define REACT_REACT_H

/*
 * What a rule can do at a match: the table of actions that CALL names. A descriptor says what an action takes, what it
 * guarantees, whether it changes the system, what the kernel's programs can do of it at the very match, and how this
 * process does it where they cannot. Descriptors are constant; who may do what is the session's business.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What an action takes. */
enum react_type {
	REACT_TARGET = 1, /* #TID, #PID, or a number: a process by its id or that of one of its threads */
	REACT_INTEGER,
	REACT_SIGNAL,      /* a number, or a constant text: "TERM", "SIGTERM" */
	REACT_ERRNO,       /* a number, or a constant text: "EACCES" */
	REACT_TIME,        /* ns */
	REACT_TEXT,        /* a constant text */
	REACT_VERDICT,     /* a constant text: "CONTINUE" or "ABORT" */
	REACT_SIGNAL_NAME, /* as REACT_SIGNAL, but constant: a text */
	REACT_ANY,
};

struct react_param {
	const char *name;
	enum react_type type;
	bool optional;
	bool repeats; /* the last one: any number of them, none included */
};

/* How an argument was written. In images, too. */
enum react_naming {
	REACT_BY_VALUE = 0,
	REACT_BY_TID, /* a#TID */
	REACT_BY_PID,
};

enum react_kind { REACT_I64 = 1, REACT_U64, REACT_F64, REACT_BOOL, REACT_STRING };

/* What is known of an argument before there is a match. */
struct react_shape {
	enum react_kind kind;
	enum react_naming naming;
	const char *text; /* a constant one, else NULL */
};

/* An argument at a match. */
struct react_value {
	enum react_kind kind;
	enum react_naming naming;
	union {
		int64_t i64;
		uint64_t u64;
		double f64;
		bool boolean;
		const char *text;
	};
};

/* What the programs in the kernel can do of an action, before the thread that completed the match goes on. */
enum react_primitive {
	REACT_NOT_IN_KERNEL,
	REACT_SEND_SIGNAL, /* to the first argument, if the kernel can reach it */
	REACT_COUNT,       /* the first argument names the counter */
	REACT_HISTOGRAM,   /* the first argument names it, the second is the value */
	REACT_HOLD,        /* stops the current process until it is let go on */
	REACT_STACK,       /* of the current thread */
};

struct react_agent;
struct react_call;

struct react_action {
	const char *name;
	const char *aliases[3]; /* the reference's names for it */
	const struct react_param *params;
	uint32_t param_count;
	const char *summary;   /* one line, for help */
	const char *guarantee; /* what has and has not happened when it is done */
	bool changes_system;   /* needs to be allowed */
	bool fails_call;       /* done where the system call that completes the match is held, before it is told */
	bool synchronous;      /* only in a SYNCHRONOUS rule, and once */
	bool is_undone;        /* at the end of the session, also when this process is killed */
	enum react_primitive primitive;
	int signal; /* SEND_SIGNAL: which; 0: the second argument says */
	/* How often this process does it within a second for one statement at most, 0: as often as it is asked. */
	uint32_t per_second;
	/*
	 * Does it, in this process. Returns 0, or -Exxx with a clause in call->why: -EPERM (not to be done to this
	 * target), -ESRCH, -EAGAIN (too often), ...
	 */
	int (*perform)(struct react_agent *agent, struct react_call *call);
};

enum { REACT_STATEMENTS_MAX = 32, REACT_WHY_BYTES = 120 };

/* per_second of actions that cost a system call or two, and of those that start a process. */
enum { REACT_CALLS_PER_SECOND = 1000, REACT_RUNS_PER_SECOND = 10 };

struct react_call {
	const struct react_action *action;
	const char *rule;
	const struct react_value *args;
	uint32_t arg_count;
	uint32_t statement; /* its number in the program: limits are per statement */
	uint32_t pid, tid;  /* of the completing event */
	char why[REACT_WHY_BYTES];
};

/* All actions, NULL at the end. */
extern const struct react_action *const react_actions[];

/* The action of this name or alias, or NULL. */
const struct react_action *react_find(const char *name);

/* The name of an action that name may have been meant to be, or NULL. */
const char *react_nearest(const char *name);

/* How many arguments action takes at least and at most (UINT32_MAX: any number). */
void react_arity(const struct react_action *action, uint32_t *least, uint32_t *most);

/* NULL where action takes shape as its argument number index (below the most it takes), else what it expects. */
const char *react_expects(const struct react_action *action, uint32_t index, const struct react_shape *shape);

/* What has and has not happened when action is done by this process rather than by the kernel, at the match. */
const char *react_late_guarantee(const struct react_action *action);

/* "Signal(target, signal)" for people; cut to size. */
void react_print(const struct react_action *action, char *buffer, size_t size);

/* The number of an error by its name, in any case; 0: there is none. */
int react_errno_number(const char *name);

/* Whether a system call may fail with number as its errno. */
bool react_is_errno(int64_t number);

/* The number of a signal by its name, with or without SIG, in any case; 0: there is none. */
int react_signal_number(const char *name);

#endif
