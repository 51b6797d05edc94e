/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_VERDICT_ASKS_H
#define SESSION_VERDICT_ASKS_H

/*
 * The questions of a session: CALL Ask. A question is pending from the match to its answer, its limit, or the end of
 * the session, whichever comes first; the match is told then, with the verdict. Everything here belongs to the
 * session's thread. docs/verdicts.md says what is guaranteed.
 */

#include "program/load.h"
#include "program/match.h"
#include "react/stops.h"
#include "react/undo.h"

enum session_verdict {
	SESSION_CONTINUE = 1,
	SESSION_ABORT,   /* the process gets the signal of the rule */
	SESSION_LATER,   /* asks_answer will say */
	SESSION_DEFAULT, /* whoever is asked does not know */
};

struct asks;

struct session_ask {
	struct asks *asks;
	uint64_t ticket;      /* names the question in asks_answer; never 0, never used again */
	uint64_t deadline_ns; /* CLOCK_MONOTONIC */
	bool aborts;          /* what is done without an answer */
	bool is_stopped;      /* the process was seen stopped; false: it could not stop yet, or is dying */
	int signal;           /* of ABORT */
};

/* Asked with the process stopped. match and ask are borrowed for the length of the call. */
typedef enum session_verdict session_ask_fn(void *context, const struct program_match *match,
					    const struct session_ask *ask);

struct asks_options {
	const struct program *program;
	struct react_stop_table *stops;
	const struct undo *undo; /* whom a Stop is to last; may be NULL */
	session_ask_fn *on_ask;  /* NULL: there is nobody to ask, so the default answer is given */
	void *ask_context;
	program_match_fn *tell; /* a match whose question has its verdict */
	void *context;
};

/* Returns 0 or -ENOMEM with a message. */
int asks_new(const struct asks_options *options, struct asterism_diag *diag, struct asks **made);

/* Forgets everything; asks_close comes before. */
void asks_free(struct asks *asks);

/* The statement of the match's rule that asks, counted in the rule; -1: none does. */
int asks_statement(const struct asks *asks, const struct program_match *match);

/*
 * Asks what statement of match wants to know; match->reactions says whether the kernel stopped the process. Returns 0
 * or what tell returned.
 */
int asks_put(struct asks *asks, const struct program_match *match, uint32_t statement);

/* Answers a question: CONTINUE, ABORT or DEFAULT. Returns 0, -ENOENT (it has its verdict already), -EINVAL. */
int asks_answer(struct asks *asks, uint64_t ticket, enum session_verdict verdict);

/* What is due: limits, second looks. Lessens *wait_ns to when something will be. Returns as asks_put. */
int asks_poll(struct asks *asks, uint64_t now_ns, uint64_t *wait_ns);

/* From now on every question gets its default answer at once; asks_close: the pending ones, too. Returns as asks_put.
 */
void asks_refuse(struct asks *asks);
int asks_close(struct asks *asks);

/* How many are pending. */
size_t asks_pending(const struct asks *asks);

/* Questions that were lost on their way to us and got the default answer. */
uint64_t asks_lost(const struct asks *asks);

#endif
