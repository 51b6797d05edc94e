// SPDX-License-Identifier: BSD-2-Clause
/*
 * Decides who is asked when, and what the verdict is. A question goes through two states: it settles until its process
 * has really stopped (at most some milliseconds, and without keeping others waiting), then it is asked.
 */

#include "session/verdict/asks.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/diag.h"
#include "program/calls.h"
#include "program/machine.h"
#include "program/match-copy.h"
#include "program/query.h"
#include "session/verdict/held.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

enum { ASKS_MAX = 1024, LOOKS_AT_ONCE = 3 };

/* How long a process may take to stop before it is asked about all the same, and how often it is looked at. */
enum { SETTLE_NS = 20 * 1000 * 1000, SETTLE_LOOK_NS = 100 * 1000 };

#define LIMIT_NS UINT64_C(1000000000)

struct ask {
	struct session_ask told;
	struct held *held;
	pid_t pid, tid;
	uint32_t statement;
	uint64_t limit_ns, settle_until_ns;
	uint64_t ts;
	bool settles, is_asking, is_gone;
	struct program_match_copy *kept;   /* NULL while it is being asked the first time */
	const struct program_match *match; /* then */
	enum session_verdict answer;       /* that came while it was being asked; 0: none */
};

struct asks {
	struct asks_options options;
	struct helds helds;
	struct ask **items;
	size_t count, capacity;
	uint64_t last_ticket;
	bool closed;
	int error; /* of tell, where nobody was there to hear of it */
};

int asks_new(const struct asks_options *options, struct asterism_diag *diag, struct asks **made)
{
	struct asks *asks = alloc_zero(1, sizeof *asks);

	if (!asks)
		return diag_no_memory(diag);
	asks->options = *options;
	helds_init(&asks->helds, options->stops, options->undo);
	*made = asks;
	return 0;
}

static void forget(struct asks *asks, struct ask *ask)
{
	for (size_t i = 0; i < asks->count; i++)
		if (asks->items[i] == ask)
			asks->items[i] = asks->items[--asks->count];
	alloc_free(ask->kept);
	alloc_free(ask);
}

void asks_free(struct asks *asks)
{
	if (!asks)
		return;
	while (asks->count)
		forget(asks, asks->items[0]);
	alloc_free(asks->items);
	helds_fini(&asks->helds);
	alloc_free(asks);
}

int asks_statement(const struct asks *asks, const struct program_match *match)
{
	const struct program *program = asks->options.program;
	const struct program_rule *rule = &program->rules[match->rule];

	for (uint32_t i = 0; i < rule->statement_count; i++) {
		const struct program_statement *statement = &program_statements(program, rule)[i];
		const struct react_action *action = program_call(program, statement);

		if (action && program_statement_applies(statement, match) && action->primitive == REACT_HOLD)
			return (int)i;
	}
	return -1;
}

/* Tells the match with the verdict, by whom it is, and why where that is not plain. */
static int tell(const struct asks *asks, const struct program_match *match, uint32_t statement,
		const struct program_reaction *verdict)
{
	struct program_reaction reactions[REACT_STATEMENTS_MAX];
	struct program_match told = *match;

	memcpy(reactions, match->reactions,
	       asks->options.program->rules[match->rule].statement_count * sizeof *reactions);
	reactions[statement] = *verdict;
	told.reactions = reactions;
	return asks->options.tell(asks->options.context, &told);
}

/* Whether the process has gone and its id is another's. Only asked where the completing thread could not be found. */
static bool is_another(const struct ask *ask)
{
	return ask->is_gone && react_stops_is_newer(ask->pid, ask->ts);
}

/* The question has its verdict; by NULL: whoever was asked gave it, or leaves it to the default. Frees ask. */
static int settle(struct asks *asks, struct ask *ask, enum session_verdict verdict, const char *by)
{
	bool aborts = verdict == SESSION_DEFAULT ? ask->told.aborts : verdict == SESSION_ABORT;

	if (verdict == SESSION_DEFAULT && !by)
		by = "default";
	if (!by)
		by = "answer";
	const struct program_reaction reaction = { .how = PROGRAM_DONE_IN_KERNEL,
						   .why = held_is_gone(ask->held) ? "the process is gone" : NULL,
						   .verdict = aborts ? "abort" : "continue",
						   .by = by };

	if (aborts && !is_another(ask))
		held_signal(ask->held, ask->told.signal);
	helds_answer(&asks->helds, ask->held);
	ask->held = NULL;
	for (size_t i = 0; i < asks->count; i++)
		if (asks->items[i] == ask)
			asks->items[i] = asks->items[--asks->count];
	int result = tell(asks, ask->kept ? &ask->kept->match : ask->match, ask->statement, &reaction);

	forget(asks, ask);
	return result;
}

