// SPDX-License-Identifier: BSD-2-Clause
/* The table of failures. A row is a promise; tests/kernel/session/failures.bats and tests/faults hold it. */

#include "cmd/help-failures.h"

static const struct cli_entry failures[] = {
	{ "standard output or the file of -o cannot be written (disk full, device error)",
	  { "yes, until the observed processes end",
	    "at once; at the end how many matches are missing. asterism retries; every match in the output is complete",
	    "3" } },
	{ "the reader of the matches is gone (a closed pipe), and a rule may act or something is recorded",
	  { "yes, until the observed processes end", "nothing", "that of the command" } },
	{ "the reader of the matches is gone, no rule may act and nothing is being recorded",
	  { "no: the session ends, the command continues", "nothing", "that of the command" } },
	{ "the trace of record cannot be written",
	  { "yes, until the observed processes end",
	    "at once; at the end how many events and annotations of matches are missing. asterism retries; the gap is "
	    "marked in the trace",
	    "3" } },
	{ "a snapshot cannot be written",
	  { "yes, until the observed processes end", "at once; at the end how many are incomplete", "3" } },
	{ "events come faster than a ring or a pool can take them, or one event raises more events than there is room "
	  "for",
	  { "yes; ON LOSS decides about open runs; rules with REPLACE end their oldest runs",
	    "a full pool at once; at the end how many were lost per rule, and what helps",
	    "3; if runs were only replaced: that of the command" } },
	{ "a process makes 32-bit system calls or uses io_uring: neither raises an event",
	  { "yes; rules that look for such calls do not see them",
	    "for each such rule at once; at the end how many (calls_32bit, io_uring)", "3" } },
	{ "asterism cannot wait for events, receive them or carry out actions, and a rule may act or something is "
	  "recorded",
	  { "yes, until the observed processes end; asterism retries", "at once", "2, or 4 if the kernel refuses" } },
	{ "the same, but no rule may act and nothing is being recorded",
	  { "no: the session ends, the command continues", "at once", "2, or 4 if the kernel refuses" } },
	{ "a session cannot begin: no privilege, no room for the trace, a rule that the kernel refuses",
	  { "no: the command is not started", "at once", "2 or 4" } },
	{ "a signal ends run or record before the session has begun, for example while programs are loaded",
	  { "no: the command is not started", "at once", "128 plus the signal number: 130 at Ctrl-C" } },
	{ "Ctrl-C, SIGTERM or SIGHUP; the launched command gets the signal, too, and ignores it",
	  { "for two seconds, or until a second signal: then the session ends, and the command continues unobserved",
	    "at the end, with the command's process id", "128 plus the number of the last signal: 130 at Ctrl-C" } },
	{ "--for is over, and the launched command ignores the SIGTERM that it gets",
	  { "no: the command continues unobserved", "at the end, with the command's process id", "0" } },
	{ "asterism is stopped (kill -STOP), and continues later",
	  { "yes; what asterism itself does - actions, answers, output - waits until it continues",
	    "at the end: how many events were lost meanwhile", "3; that of the command if nothing was lost" } },
	{ "asterism is killed (kill -9)",
	  { "no: everything in the kernel is removed within a second (with dozens of units: some seconds), stopped "
	    "processes continue, held system calls fail",
	    "nothing; what was written can be read", "137" } },
	{ "asterism and its watchdog, asterism-keep, are killed in the same instant (kill -9 of both, cgroup.kill)",
	  { "no: everything in the kernel is removed within a second (with dozens of units: some seconds), but stopped "
	    "processes stay stopped: continue them with 'kill -CONT PID', a frozen cgroup with 'echo 0 "
	    ">.../cgroup.freeze'",
	    "nothing; what was written can be read", "137" } },
	{ "the output of asterismd cannot be written",
	  { "yes", "in its log; its metrics say how many matches are missing. asterismd retries",
	    "it keeps running" } },
	{ "a signal ends a replay or stat before the end of its input",
	  { "no: it ends, with the results so far", "at once", "128 plus the signal number: 130 at Ctrl-C" } },
	{ "the output of a replay cannot be written",
	  { "no: the replay ends", "at once (nothing if the reader is gone)", "2 (0 if the reader is gone)" } },
	{ NULL, { NULL } },
};

const struct cli_section help_failures = {
	.title = "FAILURES",
	.heading = "When something fails",
	.labels = { "rules active", "reported", "exit status" },
	.entries = failures,
};

void help_failures_page(FILE *stream)
{
	fputs("| what fails | do rules stay active | what is reported | exit status |\n|---|---|---|---|\n", stream);
	for (const struct cli_entry *row = failures; row->term; row++)
		fprintf(stream, "| %s | %s | %s | %s |\n", row->term, row->texts[0], row->texts[1], row->texts[2]);
}
