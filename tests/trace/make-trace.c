// SPDX-License-Identifier: BSD-2-Clause
/*
 * Writes a trace of made-up events, and on request the same events as JSON lines, in the order of a reader: by time,
 * then by processor. The same options give the same events.
 *
 *   make-trace [-n EVENTS] [-c CPUS] [-m MAX_BYTES] [-l LOST_EACH] [-M] [-j] [-k] DIR
 *
 * -l: every 1000th event LOST_EACH events are lost on its processor. -M: with two matches. -k: killed at the end, in
 * the middle of a packet.
 */

#include "packets.h"

#include "event/catalog.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TYPES = 3, CPUS_MAX = 64, EVENTS_PER_LOSS = 1000 };

static const char types[] = "EVENT tick { n: u64, part: u32 }\n"
			    "EVENT call { name: string[64], nr: i32, ok: bool, arg: addr, fd: i16, load: f64 }\n"
			    "EVENT idle { }\n";
static const char *const names[TYPES] = { "tick", "call", "idle" };

struct maker {
	struct ctf_writer *writer;
	struct event_catalog *catalog;
	const struct event_type *types[TYPES];
	struct packets *cpus[CPUS_MAX];
	uint32_t cpu_count;
	uint64_t count, lost_each, max_bytes;
	bool has_json, has_matches;
	_Alignas(8) char record[EVENT_RECORD_BYTES_MAX];
};

static struct asterism_diag *diag;

static void must(int result)
{
	const struct asterism_message *message = diag ? asterism_diag_get(diag, 0) : NULL;

	if (!result)
		return;
	if (message)
		fprintf(stderr, "make-trace: %s: %s\n", message->file, message->text);
	else
		fprintf(stderr, "make-trace: error %d\n", result);
	exit(1);
}

static void set(struct maker *maker, const struct event_type *type, const char *name, uint64_t value)
{
	memcpy(maker->record + event_field_find(type, name)->offset, &value, sizeof value);
}

static unsigned fill(struct maker *maker, uint64_t i, double *load)
{
	struct event_header *header = (struct event_header *)maker->record;
	unsigned kind = i % 7 == 6 ? 2 : i % 3 == 2;
	const struct event_type *type = maker->types[kind];

	memset(maker->record, 0, type->record_bytes);
	header->ts = 1000000000 + i / maker->cpu_count * 100;
	header->cpu = (uint32_t)(i % maker->cpu_count);
	header->pid = 100 + (uint32_t)(i / 16 % 5);
	header->tid = header->pid + (uint32_t)(i / 8 % 2);
	snprintf(header->comm, sizeof header->comm, "task%u", header->tid);
	*load = (double)i / 4;
	if (kind == 0) {
		set(maker, type, "n", i);
		set(maker, type, "part", (uint32_t)(i * 3));
	} else if (kind == 1) {
		set(maker, type, "nr", (uint64_t)(int64_t)((int)(i % 9) - 4));
		set(maker, type, "ok", i % 2);
		set(maker, type, "arg", UINT64_MAX - i);
		set(maker, type, "fd", (uint64_t)(int64_t) - (int)(i % 100));
		memcpy(maker->record + event_field_find(type, "load")->offset, load, sizeof *load);
		snprintf(maker->record + event_field_find(type, "name")->offset, 64, "/tmp/file%" PRIu64, i % 1000);
	}
	return kind;
}

static void print(const struct maker *maker, unsigned kind, uint64_t i, double load)
{
	const struct event_header *header = (const struct event_header *)maker->record;

	printf("{\"event\":\"%s\",\"ts\":%" PRIu64 ",\"cpu\":%u,\"pid\":%u,\"tid\":%u,\"comm\":\"%s\"", names[kind],
	       header->ts, header->cpu, header->pid, header->tid, header->comm);
	if (kind == 0)
		printf(",\"n\":%" PRIu64 ",\"part\":%u", i, (uint32_t)(i * 3));
	if (kind == 1)
		printf(",\"name\":\"/tmp/file%" PRIu64 "\",\"nr\":%d,\"ok\":%s,\"arg\":%" PRIu64
		       ",\"fd\":%d,\"load\":%.17g",
		       i % 1000, (int)(i % 9) - 4, i % 2 ? "true" : "false", UINT64_MAX - i, -(int)(i % 100), load);
	puts("}");
}