/* Asks whoever is to be asked. Frees ask unless the answer is to come later. */
static int ask_now(struct asks *asks, struct ask *ask)
{
	const struct program_match *match = ask->kept ? &ask->kept->match : ask->match;
	enum session_verdict verdict;

	ask->settles = false;
	ask->held->unsure |= !ask->told.is_stopped;
	ask->told.deadline_ns = clock_now_ns() + ask->limit_ns;
	ask->is_asking = true;
	verdict = asks->options.on_ask(asks->options.ask_context, match, &ask->told);
	ask->is_asking = false;
	if (ask->answer)
		verdict = ask->answer;
	if (verdict == SESSION_LATER && !ask->kept) {
		ask->kept = program_match_keep(asks->options.program, match);
		if (!ask->kept)
			verdict = SESSION_DEFAULT;
	}
	ask->match = NULL;
	if (verdict == SESSION_LATER)
		return 0;
	if (!ask->kept)
		ask->match = match;
	return settle(asks, ask, verdict, NULL);
}

static void look(struct ask *ask)
{
	char state = react_thread_state(ask->pid, ask->tid, ask->ts);

	ask->is_gone = state == 0;
	ask->told.is_stopped = state == 'T' || state == 't';
}

/* Usually the process has stopped before we are awake. */
static int settle_or_ask(struct asks *asks, struct ask *ask)
{
	for (int i = 0; i < LOOKS_AT_ONCE && !ask->told.is_stopped && !ask->is_gone; i++) {
		if (i)
			sched_yield();
		look(ask);
	}
	if (ask->told.is_stopped || ask->is_gone)
		return ask_now(asks, ask);
	ask->kept = program_match_keep(asks->options.program, ask->match);
	if (!ask->kept)
		return ask_now(asks, ask);
	ask->match = NULL;
	ask->settles = true;
	ask->settle_until_ns = clock_now_ns() + SETTLE_NS;
	return 0;
}

static struct ask *make(struct asks *asks, const struct program_match *match, const struct program_ask *asked)
{
	struct ask *ask;

	if (asks->count == ASKS_MAX || alloc_grow(&asks->items, &asks->capacity, asks->count, sizeof(struct ask *)))
		return NULL;
	ask = alloc_zero(1, sizeof *ask);
	if (!ask)
		return NULL;
	ask->told = (struct session_ask){
		.asks = asks, .ticket = ++asks->last_ticket, .aborts = asked->aborts, .signal = asked->signal
	};
	ask->match = match;
	ask->pid = (pid_t)match->pid;
	ask->tid = (pid_t)match->tid;
	ask->ts = match->ts;
	asks->items[asks->count++] = ask;
	return ask;
}

static uint64_t limit_of(const struct asks *asks, const struct program_match *match,
			 const struct program_statement *statement)
{
	const struct program_operand operand = { .program = asks->options.program,
						 .rule = &asks->options.program->rules[match->rule],
						 .slots = match->slots };
	struct react_value limit;

	if (program_call_values(&operand, statement, &limit, 1) < 1)
		return LIMIT_NS;
	return limit.kind == REACT_I64 && limit.i64 < 0 ? 0 : limit.u64;
}

/* Nobody is asked about a process that nobody has stopped: what holds is the default. */
static int answer_unstopped(struct asks *asks, const struct program_match *match, uint32_t statement,
			    const struct program_ask *asked)
{
	struct program_reaction reaction = { .how = PROGRAM_NOT_DONE,
					     .why = "it could not be stopped",
					     .verdict = asked->aborts ? "abort" : "continue",
					     .by = "default" };
	bool is_spared = match->pid <= 1 || (pid_t)match->pid == getpid();
	struct held *held;

	if (asked->aborts && is_spared) {
		reaction.why = "process 1 and asterism itself are never acted upon";
		reaction.verdict = reaction.by = NULL;
	} else if (asked->aborts) {
		if (helds_ask(&asks->helds, (pid_t)match->pid, &held) == 0) {
			held->notes--; /* there is none */
			if (!react_stops_is_newer((pid_t)match->pid, match->ts))
				held_signal(held, asked->signal);
			helds_answer(&asks->helds, held);
		}
	}
	return tell(asks, match, statement, &reaction);
}

