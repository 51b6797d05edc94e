// SPDX-License-Identifier: BSD-2-Clause
/* `asterism profile simulate`: valgrind's callgrind runs a command, and what it left is judged. */

#include "base/alloc.h"
#include "base/diag.h"
#include "base/text.h"
#include "cli/print.h"
#include "cmd/options/options.h"
#include "cmd/options/status.h"
#include "cmd/profile/profile-priv.h"
#include "profile/compare.h"
#include "profile/sample/surroundings.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NOT_RUN = 127, PATH_BYTES = 512, FIXED_ARGUMENTS = 12 };

/* From this share of costs on two runs of the same command are not the same work. */
#define APART_MUCH 0.001

/* Where a simulation is written: a folder of its own, as every process of the run writes a file. */
struct place {
	char folder[PATH_BYTES];
	char file[2 * PATH_BYTES];
	size_t others;     /* files of other processes */
	off_t input_begin; /* where standard input was, if it is a file */
};

int profile_check_valgrind(void)
{
	const char *at = getenv("PATH");
	char file[PATH_BYTES];

	for (at = at ? at : "/usr/bin:/bin"; *at; at += *at == ':') {
		size_t length = strcspn(at, ":");

		snprintf(file, sizeof file, "%.*s/valgrind", (int)length, at);
		if (access(file, X_OK) == 0)
			return STATUS_FINE;
		at += length;
	}
	cli_error("valgrind is not installed: its callgrind simulates the command");
	cli_hint("apt install valgrind");
	return STATUS_USAGE;
}

static int make_folder(struct place *place)
{
	const char *below = getenv("TMPDIR");

	*place = (struct place){ 0 };
	snprintf(place->folder, sizeof place->folder, "%s/asterism-simulation-XXXXXX",
		 below && *below ? below : "/tmp");
	if (mkdtemp(place->folder))
		return STATUS_FINE;
	cli_error("cannot create %s: %s", place->folder, strerror(errno));
	place->folder[0] = 0;
	return STATUS_USAGE;
}

static void remove_folder(const struct place *place)
{
	DIR *folder = *place->folder ? opendir(place->folder) : NULL;
	struct dirent *row;

	while (folder && (row = readdir(folder)))
		unlinkat(dirfd(folder), row->d_name, 0);
	if (folder) {
		closedir(folder);
		rmdir(place->folder);
	}
}

__attribute__((noreturn)) static void be_valgrind(const struct cli_arguments *arguments, const char *folder)
{
	char out[2 * PATH_BYTES], contexts[64];
	char **command = arguments->launched, **list;
	size_t length = 0, count = 0;

	while (command[length])
		length++;
	list = alloc_zero(length + FIXED_ARGUMENTS, sizeof *list);
	if (!list)
		_exit(NOT_RUN);
	snprintf(out, sizeof out, "--callgrind-out-file=%s/%%p", folder);
	snprintf(contexts, sizeof contexts, "--separate-callers=%llu",
		 (unsigned long long)arguments->options[OPTION_CONTEXTS].number);
	list[count++] = "valgrind";
	list[count++] = "-q";
	list[count++] = "--tool=callgrind";
	list[count++] = "--dump-instr=yes";
	list[count++] = "--demangle=no";
	list[count++] = out;
	if (cli_has(arguments, OPTION_CACHE))
		list[count++] = "--cache-sim=yes";
	if (cli_has(arguments, OPTION_CONTEXTS))
		list[count++] = contexts;
	list[count++] = "--";
	memcpy(list + count, command, length * sizeof *list);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	execvp("valgrind", list);
	_exit(NOT_RUN);
}

static volatile sig_atomic_t ended_by;
static volatile pid_t valgrind_pid;

/* The run ends, too, so that its folder can be removed. A second signal ends us at once. */
static void pass_signal(int number)
{
	ended_by = number;
	kill(valgrind_pid, SIGTERM);
}