static void make(struct maker *maker)
{
	for (uint64_t i = 0; i < maker->count; i++) {
		double load;
		unsigned kind = fill(maker, i, &load);
		struct packets *cpu = maker->cpus[i % maker->cpu_count];

		if (i % EVENTS_PER_LOSS == EVENTS_PER_LOSS - 1 && maker->lost_each) {
			must(packets_flush(cpu));
			packets_lose(cpu, maker->lost_each);
		}
		must(packets_add(cpu, EVENT_PACKED_ID_FIRST + kind, (struct event_header *)maker->record));
		if (maker->has_json)
			print(maker, kind, i, load);
	}
	for (uint32_t i = 0; i < maker->cpu_count; i++)
		must(packets_flush(maker->cpus[i]));
}

static void mark(struct maker *maker)
{
	const struct ctf_match matches[] = {
		{ 1000000100, 1, 100, 101, "task101", "slow", "n=3 name=\"x\"", false },
		{ 1000000200, 0, 100, 100, "task100", "gone", "", true },
	};

	for (size_t i = 0; i < sizeof matches / sizeof *matches; i++)
		must(ctf_writer_match(maker->writer, &matches[i]));
}

static void open_maker(struct maker *maker, const char *folder)
{
	struct ctf_writer_event events[TYPES] = { 0 };
	const struct ctf_writer_options options = {
		.events = events,
		.event_count = TYPES,
		.stream_count = maker->cpu_count,
		.max_bytes = maker->max_bytes,
		.wall_ns = UINT64_C(1700000000123456789),
	};

	diag = asterism_diag_new();
	maker->catalog = event_catalog_new();
	must(event_catalog_parse(maker->catalog, "types", types, strlen(types), NULL));
	for (unsigned i = 0; i < TYPES; i++)
		events[i].type = maker->types[i] = event_catalog_find(maker->catalog, names[i]);
	must(ctf_writer_new(folder, &options, diag, &maker->writer));
	for (uint32_t i = 0; i < maker->cpu_count; i++)
		maker->cpus[i] = packets_new(maker->writer, &options, i);
}

/* As kill -9 would leave the trace: the last packet of processor 0 is there in part. */
static void cut(const char *folder)
{
	char path[4096];
	FILE *file;

	snprintf(path, sizeof path, "%s/stream_0", folder);
	file = fopen(path, "r+");
	if (!file || fseek(file, 0, SEEK_END) || ftruncate(fileno(file), ftell(file) - 100))
		must(-1);
	fclose(file);
}

int main(int argc, char **argv)
{
	static struct maker maker = { .count = 10000, .cpu_count = 2 };
	bool is_killed = false;
	int option;

	while ((option = getopt(argc, argv, "n:c:m:l:Mjk")) != -1) {
		switch (option) {
		case 'n':
			maker.count = strtoull(optarg, NULL, 10);
			break;
		case 'c':
			maker.cpu_count = (uint32_t)strtoul(optarg, NULL, 10);
			break;
		case 'm':
			maker.max_bytes = strtoull(optarg, NULL, 10);
			break;
		case 'l':
			maker.lost_each = strtoull(optarg, NULL, 10);
			break;
		case 'M':
			maker.has_matches = true;
			break;
		case 'j':
			maker.has_json = true;
			break;
		case 'k':
			is_killed = true;
			break;
		default:
			return 2;
		}
	}
	if (optind + 1 != argc || maker.cpu_count < 1 || maker.cpu_count > CPUS_MAX)
		return fputs("usage: make-trace [-n EVENTS] [-c CPUS] ... DIR\n", stderr), 2;
	open_maker(&maker, argv[optind]);
	make(&maker);
	if (maker.has_matches)
		mark(&maker);
	must(ctf_writer_close(maker.writer));
	if (is_killed)
		cut(argv[optind]);
	return 0;
}