int asks_put(struct asks *asks, const struct program_match *match, uint32_t statement)
{
	const struct program *program = asks->options.program;
	const struct program_statement *called = &program_statements(program, &program->rules[match->rule])[statement];
	struct program_ask asked;
	struct held *held;

	program_ask(program, called, &asked);
	if (match->reactions[statement].how != PROGRAM_DONE_IN_KERNEL)
		return answer_unstopped(asks, match, statement, &asked);
	int result = helds_ask(&asks->helds, (pid_t)match->pid, &held);

	if (result) {
		const char *why = result == -ESRCH ? "the process is gone" : "memory or descriptors are short";
		const struct program_reaction failed = { .how = PROGRAM_NOT_DONE, .why = why };

		return tell(asks, match, statement, &failed);
	}
	struct ask *ask = make(asks, match, &asked);

	if (!ask) {
		struct program_reaction reaction = { .how = PROGRAM_DONE_IN_KERNEL,
						     .why = "too many questions are pending",
						     .verdict = asked.aborts ? "abort" : "continue",
						     .by = "default" };
		if (asked.aborts)
			held_signal(held, asked.signal);
		helds_answer(&asks->helds, held);
		return tell(asks, match, statement, &reaction);
	}
	ask->held = held;
	ask->statement = statement;
	ask->limit_ns = limit_of(asks, match, called);
	if (!asks->options.on_ask || asks->closed) {
		look(ask);
		held->unsure |= !ask->told.is_stopped;
		return settle(asks, ask, SESSION_DEFAULT, NULL);
	}
	return settle_or_ask(asks, ask);
}

int asks_answer(struct asks *asks, uint64_t ticket, enum session_verdict verdict)
{
	if (verdict != SESSION_CONTINUE && verdict != SESSION_ABORT && verdict != SESSION_DEFAULT)
		return -EINVAL;
	for (size_t i = 0; i < asks->count; i++) {
		struct ask *ask = asks->items[i];

		if (ask->told.ticket != ticket || ask->answer)
			continue;
		if (ask->is_asking) {
			ask->answer = verdict;
			return 0;
		}
		int result = settle(asks, ask, verdict, NULL);

		if (result && !asks->error)
			asks->error = result;
		return 0;
	}
	return -ENOENT;
}

/* What a pending question needs now. *is_there: it may still be pending. */
static int poll_one(struct asks *asks, struct ask *ask, uint64_t now_ns, uint64_t *wait_ns, bool *is_there)
{
	*is_there = false;
	if (ask->settles) {
		look(ask);
		if (ask->told.is_stopped || now_ns >= ask->settle_until_ns)
			return ask_now(asks, ask);
		if (*wait_ns > SETTLE_LOOK_NS)
			*wait_ns = SETTLE_LOOK_NS;
	} else if (now_ns >= ask->told.deadline_ns) {
		return settle(asks, ask, SESSION_DEFAULT, "late");
	} else if (held_is_gone(ask->held)) {
		return settle(asks, ask, SESSION_DEFAULT, NULL);
	} else if (ask->told.deadline_ns - now_ns < *wait_ns) {
		*wait_ns = ask->told.deadline_ns - now_ns;
	}
	*is_there = true;
	return 0;
}

int asks_poll(struct asks *asks, uint64_t now_ns, uint64_t *wait_ns)
{
	int result = asks->error;

	for (size_t i = 0; i < asks->count && !result;) {
		struct ask *ask = asks->items[i];
		bool is_there;

		result = poll_one(asks, ask, now_ns, wait_ns, &is_there);
		/* An answer may have brought others along, so what is here now may be another. */
		if (is_there)
			i++;
		else if (*wait_ns > SETTLE_LOOK_NS)
			*wait_ns = SETTLE_LOOK_NS;
	}
	helds_poll(&asks->helds, now_ns, wait_ns);
	return result;
}

void asks_refuse(struct asks *asks)
{
	asks->closed = true;
}

int asks_close(struct asks *asks)
{
	int result = asks->error;

	asks->closed = true;
	while (asks->count) {
		int told = settle(asks, asks->items[0], SESSION_DEFAULT, NULL);

		result = result ? result : told;
	}
	return result;
}

size_t asks_pending(const struct asks *asks)
{
	return asks->count;
}

uint64_t asks_lost(const struct asks *asks)
{
	return asks->helds.orphans;
}
