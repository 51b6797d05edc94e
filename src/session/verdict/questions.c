// SPDX-License-Identifier: BSD-2-Clause
/* Decides in which order the parts of questions begin, are looked after, and end. */

#include "session/verdict/questions.h"

#include "base/alloc.h"
#include "session/verdict/ask-command.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

struct questions {
	struct asterism_diag *diag;
	struct stopping stopping;
	struct asks *asks;
	struct ask_command *command; /* NULL: a function answers, or nobody */
	int epoll_fd;
};

static int add_fd(struct questions *questions, int fd)
{
	struct epoll_event event = { .events = EPOLLIN };

	if (fd < 0 || epoll_ctl(questions->epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0)
		return 0;
	return diag_error(questions->diag, NULL, -errno, "waiting for answers is not possible: %s", strerror(errno));
}

static int open_command(struct questions *questions, const struct responses_options *options)
{
	int result = ask_command_new(options->ask_command, options->program, questions->diag, &questions->command);

	return result ? result : add_fd(questions, ask_command_fd(questions->command));
}

static int open_asks(struct questions *questions, const struct responses_options *options,
		     const struct reactions *reactions)
{
	const struct asks_options asks = {
		.program = options->program,
		.stops = questions->stopping.stops.table,
		.undo = reactions_undo(reactions),
		.on_ask = questions->command ? ask_command_ask : options->on_ask,
		.ask_context = questions->command ? questions->command : options->ask_context,
		.tell = options->tell,
		.context = options->context,
	};

	return asks_new(&asks, questions->diag, &questions->asks);
}

/* A machine asks where one of its notices does. */
static bool may_ask(const struct questions *questions, const struct program_rule *row, uint32_t rule)
{
	for (uint32_t i = 0; i <= row->notice_count; i++)
		if (asks_statement(questions->asks, &(struct program_match){ .rule = rule, .notice = i }) >= 0)
			return true;
	return false;
}

static void note_nobody(struct questions *questions, const struct responses_options *options)
{
	const struct program *program = options->program;

	for (uint32_t i = 0; i < program->rule_count; i++)
		if (may_ask(questions, &program->rules[i], i))
			diag_add(questions->diag, ASTERISM_NOTE, NULL, "--ask CMD asks a command",
				 "%s %s asks, but no one answers: its default is done",
				 program_sort(&program->rules[i]), program_text(program, program->rules[i].name));
}

int questions_new(const struct responses_options *options, struct reactions *reactions, struct asterism_diag *diag,
		  struct questions **made)
{
	struct questions *questions;
	int result;

	*made = NULL;
	if (!stopping_is_needed(options->program, reactions_allowed(reactions)))
		return 0;
	questions = alloc_zero(1, sizeof *questions);
	if (!questions)
		return diag_no_memory(diag);
	questions->diag = diag;
	questions->stopping.stops.fd = -1;
	questions->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	result = questions->epoll_fd < 0 ? diag_error(diag, NULL, -errno, "no descriptors to wait with") : 0;
	if (!result)
		result = stopping_open(&questions->stopping, reactions_undo(reactions), diag);
	if (!result)
		result = add_fd(questions, stopping_fd(&questions->stopping));
	if (!result && options->ask_command && !options->on_ask)
		result = open_command(questions, options);
	if (!result)
		result = open_asks(questions, options, reactions);
	if (result) {
		questions_free(questions);
		return result;
	}
	if (!options->on_ask && !options->ask_command)
		note_nobody(questions, options);
	reactions_set_stops(reactions, questions->stopping.stops.table);
	*made = questions;
	return 0;
}

void questions_free(struct questions *questions)
{
	if (!questions)
		return;
	ask_command_free(questions->command);
	asks_free(questions->asks);
	stopping_close(&questions->stopping);
	if (questions->epoll_fd >= 0)
		close(questions->epoll_fd);
	alloc_free(questions);
}

struct ebpf_stops *questions_stops(struct questions *questions)
{
	return &questions->stopping.stops;
}

int questions_fd(const struct questions *questions)
{
	return questions->epoll_fd;
}

bool questions_take(struct questions *questions, const struct program_match *match, int *result)
{
	int statement = asks_statement(questions->asks, match);

	if (statement < 0 || !match->reactions)
		return false;
	*result = asks_put(questions->asks, match, (uint32_t)statement);
	return true;
}

int questions_answer(struct questions *questions, uint64_t ticket, enum session_verdict verdict)
{
	return asks_answer(questions->asks, ticket, verdict);
}

/* A keeper that somebody has killed is replaced; if it cannot be, nobody is stopped any more. */
static int check_keeper(struct questions *questions)
{
	int result = stopping_poll(&questions->stopping, questions->diag);

	if (result > 0)
		return add_fd(questions, stopping_fd(&questions->stopping));
	if (!result)
		return 0;
	result = asks_close(questions->asks);
	react_stops_continue(questions->stopping.stops.table);
	return result;
}

int questions_poll(struct questions *questions, uint64_t now_ns, uint64_t *wait_ns)
{
	int result = check_keeper(questions), polled;

	if (questions->command)
		ask_command_poll(questions->command, now_ns, wait_ns);
	polled = asks_poll(questions->asks, now_ns, wait_ns);
	return result ? result : polled;
}

void questions_refuse(struct questions *questions)
{
	stopping_refuse(&questions->stopping);
	asks_refuse(questions->asks);
}

int questions_close(struct questions *questions)
{
	return asks_close(questions->asks);
}

void questions_count(const struct questions *questions, uint64_t *refused, uint64_t *lost)
{
	*refused = __atomic_load_n(&questions->stopping.stops.table->refused, __ATOMIC_RELAXED);
	*lost = asks_lost(questions->asks);
}

bool questions_are_open(const struct questions *questions)
{
	return questions && questions->asks && asks_pending(questions->asks) > 0;
}