static void pass_signals_to(pid_t pid)
{
	const struct sigaction action = { .sa_handler = pass_signal, .sa_flags = (int)SA_RESETHAND };
	struct sigaction before;

	valgrind_pid = pid;
	sigaction(SIGTERM, &action, NULL);
	/* nohup wants hangups ignored. */
	if (sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
		sigaction(SIGHUP, &action, NULL);
}

/* Runs it to its end; *pid is whose file counts. */
static int run_valgrind(const struct cli_arguments *arguments, const char *folder, pid_t *pid, int *status)
{
	struct sigaction ignored = { .sa_handler = SIG_IGN }, before;

	*pid = fork();
	if (*pid == 0)
		be_valgrind(arguments, folder);
	if (*pid < 0) {
		cli_error("cannot create a process for valgrind: %s", strerror(errno));
		return STATUS_USAGE;
	}
	pass_signals_to(*pid);
	/* At a terminal Ctrl-C ends the command; what it cost until then is a profile. */
	sigaction(SIGINT, &ignored, &before);
	while (waitpid(*pid, status, 0) < 0 && errno == EINTR)
		;
	sigaction(SIGINT, &before, NULL);
	signal(SIGTERM, SIG_DFL);
	if (ended_by) {
		cli_note("the simulation was interrupted, and was not written");
		return STATUS_SIGNAL + ended_by;
	}
	if (WIFEXITED(*status) && WEXITSTATUS(*status) == NOT_RUN) {
		cli_error("valgrind could not run '%s'", arguments->launched[0]);
		return STATUS_USAGE;
	}
	return STATUS_FINE;
}

/* A process that executes another program leaves its file empty. */
static void find_file(struct place *place, pid_t pid)
{
	DIR *folder = opendir(place->folder);
	struct dirent *row;
	struct stat about;
	char name[32];

	snprintf(name, sizeof name, "%d", (int)pid);
	while (folder && (row = readdir(folder))) {
		if (strcmp(row->d_name, name) == 0 && fstatat(dirfd(folder), name, &about, 0) == 0 && !about.st_size)
			continue;
		if (strcmp(row->d_name, name) == 0)
			snprintf(place->file, sizeof place->file, "%s/%s", place->folder, name);
		else
			place->others += row->d_name[0] != '.';
	}
	if (folder)
		closedir(folder);
}

static int judge_simulation(const struct cli_arguments *arguments, const struct place *place, int status)
{
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGILL) {
		cli_error("the simulation ended at an instruction that valgrind does not know");
		cli_hint("GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX512F,-AVX512VL makes libraries use others; a newer "
			 "valgrind knows more");
		return STATUS_USAGE;
	}
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGTRAP) {
		cli_error("the simulation ended at a breakpoint: a probe of another program in it or in a library");
		cli_hint("try again when no probes of functions are attached (asterism, bpftrace, perf probe)");
		return STATUS_USAGE;
	}
	if (!*place->file) {
		cli_error("'%s' produced no simulation: it executed another program, or was ended",
			  arguments->launched[0]);
		cli_hint("name the program that does the work, not a shell or a script that starts it");
		return STATUS_USAGE;
	}
	if (WIFSIGNALED(status))
		cli_warning("the simulated run was ended by signal %d (%s)", WTERMSIG(status),
			    strsignal(WTERMSIG(status)));
	else if (WEXITSTATUS(status))
		cli_warning("the simulated run ended with status %d", WEXITSTATUS(status));
	if (place->others) {
		cli_warning("the simulated run has forked: %zu of its processes are not in the simulation",
			    place->others);
		cli_hint("let it work in one process: one worker, -j 1");
	}
	return STATUS_FINE;
}

/* The file is place's, to be removed with it. */
static int simulate(const struct cli_arguments *arguments, struct place *place)
{
	int status = 0, failed = make_folder(place);
	pid_t pid;

	place->input_begin = profile_input_begin();
	if (!failed)
		failed = run_valgrind(arguments, place->folder, &pid, &status);
	if (failed)
		return failed;
	find_file(place, pid);
	return judge_simulation(arguments, place, status);
}

void profile_rewind_input(off_t begin)
{
	struct stat about;

	if (begin >= 0) {
		lseek(STDIN_FILENO, begin, SEEK_SET);
	} else if (fstat(STDIN_FILENO, &about) == 0 && (S_ISFIFO(about.st_mode) || S_ISSOCK(about.st_mode))) {
		cli_note("standard input is a pipe: this run of the command gets only what the previous run did not "
			 "read");
		cli_hint("if the command reads it, use a file instead: ... -- COMMAND <FILE");
	}
}

/* Whether the same command does the same work twice. */
static int compare_simulations(const struct profile *first, const struct profile *second)
{
	struct profile_comparison comparison;
	double apart = 0;

	if (profile_compare(first, 0, second, 0, &comparison)) {
		cli_error("out of memory");
		return STATUS_USAGE;
	}
	for (size_t i = 0; i < comparison.count; i++) {
		double difference = comparison.pairs[i].cost_a - comparison.pairs[i].cost_b;

		apart += difference > 0 ? difference : -difference;
	}
	apart = comparison.total > 0 ? apart / 2 / comparison.total : 0;
	alloc_free(comparison.pairs);
	if (apart > APART_MUCH) {
		cli_warning(
			"two simulated runs differ by %.1f %% of their costs: the command does not do the same work "
			"each time",
			100 * apart);
		cli_hint("give it the same input, seed and number of threads");
	} else {
		cli_note("two simulated runs differ by %.3f %% of their costs", 100 * apart);
	}
	return STATUS_FINE;
}

