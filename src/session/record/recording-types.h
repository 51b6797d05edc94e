/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_RECORD_RECORDING_TYPES_H
#define SESSION_RECORD_RECORDING_TYPES_H

/*
 * The types of sensors that a recording has met, each of a program: what one program calls so may have other fields
 * than what another one does, and rules may ask for those of one program alone.
 */

#include "base/diag.h"
#include "sensor/stream/process.h"
#include "trace/ctf/write.h"

struct recording_type {
	char *program, *path, *text;
	struct event_catalog *catalog; /* has only type */
	const struct event_type *type;
	struct event_packed layout;
	uint64_t hash;
	bool is_declared;
	uint32_t id; /* in the trace, if so */
};

struct recording_types;

/* Returns NULL where there is no memory. */
struct recording_types *recording_types_new(void);
void recording_types_free(struct recording_types *types);

/* take of struct stream_wants: the type, under its number, as it is or as it was met before. */
int recording_types_add(struct recording_types *types, const struct stream_announced *announced,
			struct asterism_diag *diag, const struct event_type **type, uint32_t *number);

/* The type of that number, which there is. */
struct recording_type *recording_types_get(const struct recording_types *types, uint32_t number);

/* There is another trace: none is declared. */
void recording_types_forget(struct recording_types *types);

/* Declares it in the trace, unless it is. Returns as ctf_writer_declare. */
int recording_type_declare(struct recording_type *type, struct ctf_writer *trace);

#endif
