// SPDX-License-Identifier: BSD-2-Clause
/* Decides what the command line of asterismd means. */

#include "daemon/options.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
	"Usage: asterismd [OPTION...]\n"
	"\n"
	"Finds constellations by the rules of a directory, and does what 'asterism ctl' asks for. Runs in the "
	"foreground.\n"
	"\n"
	"      --rules DIR            rules: each *.rule and *.astc is a unit (default: /etc/asterism/rules.d)\n"
	"      --socket PATH          where 'asterism ctl' finds it (default: /run/asterism.sock)\n"
	"      --group NAME           members of this group may use the socket, too (default: only root)\n"
	"      --output WHERE         matches, as JSON lines: a FILE, unix:PATH, or - (default)\n"
	"      --mode MODE            who may read a FILE of --output that is made, as for chmod (default: 600)\n"
	"      --metrics ADDRESS:PORT serve metrics for Prometheus over HTTP; 127.0.0.1 where there is no ADDRESS\n"
	"      --allow-actions        let rules do what changes the system: signals, priorities, ...\n"
	"      --policy FILE          let rules do what FILE allows, by lines such as 'allow Stop, Continue'\n"
	"      --pid PID              observe this process and its descendants, nothing else; may be given several "
	"times\n"
	"      --scope SCOPE          all (default without --pid), tree (default with it), or pids: the processes of "
	"--pid\n"
	"                             without their descendants\n"
	"      --rate NUMBER          matches of a rule that are handed out per second; others are counted (default: "
	"1000)\n"
	"      --units-max NUMBER     units of rules at a time (default: 256)\n"
	"      --memory-max SIZE      load no more rules above this, the kernel's memory for them included (default: "
	"512M)\n"
	"      --cpu-max PERCENT      do less above this share of a processor\n"
	"      --measure              let the kernel measure its programs: nanoseconds in the metrics\n"
	"  -h, --help                 show this help and exit\n"
	"  -V, --version              show the version and exit\n"
	"\n"
	"SIGHUP reloads the directory and reopens the output, SIGUSR1 only reopens the output. See asterismd(8).\n";

enum {
	OPT_RULES = 256,
	OPT_SOCKET,
	OPT_GROUP,
	OPT_OUTPUT,
	OPT_MODE,
	OPT_METRICS,
	OPT_ALLOW,
	OPT_POLICY,
	OPT_SCOPE,
	OPT_PID,
	OPT_RATE,
	OPT_UNITS,
	OPT_MEMORY,
	OPT_CPU,
	OPT_MEASURE,
};

static const struct option rows[] = {
	{ "rules", required_argument, NULL, OPT_RULES },
	{ "socket", required_argument, NULL, OPT_SOCKET },
	{ "group", required_argument, NULL, OPT_GROUP },
	{ "output", required_argument, NULL, OPT_OUTPUT },
	{ "mode", required_argument, NULL, OPT_MODE },
	{ "metrics", required_argument, NULL, OPT_METRICS },
	{ "allow-actions", no_argument, NULL, OPT_ALLOW },
	{ "policy", required_argument, NULL, OPT_POLICY },
	{ "scope", required_argument, NULL, OPT_SCOPE },
	{ "pid", required_argument, NULL, OPT_PID },
	{ "rate", required_argument, NULL, OPT_RATE },
	{ "units-max", required_argument, NULL, OPT_UNITS },
	{ "memory-max", required_argument, NULL, OPT_MEMORY },
	{ "cpu-max", required_argument, NULL, OPT_CPU },
	{ "measure", no_argument, NULL, OPT_MEASURE },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ NULL, 0, NULL, 0 },
};

enum { USAGE = 1 + 2 };

static int wrong(const char *text, const char *value)
{
	fprintf(stderr, "asterismd: error: %s '%s'\nhelp: 'asterismd --help' shows how it is used\n", text, value);
	return USAGE;
}

/* A number from 1 to most; unit letters K, M and G where is_size. */
static int read_number(const char *text, bool is_size, uint64_t most, uint64_t *number)
{
	static const char letters[] = "KMG";
	char *end;
	uint64_t value, factor = 1;
	const char *letter;

	errno = 0;
	value = strtoull(text, &end, 10);
	if (errno || end == text || *text == '-' || *text == '+' || *text == ' ')
		return wrong("this is no number:", text);
	letter = is_size && *end ? strchr(letters, *end) : NULL;
	if (letter) {
		factor = UINT64_C(1) << (10 * (letter - letters + 1));
		end++;
	}
	if (*end || value == 0 || value > most / factor)
		return wrong("this number is not possible here:", text);
	*number = value * factor;
	return 0;
}

