// SPDX-License-Identifier: BSD-2-Clause
/*
 * Asks questions and takes verdicts. A question goes through two states: it settles until its process has really
 * stopped (at most some milliseconds, and without keeping others waiting), then it is asked.
 */

#include "session/verdict/requests.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/diag.h"
#include "program/calls.h"
#include "program/machine.h"
#include "program/match-copy.h"
#include "program/query.h"
#include "session/verdict/stopped.h"

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
	struct session_ask reported;
	struct stopped *stopped;
	pid_t pid, tid;
	uint32_t statement;
	uint64_t limit_ns, settle_until_ns;
	uint64_t ts;
	bool settles, is_asking, is_gone;
	struct program_match_copy *kept;   /* NULL while it is being asked the first time */
	const struct program_match *match; /* then */
	enum session_verdict answer;       /* that came while it was being asked; 0: none */
};

struct requests {
	struct requests_options options;
	struct stopped_list stopped_list;
	struct ask **items;
	size_t count, capacity;
	uint64_t last_ticket;
	bool closed;
	int error; /* of tell, where it could not be returned */
};

int requests_new(const struct requests_options *options, struct asterism_diag *diag, struct requests **made)
{
	struct requests *requests = alloc_zero(1, sizeof *requests);

	if (!requests)
		return diag_no_memory(diag);
	requests->options = *options;
	stopped_list_init(&requests->stopped_list, options->stops, options->undo);
	*made = requests;
	return 0;
}

static void forget_ask(struct requests *requests, struct ask *ask)
{
	for (size_t i = 0; i < requests->count; i++)
		if (requests->items[i] == ask)
			requests->items[i] = requests->items[--requests->count];
	alloc_free(ask->kept);
	alloc_free(ask);
}

void requests_free(struct requests *requests)
{
	if (!requests)
		return;
	while (requests->count)
		forget_ask(requests, requests->items[0]);
	alloc_free(requests->items);
	stopped_list_fini(&requests->stopped_list);
	alloc_free(requests);
}

