/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TRACE_CTF_WRITE_H
#define TRACE_CTF_WRITE_H

/*
 * Writes a trace: a directory as docs/formats/trace.md tells, readable by any reader of CTF 1.8. Packets come as the
 * sub-buffers of rings are (ring/packet.h) and are judged before they are written, event by event, so that what is in
 * the trace can be read whatever was in the ring. Every packet is one write. One writer belongs to one thread.
 *
 *   ctf_writer_new(path, &options, diag, &writer);
 *   ctf_writer_packet(writer, cpu, bytes, content_bytes, discarded);   whenever a sub-buffer of the cpu is complete
 *   ctf_writer_close(writer);
 */

#include "base/diag.h"
#include "event/packed.h"
#include "ring/packet.h"
#include "trace/ctf/layout.h"

#include <sys/types.h>

struct ctf_writer;

struct ctf_writer_options {
	const struct ctf_writer_event *events; /* needed while the writer is made */
	size_t event_count;                    /* less than EVENT_PACKED_ID_LATE */
	uint32_t stream_count;                 /* cpus are below it */
	bool has_sensors;                      /* there is a stream for them, besides */
	const struct ctf_layout *layout;       /* of the same events, outlives the writer; NULL: the catalog's names */
	/*
	 * Bytes of all files together; 0: no limit. At the limit the oldest events go, in portions: every stream is
	 * written as several files, and those that ended first are deleted. A packet that alone is more than the limit
	 * is written all the same.
	 */
	uint64_t max_bytes;
	/*
	 * How the choice of types has changed since the trace began, for its environment: "TIME +type -type". They are
	 * needed as events are.
	 */
	const char *const *changes;
	size_t change_count; /* CTF_CHANGES_MAX at most */
	mode_t mode;         /* of the files; 0: for their owner alone */
	uint64_t wall_ns;    /* what added to a time gives CLOCK_REALTIME; 0: asked now */
};

enum { CTF_CHANGES_MAX = 256 };

struct ctf_writer_totals {
	uint64_t events;        /* written, contexts and matches excluded, deleted ones included */
	uint64_t bytes;         /* that the files take now */
	uint64_t deleted_bytes; /* written and deleted again, to keep to max_bytes */
	uint64_t discarded;     /* as the last packet of each stream says */
};

/* What a rule found, for a snapshot. Texts are cut to 255 (rule, comm: 15) and 4095 bytes. */
struct ctf_match {
	uint64_t ts;
	uint32_t cpu, pid, tid; /* of the event that completed it */
	const char *comm, *rule;
	const char *values; /* the match as text, as the user would be shown it */
	bool tainted;
};

/*
 * Makes the directory (or takes an empty one of the user's own) and writes its metadata. diag is borrowed until the
 * writer is closed. Returns 0; -EEXIST (something is there), -EINVAL (too many types or streams), -ENOMEM, -errno, with
 * a sentence.
 */
int ctf_writer_new(const char *path, const struct ctf_writer_options *options, struct asterism_diag *diag,
		   struct ctf_writer **made);

/*
 * Describes the trace anew: options has more types behind those that there are, or more changes; the rest of it does
 * not count. The types may come in packets after this. Not for traces with a layout. Returns 0; -EINVAL, -ENOMEM,
 * -ENOSPC and other -errno, with a sentence: then the trace is described as before.
 */
int ctf_writer_describe(struct ctf_writer *writer, const struct ctf_writer_options *options);

/*
 * Appends a packet to the stream of cpu. bytes begins with a struct ring_packet, of which timestamp_begin,
 * packet_seq_num and events_before count; content_bytes (a multiple of 8) includes it. discarded counts the events of
 * the stream that were lost up to the end of this packet; like time, it does not go back. A packet without events tells
 * of losses only.
 *
 * Returns 0; -EINVAL (this is not a packet; nothing is written), -ENOSPC and other -errno (the file ends with the
 * packet before), with a sentence. After a failure the trace is readable and the writer may be tried again.
 */
int ctf_writer_packet(struct ctf_writer *writer, uint32_t cpu, const void *bytes, size_t content_bytes,
		      uint64_t discarded);

/* What became complete, or was written so far, of a sub-buffer of which skip bytes are in the trace already. */
struct ctf_portion {
	const void *bytes;    /* of the whole sub-buffer */
	size_t content_bytes; /* all of them */
	size_t skip;          /* 0: none, else where an event begins, less than content_bytes */
	uint64_t discarded;
};

/* The same for the rest of a sub-buffer, which becomes a packet of its own. */
int ctf_writer_portion(struct ctf_writer *writer, uint32_t cpu, const struct ctf_portion *portion);

/*
 * A type of sensors, from here on under the number that is stored. Returns as ctf_writer_new; after a failure it may be
 * tried again.
 */
struct ctf_writer_sensor {
	const struct event_type *type; /* needed for the call */
	const char *program, *path;    /* of a process that has it; "": not known */
	const char *text;              /* its paragraph */
};

int ctf_writer_declare(struct ctf_writer *writer, const struct ctf_writer_sensor *sensor, uint32_t *id);

/* In place of a cpu: the stream of sensors. Of a packet's header cpu_id counts, too: how many processes were read. */
uint32_t ctf_writer_sensors(const struct ctf_writer *writer);

/* Begins the stream of cpu with a packet without events at ts, before any other. Returns as ctf_writer_packet. */
int ctf_writer_begin(struct ctf_writer *writer, uint32_t cpu, uint64_t ts);

/*
 * Ends the stream of cpu with packet, which has no events: it says until when the stream was written, and that
 * discarded events, as above, are lost. Where it cannot be written, the packet before it tells of the loss, as that
 * takes no room. Returns 0; as above where the packet cannot be written and a loss cannot be told of.
 */
int ctf_writer_end(struct ctf_writer *writer, uint32_t cpu, const struct ring_packet *packet, uint64_t discarded);

/*
 * Appends a match, as an event called match in a stream of its own, at its time or, if that is earlier, at that of the
 * match before. As ctf_writer_packet.
 */
int ctf_writer_match(struct ctf_writer *writer, const struct ctf_match *match);

/* The same with an event of a state dump, for traces that have a layout. process: NULL for its start and its end. */
int ctf_writer_state(struct ctf_writer *writer, uint64_t ts, uint32_t id, const struct ctf_process *process);

void ctf_writer_totals(const struct ctf_writer *writer, struct ctf_writer_totals *totals);

/* Closes all files and frees the writer, which may be NULL. Returns 0 or -errno with a sentence. */
int ctf_writer_close(struct ctf_writer *writer);

#endif
