// SPDX-License-Identifier: BSD-2-Clause
#include "packets.h"

#include <stdlib.h>
#include <string.h>

enum { EVENT_BYTES_MAX = 4096 };

static void begin(struct packets *packets)
{
	packets->length = sizeof packets->header;
	packets->context.tid = UINT32_MAX;
}

struct packets *packets_new(struct ctf_writer *writer, const struct ctf_writer_options *options, uint32_t cpu)
{
	struct packets *packets = calloc(1, sizeof *packets);

	if (!packets || options->event_count >= PACKETS_TYPES_MAX)
		abort();
	packets->writer = writer;
	packets->cpu = cpu;
	for (size_t i = 0; i < options->event_count; i++)
		event_packed_init(&packets->layouts[EVENT_PACKED_ID_FIRST + i], options->events[i].type,
				  options->events[i].recorded);
	begin(packets);
	return packets;
}

static void put_word(struct packets *packets, uint32_t id, uint64_t ts)
{
	uint64_t word = event_packed_word(id, ts);

	memcpy(packets->bytes + packets->length, &word, sizeof word);
	packets->length += sizeof word;
}

static void put_context(struct packets *packets, const struct event_header *record)
{
	struct event_packed_context context = { .tid = record->tid, .pid = record->pid };

	memcpy(context.comm, record->comm, sizeof context.comm);
	if (memcmp(&context, &packets->context, sizeof context) == 0)
		return;
	packets->context = context;
	put_word(packets, EVENT_PACKED_ID_CONTEXT, record->ts);
	memcpy(packets->bytes + packets->length, &context, sizeof context);
	packets->length += sizeof context;
}

int packets_add(struct packets *packets, uint32_t id, const struct event_header *record)
{
	int64_t bytes;

	if (packets->length + EVENT_BYTES_MAX > sizeof packets->bytes) {
		int result = packets_flush(packets);

		if (result)
			return result;
	}
	if (packets->length == sizeof packets->header)
		packets->header.timestamp_begin = record->ts;
	put_context(packets, record);
	put_word(packets, id, record->ts);
	bytes = event_packed_encode(&packets->layouts[id], record, packets->bytes + packets->length,
				    sizeof packets->bytes - packets->length);
	if (bytes < 0)
		abort();
	packets->length += (size_t)bytes;
	packets->events++;
	return 0;
}

void packets_lose(struct packets *packets, uint64_t count)
{
	packets->lost += count;
}

int packets_flush(struct packets *packets)
{
	int result;

	memcpy(packets->bytes, &packets->header, sizeof packets->header);
	result = ctf_writer_packet(packets->writer, packets->cpu, packets->bytes, packets->length, packets->lost);
	packets->header.packet_seq_num++;
	packets->header.events_before = packets->events + packets->lost;
	begin(packets);
	return result;
}
