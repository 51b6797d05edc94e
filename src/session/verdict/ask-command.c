// SPDX-License-Identifier: BSD-2-Clause
/* Asks a command: how many run at once, what it gets, what its status means. */

#include "session/verdict/ask-command.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "session/output/result.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORDS_MAX = 64, RUNNING_MAX = 16, WAITING_MAX = 256, OWN_VARIABLES = 6, VARIABLE_BYTES = 192 };

struct request {
	struct session_ask ask;
	char variables[OWN_VARIABLES][VARIABLE_BYTES];
	int input; /* the match */
	pid_t pid; /* 0: not started yet */
	int fd;    /* its pidfd */
};

struct ask_command {
	const struct program *program;
	char *text, *words[WORDS_MAX + 1];
	struct request *verdicts[WAITING_MAX];
	size_t count, running;
	int epoll_fd;
};

int ask_command_new(const char *text, const struct program *program, struct asterism_diag *diag,
		    struct ask_command **made)
{
	struct ask_command *command = alloc_zero(1, sizeof *command);
	size_t count = 0;
	char *state;

	if (!command)
		return diag_no_memory(diag);
	command->program = program;
	command->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	command->text = alloc_text(text);
	if (!command->text || command->epoll_fd < 0) {
		ask_command_free(command);
		return diag_no_memory(diag);
	}
	for (char *word = strtok_r(command->text, " \t", &state); word && count <= WORDS_MAX;
	     word = strtok_r(NULL, " \t", &state))
		command->words[count++ % (WORDS_MAX + 1)] = word;
	if (count == 0 || count > WORDS_MAX) {
		ask_command_free(command);
		return diag_error(diag, NULL, -EINVAL, "the command of --ask has %s",
				  count ? "too many words" : "no name");
	}
	*made = command;
	return 0;
}

static void forget_request(struct ask_command *command, struct request *request)
{
	for (size_t i = 0; i < command->count; i++)
		if (command->verdicts[i] == request)
			command->verdicts[i] = command->verdicts[--command->count];
	command->running -= request->pid != 0;
	if (request->fd >= 0)
		close(request->fd);
	if (request->input >= 0)
		close(request->input);
	alloc_free(request);
}

/* Ends a command that is asked in vain. */
static void cancel(struct ask_command *command, struct request *request)
{
	if (request->pid) {
		kill(request->pid, SIGKILL);
		waitpid(request->pid, NULL, 0);
	}
	forget_request(command, request);
}

void ask_command_free(struct ask_command *command)
{
	if (!command)
		return;
	while (command->count)
		cancel(command, command->verdicts[0]);
	if (command->epoll_fd >= 0)
		close(command->epoll_fd);
	alloc_free(command->text);
	alloc_free(command);
}

static int write_match(struct ask_command *command, const struct program_match *match)
{
	struct program_match plain = *match;
	struct event_machine machine = { 0 };
	const struct when when = { .in_json = true, .machine = &machine };
	int fd = memfd_create("match", MFD_CLOEXEC);
	FILE *stream = fd < 0 ? NULL : fdopen(dup(fd), "w");

	plain.reactions = NULL; /* nothing is done yet */
	if (!stream) {
		if (fd >= 0)
			close(fd);
		return -1;
	}
	when_take_machine(&machine);
	result_write_json(stream, command->program, &plain, &when);
	if (fclose(stream) == 0 && lseek(fd, 0, SEEK_SET) == 0)
		return fd;
	close(fd);
	return -1;
}

static struct request *make_request(struct ask_command *command, const struct program_match *match,
				    const struct session_ask *ask)
{
	struct request *request = alloc_zero(1, sizeof *request);
	const char *rule = program_text(command->program, command->program->rules[match->rule].name);
	uint64_t now = clock_now_ns();

	if (!request)
		return NULL;
	request->ask = *ask;
	request->fd = -1;
	request->input = write_match(command, match);
	if (request->input < 0) {
		alloc_free(request);
		return NULL;
	}
	snprintf(request->variables[0], VARIABLE_BYTES, "ASTERISM_RULE=%s", rule);
	snprintf(request->variables[1], VARIABLE_BYTES, "ASTERISM_PID=%" PRIu32, match->pid);
	snprintf(request->variables[2], VARIABLE_BYTES, "ASTERISM_TID=%" PRIu32, match->tid);
	snprintf(request->variables[3], VARIABLE_BYTES, "ASTERISM_COMM=%s", match->comm);
	snprintf(request->variables[4], VARIABLE_BYTES, "ASTERISM_DEFAULT=%s", ask->aborts ? "ABORT" : "CONTINUE");
	snprintf(request->variables[5], VARIABLE_BYTES, "ASTERISM_LIMIT_MS=%" PRIu64,
		 ask->deadline_ns > now ? (ask->deadline_ns - now) / 1000000 : 0);
	return request;
}

