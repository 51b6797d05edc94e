/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TRACE_CTF_READ_PRIV_H
#define TRACE_CTF_READ_PRIV_H

/* The parts of the reader: types by id, streams with their packets. */

#include "trace/ctf/metadata.h"
#include "trace/ctf/read.h"

#include "ring/packet.h"

/* An event class of the trace. */
struct ctf_class {
	struct event_packed layout;    /* of the payload into a record of type */
	const struct event_type *type; /* NULL: there is nothing to deliver it as */
	uint32_t number;               /* that the source gives the type; UINT32_MAX: none yet */
	int64_t whole_bytes; /* of an event of a fixed size, its word and padding included; INT64_MAX: it has none */
	bool is_partial;     /* the type has fields that are wanted and were not recorded */
	bool is_wanted;
};

/* The event classes of a stream class. */
struct ctf_classes {
	struct ctf_class **items; /* by id; NULL: there is none */
	uint32_t count;
};

struct ctf_types {
	uint8_t uuid[CTF_UUID_BYTES];
	struct event_machine machine;
	struct ctf_classes classes[2]; /* by stream class: what the kernel raised; sensors */
	struct ctf_class *all;
	size_t count;
};

/* Reads the metadata of the trace in path. Free with ctf_types_fini either way. Returns 0, -EINVAL, -ENOMEM, -errno. */
int ctf_types_read(struct ctf_types *types, const char *path, struct event_catalog *catalog,
		   struct asterism_diag *diag);
void ctf_types_fini(struct ctf_types *types);

/*
 * The type that a sensor's event class stands for: one of the catalog that is that sensor, with these fields, or one
 * that is added. Returns 0; -EINVAL: what is said of the sensor is not what its fields are; -E2BIG, -ENOMEM.
 */
int ctf_sensor_bind(const struct ctf_event *event, struct event_catalog *catalog, const struct event_type **type);

/* One file of a stream, known by its first packet. */
struct ctf_part {
	char *name;
	uint64_t bytes;
	uint64_t timestamp_begin, packet_seq_num;
	uint32_t instance;
	bool is_wrong; /* not even that can be read */
};

/* What is wrong with a stream, and where. */
struct ctf_damage {
	const char *text; /* NULL: nothing */
	uint64_t offset;
};

/* A stream of packets: the files of one instance, in order. One event is in hand. */
struct ctf_stream {
	const char *map; /* the current file; NULL: none */
	size_t at;       /* the payload of the event in hand */
	size_t content_end;
	uint64_t ts; /* of the event in hand; of the last one, where there is none */
	struct ctf_class *event_class;
	uint64_t timestamp_end;        /* of the packet */
	uint64_t packet_events;        /* so far */
	struct event_header header;    /* of its records: cpu, and who raises the events */
	struct event_packed_late late; /* of the event in hand */
	bool has_late;
	struct ctf_damage damage;

	const struct ctf_part *parts;
	size_t part_count, next_part;
	size_t map_bytes;                  /* of the current file, when it was opened */
	size_t size;                       /* of the current file, now */
	size_t packet_end;                 /* in it, of the packets entered */
	size_t dropped;                    /* in it, pages given back */
	uint64_t bytes_before;             /* of the files before the current one */
	bool is_cut;                       /* the file ends within the packet */
	const struct ctf_classes *classes; /* that its events are of */
	uint64_t events_before, events_discarded;
	bool has_packet; /* these three are known */
	int fd;
	uint32_t order;
};

/* A loss that a new packet tells of. */
struct ctf_loss {
	uint64_t count, until_ns;
};

/*
 * Goes to the next packet, of the next file where one ends. Returns 1 with *loss; 0 at the end of the stream or where
 * the stream is damaged.
 */
int ctf_stream_packet(struct ctf_stream *stream, int folder, const struct ctf_types *types, struct ctf_loss *loss);
void ctf_stream_fini(struct ctf_stream *stream);

/* Lists the files of the trace in path, those of one stream together and in order. To be freed with ctf_parts_free. */
int ctf_parts_list(int folder, struct ctf_part **parts, size_t *count);
void ctf_parts_free(struct ctf_part *parts, size_t count);

#endif
