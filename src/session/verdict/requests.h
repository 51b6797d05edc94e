/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_VERDICT_REQUESTS_H
#define SESSION_VERDICT_REQUESTS_H

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
	SESSION_LATER,   /* requests_answer will say */
	SESSION_DEFAULT, /* the one who is asked does not know */
};

struct requests;

struct session_ask {
	struct requests *requests;
	uint64_t ticket;      /* names the question in requests_answer; never 0, never used again */
	uint64_t deadline_ns; /* CLOCK_MONOTONIC */
	bool aborts;          /* what is done without an answer */
	bool is_stopped;      /* the process was seen stopped; false: it could not stop yet, or is dying */
	int signal;           /* of ABORT */
};

/* Asked with the process stopped. match and ask are borrowed for the length of the call. */
typedef enum session_verdict session_ask_fn(void *context, const struct program_match *match,
					    const struct session_ask *ask);

struct requests_options {
	const struct program *program;
	struct react_stop_table *stops;
	const struct undo *undo; /* whom a Stop is to last; may be NULL */
	session_ask_fn *on_ask;  /* NULL: there is none to ask, so the default answer is given */
	void *ask_context;
	program_match_fn *report; /* a match whose question has its verdict */
	void *context;
};

/* Returns 0 or -ENOMEM with a message. */
int requests_new(const struct requests_options *options, struct asterism_diag *diag, struct requests **made);

/* Forgets everything; requests_close comes before. */
void requests_free(struct requests *requests);

/* The statement of the match's rule that asks, counted in the rule; -1: none does. */
int requests_statement(const struct requests *requests, const struct program_match *match);

/*
 * Asks what statement of match wants to know; match->reactions says whether the kernel stopped the process. Returns 0
 * or what tell returned.
 */
int requests_put(struct requests *requests, const struct program_match *match, uint32_t statement);

/* Answers a question: CONTINUE, ABORT or DEFAULT. Returns 0, -ENOENT (it has its verdict already), -EINVAL. */
int requests_answer(struct requests *requests, uint64_t ticket, enum session_verdict verdict);

/* What is due: limits, second looks. Lessens *wait_ns to when something will be. Returns as requests_put. */
int requests_poll(struct requests *requests, uint64_t now_ns, uint64_t *wait_ns);

/* From now on every question gets its default answer at once; requests_close: the pending ones, too. Returns as
 * requests_put.
 */
void requests_refuse(struct requests *requests);
int requests_close(struct requests *requests);

/* How many are pending. */
size_t requests_pending(const struct requests *requests);

/* Questions that were lost on their way to us and got the default answer. */
uint64_t requests_lost(const struct requests *requests);

#endif
