// SPDX-License-Identifier: BSD-2-Clause
/* Runs events from user space through the generated code: a program per type and part of its code. */

#include "ebpf/feed.h"

#include "base/alloc.h"
#include "ebpf/kernel/load.h"
#include "ebpf/matcher/matcher-priv.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

struct feed {
	struct ebpf_matcher *matcher;
	int **programs; /* per type, per part */
	uint64_t latest;
};

static int load_part(struct feed *feed, uint32_t type, uint32_t part, struct asterism_diag *diag)
{
	struct ebpf_matcher *matcher = feed->matcher;
	struct ebpf_load_options options = { .name = "asterism_feed",
					     .type = BPF_PROG_TYPE_RAW_TRACEPOINT,
					     .features = matcher->options.features,
					     .log_level = matcher->options.log_level };
	struct ebpf_asm *as = ebpf_asm_new();

	if (!as)
		return diag_no_memory(diag);
	ebpf_load_value(as, R6, matcher->memory.maps[matcher->memory.feed.map].fd, matcher->memory.feed.off);
	ebpf_matcher_begin(matcher, as, &(struct ebpf_matcher_part){ type, part }, 1);
	ebpf_matcher_emit(matcher, as, type, part, 0);
	ebpf_return(as, 0);
	int fd = ebpf_load_program(as, &options, diag);

	ebpf_asm_free(as);
	feed->programs[type][part] = fd;
	return fd < 0 ? fd : 0;
}

static int load_type(struct feed *feed, uint32_t type, struct asterism_diag *diag)
{
	uint32_t parts = ebpf_matcher_parts(feed->matcher, type);
	int error = 0;

	feed->programs[type] = alloc_zero(parts, sizeof **feed->programs);
	if (!feed->programs[type])
		return diag_no_memory(diag);
	for (uint32_t part = 0; part < parts; part++)
		feed->programs[type][part] = -1;
	for (uint32_t part = 0; part < parts && !error; part++)
		error = load_part(feed, type, part, diag);
	return error;
}

int feed_new(struct ebpf_matcher *matcher, struct asterism_diag *diag, struct feed **made)
{
	struct feed *feed = alloc_zero(1, sizeof *feed);
	int error = 0;

	if (!feed)
		return diag_no_memory(diag);
	feed->matcher = matcher;
	feed->programs = alloc_zero(matcher->program->type_count, sizeof *feed->programs);
	if (!feed->programs)
		error = diag_no_memory(diag);
	for (uint32_t type = 0; type < matcher->program->type_count && !error; type++)
		error = load_type(feed, type, diag);
	if (error)
		feed_free(feed);
	else
		*made = feed;
	return error;
}

void feed_free(struct feed *feed)
{
	if (!feed)
		return;
	for (uint32_t type = 0; feed->programs && type < feed->matcher->program->type_count; type++) {
		uint32_t parts = feed->programs[type] ? ebpf_matcher_parts(feed->matcher, type) : 0;

		for (uint32_t part = 0; part < parts; part++)
			if (feed->programs[type][part] >= 0)
				close(feed->programs[type][part]);
		alloc_free(feed->programs[type]);
	}
	alloc_free(feed->programs);
	alloc_free(feed);
}

static int run_feed_program(struct feed *feed, const struct event_header *record, uint32_t type)
{
	const struct program *program = feed->matcher->program;
	struct event_header *copy = memory_at(&feed->matcher->memory, &feed->matcher->memory.feed);

	if (program->types[type].record_bytes > EVENT_RECORD_BYTES_MAX)
		return -EINVAL;
	memcpy(copy, record, program->types[type].record_bytes);
	copy->type = type;
	if (!event_is_late(record))
		copy->ts = feed->latest;
	matcher_begin_number(feed->matcher);
	for (uint32_t part = 0; part < ebpf_matcher_parts(feed->matcher, type); part++) {
		/* Always the same CPU: counts per CPU then tell the order of runs. */
		LIBBPF_OPTS(bpf_test_run_opts, opts, .flags = BPF_F_TEST_RUN_ON_CPU);
		int result = bpf_prog_test_run_opts(feed->programs[type][part], &opts);

		if (result)
			return result;
	}
	return matcher_inbox_drain(feed->matcher);
}

int feed_time(struct feed *feed, uint64_t now_ns)
{
	if (now_ns > feed->latest)
		feed->latest = now_ns;
	return matcher_sweep_to(feed->matcher, feed->latest);
}

int feed_event(struct feed *feed, const struct event_header *record)
{
	uint32_t type = event_type_of(record);
	int result = feed_time(feed, record->ts);

	feed->matcher->sweep.seq = record->seq;
	if (result || type >= feed->matcher->program->type_count)
		return result;
	return run_feed_program(feed, record, type);
}
