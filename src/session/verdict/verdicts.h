/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_VERDICT_VERDICTS_H
#define SESSION_VERDICT_VERDICTS_H

/*
 * Everything that a live session needs for rules that stop processes: the means to do so (stopping), the questions
 * (asks), and the command that answers them (ask-command), as one thing with one descriptor.
 */

#include "session/verdict/options.h"
#include "session/verdict/reactions.h"
#include "session/verdict/stopping.h"

struct verdicts;

/* *made is NULL where no rule may stop anybody. Returns 0, -EINVAL, -EPERM, -EAGAIN, -ENOMEM with a message. */
int verdicts_new(const struct responses_options *options, struct reactions *reactions, struct asterism_diag *diag,
		 struct verdicts **made);

/* Lets everybody go on; no program may run that stops anybody. */
void verdicts_free(struct verdicts *verdicts);

struct ebpf_stops *verdicts_stops(struct verdicts *verdicts);

/* Polls readable when verdicts_poll has something to do. */
int verdicts_fd(const struct verdicts *verdicts);

/* If match asks, it will be told with the verdict: true, with what requests_put returned. */
bool verdicts_take(struct verdicts *verdicts, const struct program_match *match, int *result);

/* As requests_answer. */
int verdicts_answer(struct verdicts *verdicts, uint64_t ticket, enum session_verdict verdict);

/* As requests_poll. */
int verdicts_poll(struct verdicts *verdicts, uint64_t now_ns, uint64_t *wait_ns);

/* The session ends: no process is stopped after this, and every question is answered at once. */
void verdicts_refuse(struct verdicts *verdicts);

/* Ends all of them. Returns as requests_put. */
int verdicts_close(struct verdicts *verdicts);

/* Whether somebody stands still until a question is answered. */
bool verdicts_are_open(const struct verdicts *verdicts);

/* Stops that found no room so far, and questions that were lost. */
void verdicts_count(const struct verdicts *verdicts, uint64_t *refused, uint64_t *lost);

#endif
