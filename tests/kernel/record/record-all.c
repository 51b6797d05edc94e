// SPDX-License-Identifier: BSD-2-Clause
/*
 * Every event type of the catalog as a recorded one: the verifier takes its program, alone and together with all
 * others, and while a child is busy every event of its story can be decoded to the last byte. Then memory runs out at
 * one allocation after the other while a recorder is made. Where not "every" one is asked for, types whose programs
 * are alike have one of them stand for all when they are loaded alone, and not each later allocation fails.
 *
 * usage: record-all CATALOG [cautious] [every]
 */

#include "alike.h"
#include "base/alloc.h"
#include "ebpf/recorder/record.h"
#include "gate.h"
#include "source-harness.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SUB_BYTES = 64 * 1024, SUB_COUNT = 256, EVERY_ONE = 50, RARER = 7 };

struct all {
	struct ebpf_record_type *types;
	struct event_packed *layouts;
	bool *seen;
	size_t count;
	bool cautious, every;
};

static void find_types(struct all *all, const struct harness *harness)
{
	size_t capacity = 0;
	char reason[256];

	for (size_t i = 0; event_catalog_get(harness->catalog, i); i++) {
		const struct event_type *type = event_catalog_get(harness->catalog, i);
		bool available = false;

		for (uint32_t j = 0; j < type->hook_count && !available; j++)
			available = source_available(harness->btf, type, j, reason, sizeof reason) > 0;
		if (!available || alloc_grow(&all->types, &capacity, all->count, sizeof *all->types))
			continue;
		all->types[all->count] = (struct ebpf_record_type){ .type = type, .id = (uint16_t)(all->count + 1) };
		all->count++;
	}
	all->layouts = alloc_zero(all->count, sizeof *all->layouts);
	all->seen = alloc_zero(all->count, sizeof *all->seen);
	for (size_t i = 0; i < all->count; i++)
		event_packed_init(&all->layouts[i], all->types[i].type, NULL);
}

static struct ebpf_recorder *make(const struct all *all, size_t first, size_t count, struct asterism_diag *diag)
{
	struct ebpf_recorder_options options = {
		.types = all->types + first,
		.count = count,
		.scope = EBPF_SCOPE_TREE,
		.sub_bytes = count == 1 ? 16384 : SUB_BYTES,
		.sub_count = count == 1 ? 2 : SUB_COUNT,
		.cautious = all->cautious,
	};
	struct ebpf_recorder *recorder = NULL;
	const struct asterism_message *message;

	int result = ebpf_recorder_new(&options, diag, &recorder);

	for (size_t i = 0; result && (message = asterism_diag_get(diag, i)); i++)
		printf("#   %s\n", message->text);
	return recorder;
}

static void check_alone(const struct all *all)
{
	struct alike alike = { 0 };
	size_t loaded = 0;

	for (size_t i = 0; i < all->count; i++) {
		if (alike_before(&alike, all->types[i].type) && !all->every)
			continue;
		loaded++;
		struct asterism_diag *diag = asterism_diag_new();
		struct ebpf_recorder *recorder = make(all, i, 1, diag);

		if (!recorder)
			check_failed(all->types[i].type->name, 0, "the program loads");
		ebpf_recorder_free(recorder);
		asterism_diag_free(diag);
	}
	printf("# %zu of %zu types alone\n", loaded, all->count);
	CHECK(alike.count > 90);
	alike_fini(&alike);
}

static pid_t start(struct gate *gate)
{
	static const char script[] = "for i in 1 2 3 4 5; do ls -lR /proc/self/ /etc >/dev/null 2>&1; (sleep 0.01) & "
				     "cat /proc/cpuinfo | grep -c model >/dev/null; wait; done";
	pid_t pid = gate_fork(gate);

	if (pid)
		return pid;
	gate_wait(gate);
	execl("/bin/sh", "sh", "-c", script, (char *)NULL);
	_exit(3);
}

static void check_part(const struct all *all, const char *buffer, const struct ring_part *part)
{
	static _Alignas(8) char record[EVENT_RECORD_BYTES_MAX];
	size_t offset = sizeof(struct ring_packet);
	uint64_t events = 0, word;

	while (offset < part->bytes) {
		memcpy(&word, buffer + offset, sizeof word);
		uint32_t id = event_packed_word_id(word);

		offset += sizeof word;
		if (id == EVENT_PACKED_ID_CONTEXT) {
			offset += sizeof(struct event_packed_context);
			continue;
		}
		if (id == EVENT_PACKED_ID_LATE) {
			offset += sizeof(struct event_packed_late);
			continue;
		}
		if (id > all->count) {
			check_failed("an event", (int)id, "has a known id");
			return;
		}
		int64_t bytes = event_packed_decode(&all->layouts[id - 1], buffer + offset, part->bytes - offset,
						    (void *)record);

		if (bytes < 0) {
			check_failed(all->types[id - 1].type->name, 0, "can be decoded");
			return;
		}
		for (size_t i = (size_t)bytes; i < event_packed_round((size_t)bytes); i++)
			CHECK_EQUAL(buffer[offset + i], 0);
		offset += event_packed_round((size_t)bytes);
		all->seen[id - 1] = true;
		events++;
	}
	CHECK_EQUAL(offset, part->bytes);
	CHECK_EQUAL(events, part->events);
}

