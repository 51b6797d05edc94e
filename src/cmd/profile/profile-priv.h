/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CMD_PROFILE_PROFILE_PRIV_H
#define CMD_PROFILE_PROFILE_PRIV_H

/* What operations of `asterism profile` share. Each returns an exit status. */

#include "cli/arguments.h"
#include "profile/profile.h"

#include <jansson.h>
#include <stdio.h>
#include <sys/types.h>

struct diag_source;
struct sample_options;

enum { PROFILE_EVENT_BYTES = 64 };

/* What is done with the operands after the operation's name. */
typedef int profile_operation(const struct cli_arguments *arguments, const char **operands);

profile_operation profile_annotate_run, profile_complete_run, profile_report_run, profile_callers_run, profile_diff_run,
	profile_check_run, profile_export_run, profile_import_run, profile_record_run, profile_run_run,
	profile_simulate_run;

/* Reads a profile. STATUS_LOST: it is not whole, and *profile is there. */
int profile_load(const char *file, struct profile **profile);

/* Reads gmon.out, with the names of its program. */
int profile_load_of_program(const char *file, const char *program, struct profile **profile);

/* As profile_load; a simulation gets inclusive costs. Without places it takes a fifth of the time. */
int profile_load_completed(const char *file, bool with_places, struct profile **profile);

/* Whether valgrind can be run; a message if not. */
int profile_check_valgrind(void);

/* Simulates the launched command. STATUS_LOST: it is not whole, and *simulated is there. */
int profile_simulate(const struct cli_arguments *arguments, struct profile **simulated);

/* Before one more run of the command: standard input is to have the same for it, from begin on if it is a file. */
void profile_rewind_input(off_t begin);

/* Completes as options say, with the warnings that are due. */
int profile_join(const struct cli_arguments *arguments, const struct profile *sampled, const struct profile *simulated,
		 struct profile **completed);

/* Functions by their cost, with what is known of the profile as a whole. */
int profile_report(const struct cli_arguments *arguments, struct profile *profile);

/* Threads and processes by their self cost. A message where the profile does not know them. */
int profile_report_threads(const struct cli_arguments *arguments, struct profile *profile);

/* Leaves the samples of the thread that --thread names. */
int profile_choose_thread(const struct cli_arguments *arguments, struct profile *profile);

/* What -e, --samples and --registers ask for. The options refer to name. A message where it cannot be. */
int profile_choose_sampling(const struct cli_arguments *arguments, struct sample_options *options,
			    char name[PROFILE_EVENT_BYTES]);

/* Opens and reads the text of a file, - being standard input. Free source->text. */
int profile_load_text(const char *file, struct diag_source *source);

/* The event that -e names, made where it is a formula; the first one without. -1 after a message. */
int profile_chosen_event(const struct cli_arguments *arguments, struct profile *profile);

/* Whether -f json is given. */
bool profile_wants_json(const struct cli_arguments *arguments);

/* Where -o says, or standard output; NULL after a message. profile_close returns a status. */
FILE *profile_open(const struct cli_arguments *arguments);
int profile_close(const struct cli_arguments *arguments, FILE *stream, int result);

/* A number that the profile says of itself; 0 without. */
double profile_info_number(const struct profile *profile, const char *key);

/* Whether the samples are of matches alone: then they and a simulated run are not of the same work. */
bool profile_is_part(const struct profile *profile);

/* Simulated instructions for each sampled nanosecond that a program may have, from missing every cache to none. */
#define PROFILE_PACE_LEAST 0.5
#define PROFILE_PACE_MOST  25

/* Whether the simulation has far too few instructions for the sampled time, or too many. */
bool profile_pace_is_odd(const struct profile *profile);

/* Prints the warnings about a completed profile; returns how many. */
unsigned profile_warn(const struct profile *profile);

/* Of which event costs are shown, and in what. */
struct profile_unit {
	unsigned event;
	enum { UNIT_PERCENT, UNIT_SECONDS, UNIT_EVENTS } kind;
	double factor;  /* of costs */
	bool is_chosen; /* by --unit */
};

/* What -e and --unit say. STATUS_USAGE after a message where there is no such event, or it has no costs in the unit. */
int profile_chosen_unit(const struct cli_arguments *arguments, struct profile *profile, struct profile_unit *unit);

/* "54.79 % =", "25.48 % +-3.70", "1.250000 s ~": a cost, and how it is known. PROFILE_MEASURED: deviation is none. */
void profile_put_share(FILE *stream, double value, const struct profile_unit *unit, enum profile_origin origin,
		       double deviation);

/* How wide that is. */
int profile_share_width(const struct profile_unit *unit);

/* In JSON all costs are events unless --unit says otherwise. */
json_t *profile_cost_json(double value, const struct profile_unit *unit);

/* What is known of the profile as a whole. */
void profile_put_head(FILE *stream, const struct profile *profile, unsigned event);

/* Whether both runs did the same work, as far as it is known. */
const char *profile_verdict(const struct profile *profile);

/* [{"by","points","function"}]: how far other models are from the chosen one. */
json_t *profile_models_json(const struct profile *profile);

/* The costliest function of that name; HASH_NONE after a message. */
uint32_t profile_find_function(const struct profile *profile, const char *name);

/* {"name","object","self","inclusive",...} of one event. */
json_t *profile_function_json(const struct profile *profile, uint32_t function, const struct profile_unit *unit);

/* A name from outside, no wider than it is told. */
void profile_put_name(FILE *stream, const struct profile *profile, uint32_t function);

/* {"event","total","samples"} */
json_t *profile_head_json(const struct profile *profile, const struct profile_unit *unit);

const char *profile_origin_word(enum profile_origin origin);

#endif
