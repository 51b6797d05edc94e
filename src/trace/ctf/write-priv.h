/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TRACE_CTF_WRITE_PRIV_H
#define TRACE_CTF_WRITE_PRIV_H

/* The parts of the writer: the files of a trace and their limit; packets and what is in them. */

#include "trace/ctf/metadata.h"
#include "trace/ctf/write.h"

#include "ring/packet.h"

struct utsname;
struct ctf_files;

enum { CTF_ENV_MAX = 16 };

/* What the environment says: of whom the trace is, in a trace with LTTng's names, and of the machine. Returns how many
 * entries, CTF_ENV_MAX at most. */
size_t ctf_env_fill(bool lttng, const struct utsname *system, struct ctf_env *env);

struct ctf_files_options {
	const char *path;
	uint32_t stream_count; /* that of the matches is the last, */
	bool has_sensors;      /* that of sensors the one before */
	uint64_t max_bytes;
	mode_t mode; /* as ctf_writer_options */
};

/* Makes the directory or takes an empty one. Results as ctf_writer_new. */
int ctf_files_new(const struct ctf_files_options *options, struct asterism_diag *diag, struct ctf_files **made);
int ctf_files_close(struct ctf_files *files);

/*
 * Writes the file called metadata. Where there is one, it is this or the other at every moment, and the same one after
 * a failure.
 */
int ctf_files_metadata(struct ctf_files *files, const char *text, size_t length);

/* Writes more of it behind what it has: all or nothing. */
int ctf_files_metadata_add(struct ctf_files *files, const char *text, size_t length);

/* One packet: header, then what follows it. timestamp_end tells which files are the oldest. */
struct ctf_packet {
	const struct ring_packet *header;
	const void *content;  /* behind the header */
	size_t content_bytes; /* of it */
};

int ctf_files_append(struct ctf_files *files, uint32_t stream, const struct ctf_packet *packet);

/* Has the last packet of a stream tell of so many lost events. Returns 0, -ENOENT (there is none), -errno. */
int ctf_files_discarded(struct ctf_files *files, uint32_t stream, uint64_t discarded);

/* What a writer has declared of sensors: a stream class of its own, with its own ids. */
struct ctf_sensors {
	struct event_packed *layouts; /* by id */
	size_t count, capacity;       /* 0: there is no stream for them */
	struct text_buffer text;      /* what metadata says of them, behind all else */
};

/* Returns 0, -ENOMEM; ctf_sensors_fini is in place either way. */
int ctf_sensors_init(struct ctf_sensors *sensors);
void ctf_sensors_fini(struct ctf_sensors *sensors);

/* As ctf_writer_declare. */
int ctf_sensors_declare(struct ctf_sensors *sensors, struct ctf_files *files, const struct ctf_writer_sensor *sensor,
			struct asterism_diag *diag, uint32_t *id);

uint64_t ctf_files_bytes(const struct ctf_files *files);
uint64_t ctf_files_deleted_bytes(const struct ctf_files *files);

#endif