static uint64_t read_rings(const struct all *all, const struct ebpf_recorder *recorder)
{
	static char buffer[SUB_BYTES];
	struct ring_part part;
	uint64_t events = 0;

	for (uint32_t cpu = 0; cpu < ebpf_recorder_cpu_count(recorder); cpu++) {
		const struct ring *ring = ebpf_recorder_ring(recorder, cpu);
		struct ring_cursor cursor = { 0 };
		uint64_t handed_out = 0;
		int result;

		while ((result = ring_finish(ring, &cursor, buffer, &part)) == 1) {
			check_part(all, buffer, &part);
			handed_out += part.events;
		}
		CHECK_EQUAL(result, 0);
		CHECK_EQUAL(handed_out + cursor.lost, ring_written(ring));
		events += handed_out;
	}
	return events;
}

static void check_together(const struct all *all)
{
	struct asterism_diag *diag = asterism_diag_new();
	uint64_t missed, wait_ns, events;
	struct gate gate;
	int status;
	size_t seen = 0;
	pid_t pid = start(&gate);
	struct ebpf_recorder *recorder = make(all, 0, all->count, diag);

	CHECK(recorder);
	if (!recorder)
		exit(1);
	CHECK_EQUAL(ebpf_recorder_add(recorder, pid), 0);
	CHECK_EQUAL(ebpf_recorder_attach(recorder, diag), 0);
	CHECK_EQUAL(gate_open(&gate), 0);
	CHECK_EQUAL(waitpid(pid, &status, 0), pid);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	CHECK_EQUAL(ebpf_recorder_poll(recorder, &missed, &wait_ns), 0);
	size_t programs = ebpf_recorder_programs(recorder);

	ebpf_recorder_detach(recorder);
	events = read_rings(all, recorder);
	CHECK(events > 1000);
	CHECK_EQUAL(ebpf_recorder_dropped(recorder), 0);
	for (size_t i = 0; i < all->count; i++)
		seen += all->seen[i];
	printf("# %zu types in %zu programs: %llu events of %zu types, %llu firings missed\n", all->count, programs,
	       (unsigned long long)events, seen, (unsigned long long)missed);
	CHECK(seen > 40);
	ebpf_recorder_free(recorder);
	asterism_diag_free(diag);
	gate_close(&gate);
}

static void check_faults(const struct all *all)
{
	const struct ebpf_recorder_options options = {
		.types = all->types, .count = 3, .scope = EBPF_SCOPE_TREE, .sub_bytes = 16384, .sub_count = 2
	};
	unsigned long n;
	int result = -ENOMEM;

	for (n = 1; result && check_failures == 0; n += all->every || n < EVERY_ONE ? 1 : RARER) {
		struct asterism_diag *diag = asterism_diag_new();
		struct ebpf_recorder *recorder = NULL;
		size_t before = harness_descriptors();

		alloc_fail_at(n);
		result = ebpf_recorder_new(&options, diag, &recorder);
		alloc_fail_at(0);
		CHECK(result == 0 || result == -ENOMEM);
		CHECK_EQUAL(asterism_diag_count(diag, ASTERISM_ERROR) > 0, result != 0);
		ebpf_recorder_free(recorder);
		CHECK_EQUAL(harness_descriptors(), before);
		asterism_diag_free(diag);
	}
	printf("# memory ran out at up to %lu allocations\n", n);
}

static bool is_given(int argc, char **argv, const char *word)
{
	for (int i = 2; i < argc; i++) {
		if (strcmp(argv[i], word) == 0)
			return true;
	}
	return false;
}

static void check_refusal(const struct all *all, uint32_t sub_bytes, uint32_t sub_count, const char *text)
{
	const struct ebpf_recorder_options options = {
		.types = all->types, .count = all->count, .sub_bytes = sub_bytes, .sub_count = sub_count
	};
	struct asterism_diag *diag = asterism_diag_new();
	struct ebpf_recorder *recorder = NULL;

	CHECK_EQUAL(ebpf_recorder_new(&options, diag, &recorder), -EINVAL);
	CHECK(asterism_diag_get(diag, 0) && strstr(asterism_diag_get(diag, 0)->text, text));
	ebpf_recorder_free(recorder);
	asterism_diag_free(diag);
}

int main(int argc, char **argv)
{
	struct harness harness;
	struct all all = { .cautious = is_given(argc, argv, "cautious"), .every = is_given(argc, argv, "every") };
	int result = harness_init(&harness, argc > 1 ? argv[1] : "catalogs/linux.events");

	if (result)
		return result;
	find_types(&all, &harness);
	check_alone(&all);
	check_together(&all);
	/* Neither depends on the form of the programs. */
	if (!all.cautious) {
		check_refusal(&all, 5000, 2, "powers of two");
		check_refusal(&all, 4096, 1, "powers of two");
		check_refusal(&all, 256, 2, "too small for the event");
		check_faults(&all);
	}
	alloc_free(all.types);
	alloc_free(all.layouts);
	alloc_free(all.seen);
	harness_fini(&harness);
	printf("%d failures\n", check_failures);
	return check_failures > 0;
}