int requests_statement(const struct requests *requests, const struct program_match *match)
{
	const struct program *program = requests->options.program;
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
static int report_verdict(const struct requests *requests, const struct program_match *match, uint32_t statement,
			  const struct program_reaction *verdict)
{
	struct program_reaction reactions[REACT_STATEMENTS_MAX];
	struct program_match reported = *match;

	memcpy(reactions, match->reactions,
	       requests->options.program->rules[match->rule].statement_count * sizeof *reactions);
	reactions[statement] = *verdict;
	reported.reactions = reactions;
	return requests->options.report(requests->options.context, &reported);
}

/* Whether the process has gone and its id is another's. Only asked where the completing thread could not be found. */
static bool is_another(const struct ask *ask)
{
	return ask->is_gone && react_stops_is_newer(ask->pid, ask->ts);
}

/* The question has its verdict; by NULL: the one who was asked gave it, or leaves it to the default. Frees ask. */
static int settle_ask(struct requests *requests, struct ask *ask, enum session_verdict verdict, const char *by)
{
	bool aborts = verdict == SESSION_DEFAULT ? ask->reported.aborts : verdict == SESSION_ABORT;

	if (verdict == SESSION_DEFAULT && !by)
		by = "default";
	if (!by)
		by = "answer";
	const struct program_reaction reaction = { .how = PROGRAM_DONE_IN_KERNEL,
						   .why = stopped_is_gone(ask->stopped) ? "the process has ended"
											: NULL,
						   .verdict = aborts ? "abort" : "continue",
						   .by = by };

	if (aborts && !is_another(ask))
		stopped_signal(ask->stopped, ask->reported.signal);
	stopped_list_answer(&requests->stopped_list, ask->stopped);
	ask->stopped = NULL;
	for (size_t i = 0; i < requests->count; i++)
		if (requests->items[i] == ask)
			requests->items[i] = requests->items[--requests->count];
	int result = report_verdict(requests, ask->kept ? &ask->kept->match : ask->match, ask->statement, &reaction);

	forget_ask(requests, ask);
	return result;
}

/* Asks the command or the function. Frees ask unless the answer is to come later. */
static int ask_now(struct requests *requests, struct ask *ask)
{
	const struct program_match *match = ask->kept ? &ask->kept->match : ask->match;
	enum session_verdict verdict;

	ask->settles = false;
	ask->stopped->unsure |= !ask->reported.is_stopped;
	ask->reported.deadline_ns = clock_now_ns() + ask->limit_ns;
	ask->is_asking = true;
	verdict = requests->options.on_ask(requests->options.ask_context, match, &ask->reported);
	ask->is_asking = false;
	if (ask->answer)
		verdict = ask->answer;
	if (verdict == SESSION_LATER && !ask->kept) {
		ask->kept = program_match_keep(requests->options.program, match);
		if (!ask->kept)
			verdict = SESSION_DEFAULT;
	}
	ask->match = NULL;
	if (verdict == SESSION_LATER)
		return 0;
	if (!ask->kept)
		ask->match = match;
	return settle_ask(requests, ask, verdict, NULL);
}

static void look_at_ask(struct ask *ask)
{
	char state = react_thread_state(ask->pid, ask->tid, ask->ts);

	ask->is_gone = state == 0;
	ask->reported.is_stopped = state == 'T' || state == 't';
}

/* Usually the process has stopped before we are awake. */
static int settle_or_ask(struct requests *requests, struct ask *ask)
{
	for (int i = 0; i < LOOKS_AT_ONCE && !ask->reported.is_stopped && !ask->is_gone; i++) {
		if (i)
			sched_yield();
		look_at_ask(ask);
	}
	if (ask->reported.is_stopped || ask->is_gone)
		return ask_now(requests, ask);
	ask->kept = program_match_keep(requests->options.program, ask->match);
	if (!ask->kept)
		return ask_now(requests, ask);
	ask->match = NULL;
	ask->settles = true;
	ask->settle_until_ns = clock_now_ns() + SETTLE_NS;
	return 0;
}

static struct ask *make_ask(struct requests *requests, const struct program_match *match,
			    const struct program_ask *asked)
{
	struct ask *ask;

	if (requests->count == ASKS_MAX ||
	    alloc_grow(&requests->items, &requests->capacity, requests->count, sizeof(struct ask *)))
		return NULL;
	ask = alloc_zero(1, sizeof *ask);
	if (!ask)
		return NULL;
	ask->reported = (struct session_ask){ .requests = requests,
					      .ticket = ++requests->last_ticket,
					      .aborts = asked->aborts,
					      .signal = asked->signal };
	ask->match = match;
	ask->pid = (pid_t)match->pid;
	ask->tid = (pid_t)match->tid;
	ask->ts = match->ts;
	requests->items[requests->count++] = ask;
	return ask;
}

static uint64_t ask_time_limit(const struct requests *requests, const struct program_match *match,
			       const struct program_statement *statement)
{
	const struct program_operand operand = { .program = requests->options.program,
						 .rule = &requests->options.program->rules[match->rule],
						 .slots = match->slots };
	struct react_value limit;

	if (program_call_values(&operand, statement, &limit, 1) < 1)
		return LIMIT_NS;
	return limit.kind == REACT_I64 && limit.i64 < 0 ? 0 : limit.u64;
}

/* There is no question about a process that was not stopped: what holds is the default. */
static int answer_unstopped(struct requests *requests, const struct program_match *match, uint32_t statement,
			    const struct program_ask *asked)
{
	struct program_reaction reaction = { .how = PROGRAM_NOT_DONE,
					     .why = "it could not be stopped",
					     .verdict = asked->aborts ? "abort" : "continue",
					     .by = "default" };
	bool is_spared = match->pid <= 1 || (pid_t)match->pid == getpid();
	struct stopped *stopped;

	if (asked->aborts && is_spared) {
		reaction.why = "process 1 and asterism itself are never acted upon";
		reaction.verdict = reaction.by = NULL;
	} else if (asked->aborts) {
		if (stopped_list_ask(&requests->stopped_list, (pid_t)match->pid, &stopped) == 0) {
			stopped->notes--; /* there is none */
			if (!react_stops_is_newer((pid_t)match->pid, match->ts))
				stopped_signal(stopped, asked->signal);
			stopped_list_answer(&requests->stopped_list, stopped);
		}
	}
	return report_verdict(requests, match, statement, &reaction);
}

int requests_put(struct requests *requests, const struct program_match *match, uint32_t statement)
{
	const struct program *program = requests->options.program;
	const struct program_statement *called = &program_statements(program, &program->rules[match->rule])[statement];
	struct program_ask asked;
	struct stopped *stopped;

	program_ask(program, called, &asked);
	if (match->reactions[statement].how != PROGRAM_DONE_IN_KERNEL)
		return answer_unstopped(requests, match, statement, &asked);
	int result = stopped_list_ask(&requests->stopped_list, (pid_t)match->pid, &stopped);

	if (result) {
		const char *why = result == -ESRCH ? "the process has ended" : "out of memory or file descriptors";
		const struct program_reaction failed = { .how = PROGRAM_NOT_DONE, .why = why };

		return report_verdict(requests, match, statement, &failed);
	}
	struct ask *ask = make_ask(requests, match, &asked);

	if (!ask) {
		struct program_reaction reaction = { .how = PROGRAM_DONE_IN_KERNEL,
						     .why = "too many verdict requests are pending",
						     .verdict = asked.aborts ? "abort" : "continue",
						     .by = "default" };
		if (asked.aborts)
			stopped_signal(stopped, asked.signal);
		stopped_list_answer(&requests->stopped_list, stopped);
		return report_verdict(requests, match, statement, &reaction);
	}
	ask->stopped = stopped;
	ask->statement = statement;
	ask->limit_ns = ask_time_limit(requests, match, called);
	if (!requests->options.on_ask || requests->closed) {
		look_at_ask(ask);
		stopped->unsure |= !ask->reported.is_stopped;
		return settle_ask(requests, ask, SESSION_DEFAULT, NULL);
	}
	return settle_or_ask(requests, ask);
}

int requests_answer(struct requests *requests, uint64_t ticket, enum session_verdict verdict)
{
	if (verdict != SESSION_CONTINUE && verdict != SESSION_ABORT && verdict != SESSION_DEFAULT)
		return -EINVAL;
	for (size_t i = 0; i < requests->count; i++) {
		struct ask *ask = requests->items[i];

		if (ask->reported.ticket != ticket || ask->answer)
			continue;
		if (ask->is_asking) {
			ask->answer = verdict;
			return 0;
		}
		int result = settle_ask(requests, ask, verdict, NULL);

		if (result && !requests->error)
			requests->error = result;
		return 0;
	}
	return -ENOENT;
}

/* What a pending question needs now. *is_there: it may still be pending. */
static int poll_ask(struct requests *requests, struct ask *ask, uint64_t now_ns, uint64_t *wait_ns, bool *is_there)
{
	*is_there = false;
	if (ask->settles) {
		look_at_ask(ask);
		if (ask->reported.is_stopped || now_ns >= ask->settle_until_ns)
			return ask_now(requests, ask);
		if (*wait_ns > SETTLE_LOOK_NS)
			*wait_ns = SETTLE_LOOK_NS;
	} else if (now_ns >= ask->reported.deadline_ns) {
		return settle_ask(requests, ask, SESSION_DEFAULT, "late");
	} else if (stopped_is_gone(ask->stopped)) {
		return settle_ask(requests, ask, SESSION_DEFAULT, NULL);
	} else if (ask->reported.deadline_ns - now_ns < *wait_ns) {
		*wait_ns = ask->reported.deadline_ns - now_ns;
	}
	*is_there = true;
	return 0;
}

int requests_poll(struct requests *requests, uint64_t now_ns, uint64_t *wait_ns)
{
	int result = requests->error;

	for (size_t i = 0; i < requests->count && !result;) {
		struct ask *ask = requests->items[i];
		bool is_there;

		result = poll_ask(requests, ask, now_ns, wait_ns, &is_there);
		/* An answer may have brought others along, so what is here now may be another. */
		if (is_there)
			i++;
		else if (*wait_ns > SETTLE_LOOK_NS)
			*wait_ns = SETTLE_LOOK_NS;
	}
	stopped_list_poll(&requests->stopped_list, now_ns, wait_ns);
	return result;
}

void requests_refuse(struct requests *requests)
{
	requests->closed = true;
}

int requests_close(struct requests *requests)
{
	int result = requests->error;

	requests->closed = true;
	while (requests->count) {
		int reported = settle_ask(requests, requests->items[0], SESSION_DEFAULT, NULL);

		result = result ? result : reported;
	}
	return result;
}

size_t requests_pending(const struct requests *requests)
{
	return requests->count;
}

uint64_t requests_lost(const struct requests *requests)
{
	return requests->stopped_list.orphans;
}