static int read_small(const char *text, uint64_t most, uint32_t *number)
{
	uint64_t wide;
	int status = read_number(text, false, most, &wide);

	if (!status)
		*number = (uint32_t)wide;
	return status;
}

static int read_scope(const char *text, struct options *options)
{
	static const char *const names[] = { "tree", "pids", "all" };

	for (int i = 0; i < 3; i++) {
		if (strcmp(text, names[i]) == 0) {
			options->scope = (enum asterism_scope)i;
			return 0;
		}
	}
	return wrong("--scope is all, tree or pids, not", text);
}

static int read_pid(const char *text, struct options *options)
{
	uint64_t pid;
	int status = read_number(text, false, INT_MAX, &pid);

	if (status)
		return status;
	if (options->pid_count == OPTIONS_PIDS_MAX)
		return wrong("this is one process too many:", text);
	options->pids[options->pid_count++] = (pid_t)pid;
	return 0;
}

/* The daemon itself can read and write it in any case, and nobody execute it. */
static int read_mode(const char *text, struct options *options)
{
	char *end;
	unsigned long mode = strtoul(text, &end, 8);

	if (*text < '0' || *text > '7' || *end || (mode & 0600) != 0600 || (mode & ~0666UL))
		return wrong("this is no mode for a file, such as 640:", text);
	options->mode = (mode_t)mode;
	return 0;
}

static int read_limit(int option, const char *text, struct options *options)
{
	switch (option) {
	case OPT_RATE:
		return read_small(text, 1000000000, &options->rate);
	case OPT_UNITS:
		return read_small(text, 4096, &options->units_max);
	case OPT_MEMORY:
		return read_number(text, true, UINT64_C(1) << 40, &options->memory_max_bytes);
	default:
		return read_small(text, 100000, &options->cpu_max_percent);
	}
}

static int read_one(int option, struct options *options, bool *has_scope)
{
	switch (option) {
	case OPT_RULES:
		options->rules = optarg;
		return 0;
	case OPT_SOCKET:
		options->socket = optarg;
		return 0;
	case OPT_GROUP:
		options->group = optarg;
		return 0;
	case OPT_OUTPUT:
		options->output = optarg;
		return 0;
	case OPT_MODE:
		return read_mode(optarg, options);
	case OPT_METRICS:
		options->metrics = optarg;
		return 0;
	case OPT_ALLOW:
		options->allow_actions = true;
		return 0;
	case OPT_POLICY:
		options->policy = optarg;
		return 0;
	case OPT_SCOPE:
		*has_scope = true;
		return read_scope(optarg, options);
	case OPT_PID:
		return read_pid(optarg, options);
	case OPT_MEASURE:
		options->measure = true;
		return 0;
	case 'h':
		fputs(help, stdout);
		return 1;
	case 'V':
		puts("asterismd " ASTERISM_VERSION);
		return 1;
	case '?':
		fputs("help: 'asterismd --help' shows how it is used\n", stderr);
		return USAGE;
	default:
		return read_limit(option, optarg, options);
	}
}

static int check(struct options *options, bool has_scope)
{
	if (!has_scope)
		options->scope = options->pid_count ? ASTERISM_SCOPE_TREE : ASTERISM_SCOPE_ALL;
	if (options->scope == ASTERISM_SCOPE_ALL && options->pid_count)
		return wrong("--pid does not go with --scope", "all");
	if (options->scope != ASTERISM_SCOPE_ALL && !options->pid_count)
		return wrong("--pid is missing for this", "--scope");
	if (options->policy && options->allow_actions)
		return wrong("--allow-actions does not go with", "--policy");
	return 0;
}

int options_read(int argc, char **argv, struct options *options)
{
	bool has_scope = false;
	int option, status;

	*options = (struct options){ .rules = "/etc/asterism/rules.d",
				     .socket = "/run/asterism.sock",
				     .output = "-",
				     .rate = 1000,
				     .units_max = 256,
				     .memory_max_bytes = 512 << 20 };
	while ((option = getopt_long(argc, argv, "hV", rows, NULL)) >= 0) {
		status = read_one(option, options, &has_scope);
		if (status)
			return status;
	}
	if (optind < argc)
		return wrong("asterismd takes no", argv[optind]);
	return check(options, has_scope);
}
