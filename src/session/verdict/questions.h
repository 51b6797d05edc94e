/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_VERDICT_QUESTIONS_H
#define SESSION_VERDICT_QUESTIONS_H

/*
 * Everything that a live session needs for rules that stop processes: the means to do so (stopping), the questions
 * (asks), and the command that answers them (ask-command), as one thing with one descriptor.
 */

#include "session/verdict/options.h"
#include "session/verdict/reactions.h"
#include "session/verdict/stopping.h"

struct questions;

/* *made is NULL where no rule may stop anybody. Returns 0, -EINVAL, -EPERM, -EAGAIN, -ENOMEM with a message. */
int questions_new(const struct responses_options *options, struct reactions *reactions, struct asterism_diag *diag,
		  struct questions **made);

/* Lets everybody go on; no program may run that stops anybody. */
void questions_free(struct questions *questions);

struct ebpf_stops *questions_stops(struct questions *questions);

/* Polls readable when questions_poll has something to do. */
int questions_fd(const struct questions *questions);

/* If match asks, it will be told with the verdict: true, with what asks_put returned. */
bool questions_take(struct questions *questions, const struct program_match *match, int *result);

/* As asks_answer. */
int questions_answer(struct questions *questions, uint64_t ticket, enum session_verdict verdict);

/* As asks_poll. */
int questions_poll(struct questions *questions, uint64_t now_ns, uint64_t *wait_ns);

/* The session ends: nobody is stopped after this, and every question is answered at once. */
void questions_refuse(struct questions *questions);

/* Ends all of them. Returns as asks_put. */
int questions_close(struct questions *questions);

/* Whether somebody stands still until a question is answered. */
bool questions_are_open(const struct questions *questions);

/* Stops that found no room so far, and questions that were lost. */
void questions_count(const struct questions *questions, uint64_t *refused, uint64_t *lost);

#endif
