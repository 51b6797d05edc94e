// SPDX-License-Identifier: BSD-2-Clause
/* Begins, services and ends the parts of questions, in order. */

#include "session/verdict/verdicts.h"

#include "base/alloc.h"
#include "session/verdict/ask-command.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

struct verdicts {
	struct asterism_diag *diag;
	struct stopping stopping;
	struct requests *requests;
	struct ask_command *command; /* NULL: a function answers, or none */
	int epoll_fd;
};

static int add_fd(struct verdicts *verdicts, int fd)
{
	struct epoll_event event = { .events = EPOLLIN };

	if (fd < 0 || epoll_ctl(verdicts->epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0)
		return 0;
	return diag_error(verdicts->diag, NULL, -errno, "cannot wait for answers: %s", strerror(errno));
}

static int open_command(struct verdicts *verdicts, const struct responses_options *options)
{
	int result = ask_command_new(options->ask_command, options->program, verdicts->diag, &verdicts->command);

	return result ? result : add_fd(verdicts, ask_command_fd(verdicts->command));
}

static int open_requests(struct verdicts *verdicts, const struct responses_options *options,
			 const struct reactions *reactions)
{
	const struct requests_options requests = {
		.program = options->program,
		.stops = verdicts->stopping.stops.table,
		.undo = reactions_undo(reactions),
		.on_ask = verdicts->command ? ask_command_ask : options->on_ask,
		.ask_context = verdicts->command ? verdicts->command : options->ask_context,
		.report = options->report,
		.context = options->context,
	};

	return requests_new(&requests, verdicts->diag, &verdicts->requests);
}

/* A machine asks where one of its notices does. */
static bool may_ask(const struct verdicts *verdicts, const struct program_rule *row, uint32_t rule)
{
	for (uint32_t i = 0; i <= row->notice_count; i++)
		if (requests_statement(verdicts->requests, &(struct program_match){ .rule = rule, .notice = i }) >= 0)
			return true;
	return false;
}

static void note_nobody(struct verdicts *verdicts, const struct responses_options *options)
{
	const struct program *program = options->program;

	for (uint32_t i = 0; i < program->rule_count; i++)
		if (may_ask(verdicts, &program->rules[i], i))
			diag_add(verdicts->diag, ASTERISM_NOTE, NULL, "use --ask CMD to let a command answer",
				 "%s %s calls Ask, but no client answers: its default is used",
				 program_sort(&program->rules[i]), program_text(program, program->rules[i].name));
}

int verdicts_new(const struct responses_options *options, struct reactions *reactions, struct asterism_diag *diag,
		 struct verdicts **made)
{
	struct verdicts *verdicts;
	int result;

	*made = NULL;
	if (!stopping_is_needed(options->program, reactions_allowed(reactions)))
		return 0;
	verdicts = alloc_zero(1, sizeof *verdicts);
	if (!verdicts)
		return diag_no_memory(diag);
	verdicts->diag = diag;
	verdicts->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	result = verdicts->epoll_fd < 0 ? diag_error(diag, NULL, -errno, "cannot create an epoll descriptor") : 0;
	if (!result)
		result = stopping_open(&verdicts->stopping, reactions_undo(reactions), diag);
	if (!result)
		result = add_fd(verdicts, stopping_fd(&verdicts->stopping));
	if (!result && options->ask_command && !options->on_ask)
		result = open_command(verdicts, options);
	if (!result)
		result = open_requests(verdicts, options, reactions);
	if (result) {
		verdicts_free(verdicts);
		return result;
	}
	if (!options->on_ask && !options->ask_command)
		note_nobody(verdicts, options);
	reactions_set_stops(reactions, verdicts->stopping.stops.table);
	*made = verdicts;
	return 0;
}

void verdicts_free(struct verdicts *verdicts)
{
	if (!verdicts)
		return;
	ask_command_free(verdicts->command);
	requests_free(verdicts->requests);
	stopping_close(&verdicts->stopping);
	if (verdicts->epoll_fd >= 0)
		close(verdicts->epoll_fd);
	alloc_free(verdicts);
}

struct ebpf_stops *verdicts_stops(struct verdicts *verdicts)
{
	return &verdicts->stopping.stops;
}

int verdicts_fd(const struct verdicts *verdicts)
{
	return verdicts->epoll_fd;
}

bool verdicts_take(struct verdicts *verdicts, const struct program_match *match, int *result)
{
	int statement = requests_statement(verdicts->requests, match);

	if (statement < 0 || !match->reactions)
		return false;
	*result = requests_put(verdicts->requests, match, (uint32_t)statement);
	return true;
}

int verdicts_answer(struct verdicts *verdicts, uint64_t ticket, enum session_verdict verdict)
{
	return requests_answer(verdicts->requests, ticket, verdict);
}

/* A watchdog that was killed is replaced; if it cannot be, no process is stopped any more. */
static int check_keeper(struct verdicts *verdicts)
{
	int result = stopping_poll(&verdicts->stopping, verdicts->diag);

	if (result > 0)
		return add_fd(verdicts, stopping_fd(&verdicts->stopping));
	if (!result)
		return 0;
	result = requests_close(verdicts->requests);
	react_stops_continue(verdicts->stopping.stops.table);
	return result;
}

int verdicts_poll(struct verdicts *verdicts, uint64_t now_ns, uint64_t *wait_ns)
{
	int result = check_keeper(verdicts), polled;

	if (verdicts->command)
		ask_command_poll(verdicts->command, now_ns, wait_ns);
	polled = requests_poll(verdicts->requests, now_ns, wait_ns);
	return result ? result : polled;
}

void verdicts_refuse(struct verdicts *verdicts)
{
	stopping_refuse(&verdicts->stopping);
	requests_refuse(verdicts->requests);
}

int verdicts_close(struct verdicts *verdicts)
{
	return requests_close(verdicts->requests);
}

void verdicts_count(const struct verdicts *verdicts, uint64_t *refused, uint64_t *lost)
{
	*refused = __atomic_load_n(&verdicts->stopping.stops.table->refused, __ATOMIC_RELAXED);
	*lost = requests_lost(verdicts->requests);
}

bool verdicts_are_open(const struct verdicts *verdicts)
{
	return verdicts && verdicts->requests && requests_pending(verdicts->requests) > 0;
}