static int simulate_again(const struct cli_arguments *arguments, const struct profile *first, off_t input_begin)
{
	struct profile *second = NULL;
	struct place place;
	int status;

	profile_rewind_input(input_begin);
	status = simulate(arguments, &place);

	if (!status)
		status = profile_load(place.file, &second);
	if (second && (!status || status == STATUS_LOST))
		status = compare_simulations(first, second);
	profile_free(second);
	remove_folder(&place);
	return status;
}

/* Of which builds it is, and in which environment, callgrind does not say. They are what they were just now. */
static int load_simulated(const struct place *place, struct profile **simulated)
{
	int status = profile_load(place->file, simulated);

	if (*simulated &&
	    (profile_read_build_ids(*simulated) || profile_note_surroundings(*simulated, place->input_begin))) {
		cli_error("out of memory");
		profile_free(*simulated);
		*simulated = NULL;
		return STATUS_USAGE;
	}
	return status;
}

int profile_simulate(const struct cli_arguments *arguments, struct profile **simulated)
{
	struct place place;
	int status = simulate(arguments, &place);

	if (!status)
		status = load_simulated(&place, simulated);
	remove_folder(&place);
	if (*simulated && cli_has(arguments, OPTION_TWICE)) {
		int again = simulate_again(arguments, *simulated, place.input_begin);

		status = again ? again : status;
	}
	return status;
}

static bool is_put(const char *key)
{
	static const char *const begins[] = { PROFILE_BUILD_ID, PROFILE_VARIABLE, PROFILE_VARIABLES, PROFILE_INPUT };

	for (size_t i = 0; i < sizeof begins / sizeof *begins; i++) {
		if (strncmp(key, begins[i], strlen(begins[i])) == 0)
			return true;
	}
	return false;
}

static void put_infos(const struct profile *simulated, FILE *stream)
{
	for (size_t i = 0; i < simulated->info_count; i++) {
		const char *key = profile_get_text(simulated, simulated->infos[i].key);

		if (is_put(key))
			fprintf(stream, "desc: %s: %s\n", key, profile_get_text(simulated, simulated->infos[i].value));
	}
}

/* As it is, with what else is known of the run behind the command. */
static int copy_file(const char *file, const struct profile *simulated, FILE *stream)
{
	FILE *from = fopen(file, "re");
	char *line = NULL;
	size_t room = 0;
	bool is_said = false;
	ssize_t got;
	int result;

	if (!from)
		return -errno;
	errno = 0;
	while ((got = getline(&line, &room, from)) > 0 && fwrite(line, 1, (size_t)got, stream) == (size_t)got) {
		if (!is_said && strncmp(line, "cmd:", 4) == 0) {
			put_infos(simulated, stream);
			is_said = true;
		}
	}
	result = !feof(from) || ferror(from) || ferror(stream) ? -(errno ? errno : EIO) : 0;
	free(line);
	fclose(from);
	return result;
}

/* What callgrind has written goes out, and of which builds and in which environment it is. */
int profile_simulate_run(const struct cli_arguments *arguments, const char **operands)
{
	struct profile *simulated = NULL;
	struct place place = { 0 };
	int status, written;
	FILE *stream;

	(void)operands;
	if (!arguments->options[OPTION_OUTPUT].text) {
		cli_error("name the simulation with -o: standard output belongs to the command");
		cli_hint("asterism profile simulate -o simulation -- COMMAND");
		return STATUS_USAGE;
	}
	if (profile_check_valgrind())
		return STATUS_USAGE;
	stream = profile_open(arguments);
	if (!stream)
		return STATUS_USAGE;
	status = simulate(arguments, &place);
	if (!status)
		status = load_simulated(&place, &simulated);
	written = profile_close(arguments, stream, simulated ? copy_file(place.file, simulated, stream) : 0);
	remove_folder(&place);
	if (simulated && !written && cli_has(arguments, OPTION_TWICE)) {
		int again = simulate_again(arguments, simulated, place.input_begin);

		status = again ? again : status;
	}
	profile_free(simulated);
	return written ? written : status;
}
