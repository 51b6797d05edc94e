/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_LOAD_RULES_H
#define SESSION_LOAD_RULES_H

/*
 * Rules made ready to run: read from files, checked, compiled to an image, and the image validated. Loading decides
 * which texts make one unit, what each rule may do to the system (policy.h), and what a kernel does not raise. It may
 * touch files and catalogs, and the compiler; nothing is attached and no event is seen.
 */

#include "base/diag.h"
#include "event/catalog.h"
#include "lang/parse.h"
#include "program/load.h"
#include "program/order/order.h"

#include <stdbool.h>

struct session_rules;

/* A new catalog that holds the Linux events. Returns 0, -EINVAL, -ENOMEM; the diag says why. */
int session_catalog_new(struct asterism_diag *diag, struct event_catalog **catalog);

/*
 * Reads files, each rule text or a program image (known by its magic); "-" is standard input. Rule texts make one unit;
 * an image stands alone. The Linux catalog is always there.
 * Returns 0, -EINVAL (the diag says why; also for files that cannot be read), -ENOMEM.
 */
int session_rules_read(const char *const *files, size_t count, struct asterism_diag *diag,
		       struct session_rules **rules);

/* A file, or what stands for one: path is what messages call it then, and its EVENTS are those of installed catalogs.
 */
struct session_rules_file {
	const char *path;
	const char *text; /* NULL: read it from path */
	size_t length;
	const char *bare_rule; /* as in lang_input; a text with it finds catalogs in the working directory */
};

/* The same with other values for what the files call PARAM. */
struct session_rules_files {
	const struct session_rules_file *files;
	size_t count;
	const struct lang_setting *settings; /* an image takes none (-EINVAL) */
	size_t setting_count;
	const char *const *exceptions; /* files of lines `RULE: condition, ...`; an image takes none (-EINVAL) */
	size_t exception_count;
	/* By what the order of conditions is chosen, taken from the caller on success; NULL: by what they cost, and an
	 * image's stays as it is. */
	struct program_measures *measures;
	bool as_written;   /* the order stays that of the rule text */
	bool wants_events; /* matches have their events, but those of an image that does not say so */
};

int session_rules_read_files(const struct session_rules_files *files, struct asterism_diag *diag,
			     struct session_rules **rules);

/* Rules in memory. */
struct session_rules_source {
	const char *name; /* for messages */
	const void *bytes;
	size_t length;
	bool is_image; /* else rule text */
	struct event_catalog_access
		access; /* to the catalogs that it names; relative names are those of installed ones */
};

/* Takes rules from a copy of source. Otherwise as session_rules_read. */
int session_rules_take(const struct session_rules_source *source, struct asterism_diag *diag,
		       struct session_rules **rules);
void session_rules_free(struct session_rules *rules);

/* All borrowed from rules. The catalog may still gain types. */
const struct program *session_rules_program(const struct session_rules *rules);
const void *session_rules_image(const struct session_rules *rules, size_t *length);

/* By what the order of conditions was chosen; NULL: by what they cost. */
const struct program_measures *session_rules_measures(const struct session_rules *rules);

/* A user or a group other than root that a rule calls by the name that it has on this host; NULL: there is none. */
const char *session_rules_host_name(const struct session_rules *rules);

/* The rule text that messages call file, as it was read. False where none or several are called so, and of an image. */
bool session_rules_text(const struct session_rules *rules, const char *file, struct diag_source *source);

/* What the rule texts call PARAM, file by file in their order; none of an image. */
struct session_parameter {
	const char *name;
	const char *file;          /* that has it: its name without folder and .rule */
	const char *value, *usual; /* as constants are written; equal where nothing was set */
};

const struct session_parameter *session_rules_parameters(const struct session_rules *rules, uint32_t *count);
struct event_catalog *session_rules_catalog(const struct session_rules *rules);

/* Returns 0, or -EINVAL: what rule index waits for is only declared. Of a machine, one event that is raised will do; in
 * a program that sees anything else it is warned of. */
int session_check_raised(const struct program *program, struct event_catalog *catalog, uint32_t index,
			 struct asterism_diag *diag);

/* Warns of each rule of the program that waits in vain: for rules that something is only recorded for. */
void session_warn_unraised(const struct program *program, struct event_catalog *catalog, struct asterism_diag *diag);

#endif