/* The caller's environment and the question's. NULL: memory is short. */
static char **environment(struct request *request)
{
	size_t count = 0, used = 0;

	while (environ && environ[count])
		count++;
	char **all = alloc_zero(count + OWN_VARIABLES + 1, sizeof *all);

	for (size_t i = 0; all && i < count; i++)
		if (strncmp(environ[i], "ASTERISM_", strlen("ASTERISM_")) != 0)
			all[used++] = environ[i];
	for (size_t i = 0; all && i < OWN_VARIABLES; i++)
		all[used++] = request->variables[i];
	return all;
}

/* With signals as a command expects them: none blocked, none ignored that we ignore. Returns 0 or an errno. */
static int spawn(struct ask_command *command, struct request *request, char **variables)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t how;
	sigset_t none, usual;
	int error;

	sigemptyset(&none);
	sigemptyset(&usual);
	sigaddset(&usual, SIGPIPE);
	posix_spawn_file_actions_init(&files);
	posix_spawnattr_init(&how);
	posix_spawn_file_actions_adddup2(&files, request->input, 0);
	posix_spawnattr_setsigmask(&how, &none);
	posix_spawnattr_setsigdefault(&how, &usual);
	posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	error = posix_spawnp(&request->pid, command->words[0], &files, &how, command->words, variables);
	if (error)
		request->pid = 0;
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&how);
	return error;
}

/* False: it cannot be asked; the question is forgotten. */
static bool start_ask_command(struct ask_command *command, struct request *request)
{
	struct epoll_event event = { .events = EPOLLIN };
	char **variables = environment(request);
	bool started = variables && spawn(command, request, variables) == 0;

	alloc_free(variables);
	if (!started) {
		forget_request(command, request);
		return false;
	}
	command->running++;
	request->fd = (int)syscall(SYS_pidfd_open, request->pid, 0);
	if (request->fd < 0 || epoll_ctl(command->epoll_fd, EPOLL_CTL_ADD, request->fd, &event)) {
		cancel(command, request);
		return false;
	}
	return true;
}

/* A command that makes matches itself is not asked about: it could not answer. */
static bool is_own_command(const struct ask_command *command, uint32_t pid)
{
	for (size_t i = 0; i < command->count; i++)
		if ((uint32_t)command->verdicts[i]->pid == pid)
			return true;
	return false;
}

enum session_verdict ask_command_ask(void *context, const struct program_match *match, const struct session_ask *ask)
{
	struct ask_command *command = context;
	struct request *request;

	if (is_own_command(command, match->pid))
		return SESSION_CONTINUE;
	request = command->count < WAITING_MAX ? make_request(command, match, ask) : NULL;
	if (!request)
		return SESSION_DEFAULT;
	command->verdicts[command->count++] = request;
	return command->running == RUNNING_MAX || start_ask_command(command, request) ? SESSION_LATER : SESSION_DEFAULT;
}

int ask_command_fd(const struct ask_command *command)
{
	return command->epoll_fd;
}

/* Whether the question is over, one way or another. */
static bool take_answer(struct ask_command *command, struct request *request)
{
	static const enum session_verdict meanings[] = { SESSION_CONTINUE, SESSION_ABORT };
	const struct session_ask ask = request->ask;
	enum session_verdict verdict = SESSION_DEFAULT;
	int status;

	if (waitpid(request->pid, &status, WNOHANG) != request->pid)
		return false;
	if (WIFEXITED(status) && WEXITSTATUS(status) < (int)(sizeof meanings / sizeof *meanings))
		verdict = meanings[WEXITSTATUS(status)];
	forget_request(command, request);
	requests_answer(ask.requests, ask.ticket, verdict);
	return true;
}

static bool poll_request(struct ask_command *command, struct request *request, uint64_t now_ns)
{
	const struct session_ask ask = request->ask;

	if (request->pid && take_answer(command, request))
		return true;
	if (now_ns >= ask.deadline_ns) {
		cancel(command, request);
		return true;
	}
	if (request->pid || command->running == RUNNING_MAX || start_ask_command(command, request))
		return false;
	requests_answer(ask.requests, ask.ticket, SESSION_DEFAULT);
	return true;
}

void ask_command_poll(struct ask_command *command, uint64_t now_ns, uint64_t *wait_ns)
{
	for (size_t i = 0; i < command->count;) {
		struct request *request = command->verdicts[i];

		if (poll_request(command, request, now_ns))
			continue;
		if (request->ask.deadline_ns - now_ns < *wait_ns)
			*wait_ns = request->ask.deadline_ns - now_ns;
		i++;
	}
}
