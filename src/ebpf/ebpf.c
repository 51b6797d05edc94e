// SPDX-License-Identifier: BSD-2-Clause
/* Assembles an executor: a matcher, and either the kernel's tracepoints or test runs that feed it. */

#include "ebpf/ebpf.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "ebpf/feed.h"
#include "ebpf/kernel/btf-kernel.h"
#include "ebpf/kernel/btf-path.h"
#include "ebpf/kernel/probe.h"
#include "ebpf/matcher/stops.h"
#include "ebpf/recorder/record-priv.h"
#include "ebpf/run-time.h"
#include "ebpf/source/plan.h"
#include "ebpf/source/io-uring.h"
#include "ebpf/source/set.h"
#include "event/about.h"
#include "program/query.h"
#include "program/reads.h"

#include <errno.h>
#include <linux/btf.h>
#include <linux/membarrier.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	LIVE_RING_BYTES = 1 << 20,
	TEST_RING_BYTES = 1 << 24,
	PART_INSNS = 20000,
	PART_INSNS_LEAST = 1000,
};

/*
 * An event is processed within this time after its clock was read, unless the machine stops: only then a deadline is
 * taken to be over, so that an event in time is not beaten by the sweep.
 */
static const uint64_t grace_ns = 1000 * 1000;

/* How long matches wait at most where they do not wake us. */
static const uint64_t silent_wait_ns = 5 * 1000 * 1000;

struct ebpf {
	const struct program *program;
	struct ebpf_features features;
	struct btf_kernel *btf;
	struct ebpf_matcher *matcher;
	struct feed *feed; /* test runs */
	struct source_set *sources;
	bool shows_records; /* the verifier lets the program under way show them to functions that it follows once */
	struct source_want *wants;
	struct ebpf_needs *needs;
	size_t want_count;
	bool *from_interrupt;
	bool *may_be_unread;             /* per field of the program */
	uint64_t *io_uring;              /* per type: opcodes of operations that stand for calls of which it tells */
	const struct event_type **types; /* of the catalog, by the program's index; NULL: not asked for */
	uint32_t part_insns;             /* how large the parts of the matcher's code may be */
	uint64_t ended_ns;               /* when it was detached; 0: not yet */
	uint64_t fed;
	uint64_t reported; /* losses that every rule has counted */
	struct ebpf_acts acts;
	struct ebpf_recorder *recorder; /* guest, or NULL */
	bool of_locks;                  /* some rule is about the kernel's locks */
	bool waits;                     /* some matches do not wake us */
	bool ships;
	int both_fd; /* where ships: readable when there are matches or events */
};

/* Whether a rule that runs here, or rather one that is excluded, wants events of type. */
static bool wanted(const struct ebpf *ebpf, const struct ebpf_options *options, uint32_t type, bool is_excluded)
{
	for (uint32_t i = 0; i < ebpf->program->rule_count; i++) {
		const struct program_rule *rule = &ebpf->program->rules[i];

		if ((options->excluded && options->excluded[i]) != is_excluded)
			continue;
		if (is_excluded && rule->flags & PROGRAM_RULE_OVER_ALL)
			return true;
		if (program_rule_lists(ebpf->program, rule, type))
			return true;
	}
	return false;
}

static bool is_type_shipped(const struct ebpf *ebpf, const struct ebpf_options *options, uint32_t type)
{
	if (ebpf->types[type] && !ebpf->types[type]->hook_count)
		return false; /* only rules raise it */
	return options->on_event && wanted(ebpf, options, type, true);
}

/* The catalog's types behind the program's, and which of them may be raised in an interrupt. */
static int find_program_types(struct ebpf *ebpf, struct event_catalog *catalog, const struct ebpf_options *options,
			      struct asterism_diag *diag)
{
	const struct program *program = ebpf->program;

	ebpf->types = alloc_zero(program->type_count, sizeof *ebpf->types);
	ebpf->from_interrupt = alloc_zero(program->type_count, sizeof *ebpf->from_interrupt);
	ebpf->may_be_unread = alloc_zero(program->field_count, sizeof *ebpf->may_be_unread);
	ebpf->io_uring = alloc_zero(program->type_count, sizeof *ebpf->io_uring);
	if (!ebpf->types || !ebpf->io_uring || !ebpf->from_interrupt || !ebpf->may_be_unread)
		return diag_no_memory(diag);
	for (uint32_t i = 0; i < program->type_count; i++) {
		const char *name = program_text(program, program->types[i].name);

		if (!wanted(ebpf, options, i, false) && !is_type_shipped(ebpf, options, i))
			continue;
		ebpf->types[i] = event_catalog_find(catalog, name);
		if (!ebpf->types[i])
			return diag_error(diag, NULL, -EOPNOTSUPP, "no catalog declares the event %s", name);
		if (!event_about_extends(ebpf->types[i], program->types[i].field_count, program->types[i].record_bytes))
			return diag_error(diag, NULL, -EINVAL,
					  "the rules were compiled with another catalog: its event %s has other fields",
					  name);
		ebpf->from_interrupt[i] = source_may_interrupt(ebpf->types[i]);
		if (io_uring_opcodes(ebpf->types[i], &ebpf->io_uring[i]))
			return diag_no_memory(diag);
		ebpf->of_locks |= source_is_of_locks(ebpf->types[i]);
		if (source_may_be_unread(ebpf->types[i], program->types[i].field_count,
					 &ebpf->may_be_unread[program->types[i].first_field]))
			return diag_no_memory(diag);
	}
	return 0;
}

static int32_t kernel_function(const struct ebpf *ebpf, const char *name)
{
	return ebpf->btf ? (int32_t)btf_kernel_find(ebpf->btf, BTF_KIND_FUNC, name) : 0;
}

static bool any(const bool *flags, uint32_t count)
{
	for (uint32_t i = 0; flags && i < count; i++)
		if (flags[i])
			return true;
	return false;
}

static int make_matcher(struct ebpf *ebpf, const struct ebpf_options *options, struct asterism_diag *diag)
{
	struct ebpf_matcher_options matcher = {
		.excluded = options->excluded,
		.may_be_unread = ebpf->may_be_unread,
		.from_interrupt = ebpf->from_interrupt,
		.features = &ebpf->features,
		.acts = ebpf->acts.allowed ? &ebpf->acts : NULL,
		.deliver_all = options->deliver_all,
		.live = !options->test_run,
		.counts_why = options->counts_why,
		.silent = ebpf->of_locks && !options->test_run,
		.log_level = options->verifier_log,
		.part_insns = ebpf->part_insns,
		.ring_bytes = options->test_run ? TEST_RING_BYTES : LIVE_RING_BYTES,
		.on_match = options->on_match,
		.context = options->context,
	};

	if (any(ebpf->from_interrupt, ebpf->program->type_count)) {
		matcher.irq_save = kernel_function(ebpf, "bpf_local_irq_save");
		matcher.irq_restore = kernel_function(ebpf, "bpf_local_irq_restore");
	}
	return ebpf_matcher_new(ebpf->program, &matcher, diag, &ebpf->matcher);
}

/* Whether rules are shown the events. */
static bool is_for_rules(const struct source_want *want)
{
	return want->needs && !want->packed && want->group != SOURCE_GROUP_OWN;
}

static void matcher_codegen_begin(void *context, struct ebpf_asm *as, const struct source_unit *unit,
				  const struct source_style *style, const struct scope *scope)
{
	struct ebpf *ebpf = context;
	struct ebpf_matcher_part *parts = alloc_zero(unit->entry_count, sizeof *parts);
	size_t count = 0;

	if (!parts)
		ebpf_asm_fail(as, -ENOMEM);
	for (size_t i = 0; parts && i < unit->entry_count; i++) {
		const struct source_want *want = unit->entries[i].want;

		if (is_for_rules(want))
			parts[count++] = (struct ebpf_matcher_part){ want->index, want->group };
	}
	/* Not on a stack whose holes must not be read, as before Linux 6.3; long jumps are of 6.6. */
	ebpf->shows_records = source_scratch_bytes(unit) || ebpf->features.long_jump;
	ebpf_matcher_set_place(ebpf->matcher, scope, style->past);
	ebpf_matcher_begin(ebpf->matcher, as, parts, count);
	alloc_free(parts);
}

static void matcher_emit_body(void *context, struct ebpf_asm *as, const struct source_entry *entry,
			      const struct source_style *style, const struct scope *scope)
{
	struct ebpf *ebpf = context;

	if (entry->want->packed)
		record_body(ebpf->recorder, as, entry, style, scope);
	else
		ebpf_matcher_emit(ebpf->matcher, as, entry->want->index, entry->want->group,
				  ebpf->shows_records ? (entry->extent + 7) / 8 * 8 : 0);
}

static void matcher_codegen_unread(void *context, struct ebpf_asm *as, const struct source_entry *entry,
				   const struct source_style *style, const struct scope *scope)
{
	struct ebpf *ebpf = context;

	if (entry->want->packed)
		record_unread(ebpf->recorder, as, entry, style, scope);
	else
		ebpf_matcher_emit_unread(ebpf->matcher, as, entry->want->index, entry->want->group,
					 source_asks_user(entry));
}

/* What rules elsewhere ask of the events of type. */
static const bool *asked_elsewhere(const struct ebpf *ebpf, const struct ebpf_options *options, uint32_t type,
				   struct ebpf_needs *asked)
{
	for (uint32_t i = 0; i < ebpf->program->rule_count; i++)
		if (options->excluded && options->excluded[i])
			program_rule_reads(ebpf->program, i, type, asked->body);
	return asked->body;
}

/* One want per type and part of its code, and one per type whose whole events go to user space. */
static int make_source_wants(struct ebpf *ebpf, const struct ebpf_options *options, struct asterism_diag *diag)
{
	size_t count = ebpf->program->type_count, recorded = 0;
	const struct source_want *guests = options->recorder ? record_wants(options->recorder, &recorded) : NULL;

	count += recorded;
	for (uint32_t type = 0; type < ebpf->program->type_count; type++)
		count += ebpf_matcher_parts(ebpf->matcher, type);
	ebpf->wants = alloc_zero(count, sizeof *ebpf->wants);
	ebpf->needs = alloc_zero(count, sizeof *ebpf->needs);
	if (!ebpf->wants || !ebpf->needs)
		return diag_no_memory(diag);
	for (size_t i = 0; i < recorded; i++) /* first, as they read the clock */
		ebpf->wants[ebpf->want_count++] = guests[i];
	for (uint32_t type = 0; type < ebpf->program->type_count; type++) {
		uint32_t parts = ebpf_matcher_parts(ebpf->matcher, type);

		if (is_type_shipped(ebpf, options, type)) {
			const bool *asked = asked_elsewhere(ebpf, options, type, &ebpf->needs[ebpf->want_count]);

			ebpf->wants[ebpf->want_count++] = (struct source_want){
				.type = ebpf->types[type],
				.index = type,
				.counted = parts == 0,
				.asked = asked,
			};
			ebpf->ships = true;
		}
		if (parts && !ebpf->types[type]->hook_count)
			continue; /* only rules raise it */
		for (uint32_t part = 0; part < parts; part++) {
			struct ebpf_needs *needs = &ebpf->needs[ebpf->want_count];

			ebpf_matcher_needs(ebpf->matcher, type, part, needs);
			ebpf->wants[ebpf->want_count++] = (struct source_want){ .type = ebpf->types[type],
										.index = type,
										.group = part,
										.counted = part == 0,
										.needs = needs };
		}
	}
	return 0;
}

/* Matches and shipped events come by descriptors of their own; ours is readable when one of them is. */
static int join_fds(struct ebpf *ebpf, struct asterism_diag *diag)
{
	const int fds[] = { ebpf_matcher_fd(ebpf->matcher), source_set_fd(ebpf->sources) };
	struct epoll_event event = { .events = EPOLLIN };

	ebpf->both_fd = epoll_create1(EPOLL_CLOEXEC);
	for (size_t i = 0; i < sizeof fds / sizeof *fds; i++) {
		if (ebpf->both_fd < 0 || (fds[i] >= 0 && epoll_ctl(ebpf->both_fd, EPOLL_CTL_ADD, fds[i], &event) < 0))
			return diag_error(diag, NULL, -errno, "cannot wait for events: %s", strerror(errno));
	}
	return 0;
}

/* The part that waits for the end of all stopping must know the programs before one of them can run. */
static int note_programs(const struct ebpf *ebpf, struct ebpf_stops *stops, struct asterism_diag *diag)
{
	int error = 0;

	for (size_t i = 0; i < source_set_programs(ebpf->sources) && !error; i++)
		error = ebpf_stops_add(stops, source_set_program(ebpf->sources, i));
	return error ? diag_error(diag, NULL, -EOPNOTSUPP, "too many BPF programs may stop processes") : 0;
}

static int make_sources(struct ebpf *ebpf, const struct ebpf_options *options, struct asterism_diag *diag)
{
	struct source_set_options sources = {
		.scope = options->scope,
		.filter = options->filter,
		.btf = ebpf->btf,
		.features = &ebpf->features,
		.log_level = options->verifier_log,
		.past_exec = options->past_exec,
		.begin = matcher_codegen_begin,
		.body = matcher_emit_body,
		.unread = matcher_codegen_unread,
		.body_context = ebpf,
		.news = options->news,
	};
	int error = make_source_wants(ebpf, options, diag);

	if (error)
		return error;
	sources.wants = ebpf->wants;
	sources.count = ebpf->want_count;
	if (ebpf->ships)
		sources.ship = (struct ship_options){
			.on_event = options->on_event,
			.on_lost = options->on_lost,
			.context = options->event_context,
		};
	error = source_set_new(&sources, diag, &ebpf->sources);
	if (!error && ebpf->ships)
		error = join_fds(ebpf, diag);
	if (!error && options->stops)
		error = note_programs(ebpf, options->stops, diag);
	return error;
}

static int make_programs(struct ebpf *ebpf, const struct ebpf_options *options, struct asterism_diag *diag)
{
	int error = make_matcher(ebpf, options, diag);

	if (error)
		return error;
	ebpf->waits = ebpf_matcher_waits(ebpf->matcher);
	error = options->test_run ? feed_new(ebpf->matcher, diag, &ebpf->feed) : make_sources(ebpf, options, diag);
	if (!error)
		error = ebpf_matcher_ready(ebpf->matcher, diag);
	return error || options->test_run ? error : source_set_attach(ebpf->sources, diag);
}

static void close_programs(struct ebpf *ebpf)
{
	source_set_free(ebpf->sources);
	if (ebpf->both_fd >= 0)
		close(ebpf->both_fd);
	feed_free(ebpf->feed);
	ebpf_matcher_free(ebpf->matcher);
	alloc_free(ebpf->wants);
	alloc_free(ebpf->needs);
	ebpf->sources = NULL;
	ebpf->both_fd = -1;
	ebpf->feed = NULL;
	ebpf->matcher = NULL;
	ebpf->wants = NULL;
	ebpf->needs = NULL;
	ebpf->want_count = 0;
}

/*
 * How much work code makes for the verifier cannot be foretold, so large parts are tried first. Only an attempt that is
 * not followed by another one may speak.
 */
static int make_in_parts(struct ebpf *ebpf, const struct ebpf_options *options, struct asterism_diag *diag)
{
	for (ebpf->part_insns = PART_INSNS; ebpf->part_insns > PART_INSNS_LEAST; ebpf->part_insns /= 4) {
		struct asterism_diag *said = asterism_diag_new();
		int error = make_programs(ebpf, options, said);

		if (!error)
			diag_take(diag, said);
		asterism_diag_free(said);
		if (!error)
			return 0;
		close_programs(ebpf);
		if (error != -E2BIG)
			break;
	}
	return make_programs(ebpf, options, diag);
}

/* What this kernel offers for acting upon processes other than the current one. */
static void find_acts(struct ebpf *ebpf, const struct ebpf_options *options)
{
	const struct event_path_step hop = { .member = "tgid" };
	struct btf_path path = { .from_struct = true, .hops = &hop, .count = 1 };
	struct btf_access access;
	char reason[128];

	ebpf->acts = (struct ebpf_acts){ .allowed = options->allowed,
					 .anywhere = options->anywhere,
					 .stops_fd = options->stops ? options->stops->map.fd : 0 };
	if (!ebpf->acts.allowed)
		return;
	path.type = btf_kernel_find(ebpf->btf, BTF_KIND_STRUCT, "task_struct");
	if (!path.type || btf_path_resolve(ebpf->btf, &path, &access, reason, sizeof reason))
		return;
	ebpf->acts.tgid_offset = access.spot.offset;
	ebpf->acts.task_from_pid = kernel_function(ebpf, "bpf_task_from_pid");
	ebpf->acts.task_release = kernel_function(ebpf, "bpf_task_release");
	if (ebpf->acts.task_from_pid && ebpf->acts.task_release)
		ebpf->acts.send_signal_task = kernel_function(ebpf, "bpf_send_signal_task");
}

static int make_parts(struct ebpf *ebpf, struct event_catalog *catalog, const struct ebpf_options *options,
		      struct asterism_diag *diag)
{
	int error = probe_features(&ebpf->features, diag);

	if (!error && !options->test_run)
		error = btf_kernel_open(diag, &ebpf->btf);
	if (!error && !options->test_run)
		error = find_program_types(ebpf, catalog, options, diag);
	if (!error && ebpf->btf)
		find_acts(ebpf, options);
	return error ? error : make_in_parts(ebpf, options, diag);
}

int ebpf_new(const struct program *program, struct event_catalog *catalog, const struct ebpf_options *options,
	     struct asterism_diag *diag, struct ebpf **made)
{
	struct ebpf *ebpf = alloc_zero(1, sizeof *ebpf);

	if (!ebpf)
		return diag_no_memory(diag);
	ebpf->program = program;
	ebpf->recorder = options->recorder;
	ebpf->both_fd = -1;
	int error = make_parts(ebpf, catalog, options, diag);

	btf_kernel_close(ebpf->btf);
	ebpf->btf = NULL;
	if (error)
		ebpf_free(ebpf);
	else
		*made = ebpf;
	return error;
}

void ebpf_detach(struct ebpf *ebpf)
{
	ebpf->ended_ns = clock_now_ns();
	if (ebpf->sources)
		source_set_detach(ebpf->sources);
	/* Programs that still run on other CPUs come to their end: this waits for a grace period. */
	syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
}

void ebpf_free(struct ebpf *ebpf)
{
	if (!ebpf)
		return;
	close_programs(ebpf);
	alloc_free(ebpf->types);
	alloc_free(ebpf->io_uring);
	alloc_free(ebpf->from_interrupt);
	alloc_free(ebpf->may_be_unread);
	alloc_free(ebpf);
}

int ebpf_scope_add(struct ebpf *ebpf, pid_t pid)
{
	return ebpf->sources ? source_set_add(ebpf->sources, pid) : -EINVAL;
}

bool ebpf_scope_has(const struct ebpf *ebpf, pid_t pid)
{
	return ebpf->sources && source_set_has(ebpf->sources, pid);
}

void ebpf_run_time(const struct ebpf *ebpf, struct ebpf_run_time *time)
{
	*time = (struct ebpf_run_time){ 0 };
	if (ebpf->sources)
		run_time_of_sources(ebpf->sources, time);
}

void ebpf_count_why(const struct ebpf *ebpf, uint32_t rule, uint64_t *counts)
{
	ebpf_matcher_count_why(ebpf->matcher, rule, counts);
}

void ebpf_tally(const struct ebpf *ebpf, uint32_t statement, uint64_t *buckets)
{
	ebpf_matcher_tally(ebpf->matcher, statement, buckets);
}

void ebpf_source(const struct ebpf *ebpf, struct aggregate_source *source)
{
	ebpf_matcher_source(ebpf->matcher, source);
}

int ebpf_fd(const struct ebpf *ebpf)
{
	return ebpf->ships ? ebpf->both_fd : ebpf_matcher_fd(ebpf->matcher);
}

int ebpf_poll(struct ebpf *ebpf, uint64_t *wait_ns)
{
	uint64_t lost = 0, matcher_wait_ns;
	int result;

	*wait_ns = UINT64_MAX;
	if (ebpf->feed)
		return 0;
	result = source_set_poll(ebpf->sources, ebpf->ended_ns != 0, &lost, wait_ns);
	if (result)
		return result;
	if (lost) {
		ebpf_matcher_lose(ebpf->matcher, lost);
		if (ebpf->recorder)
			record_missed(ebpf->recorder, lost);
		ebpf->reported += lost;
	}
	if (ebpf->recorder)
		record_bypassed(ebpf->recorder, ebpf->sources);
	result = ebpf_matcher_poll(ebpf->matcher, ebpf->ended_ns ? ebpf->ended_ns : clock_now_ns() - grace_ns,
				   &matcher_wait_ns);
	if (matcher_wait_ns < *wait_ns)
		*wait_ns = matcher_wait_ns;
	if ((ebpf->of_locks || ebpf->waits) && *wait_ns > silent_wait_ns)
		*wait_ns = silent_wait_ns;
	return result;
}

int ebpf_feed(struct ebpf *ebpf, const struct event_header *record)
{
	if (!ebpf->feed)
		return -EINVAL;
	ebpf->fed++;
	return feed_event(ebpf->feed, record);
}

int ebpf_advance(struct ebpf *ebpf, uint64_t now_ns)
{
	return ebpf->feed ? feed_time(ebpf->feed, now_ns) : -EINVAL;
}

void ebpf_stats(const struct ebpf *ebpf, uint32_t rule, struct program_rule_stats *stats)
{
	ebpf_matcher_stats(ebpf->matcher, rule, stats);
}

uint64_t ebpf_events(const struct ebpf *ebpf)
{
	return ebpf->sources ? source_set_events(ebpf->sources) : ebpf->fed;
}

uint64_t ebpf_calls_32bit(const struct ebpf *ebpf, uint32_t rule)
{
	const struct program *program = ebpf->program;

	for (uint32_t type = 0; ebpf->sources && type < program->type_count; type++)
		if (ebpf->types[type] && source_is_of_calls(ebpf->types[type]) &&
		    program_rule_sees(program, &program->rules[rule], type))
			return source_set_calls_32bit(ebpf->sources);
	return 0;
}

uint64_t ebpf_io_uring(const struct ebpf *ebpf, uint32_t rule)
{
	const struct program *program = ebpf->program;
	uint64_t opcodes = 0;

	for (uint32_t type = 0; ebpf->sources && type < program->type_count; type++)
		if (program_rule_sees(program, &program->rules[rule], type))
			opcodes |= ebpf->io_uring[type];
	return opcodes ? source_set_io_uring(ebpf->sources, opcodes) : 0;
}

uint64_t ebpf_replaced(const struct ebpf *ebpf)
{
	return ebpf->sources ? source_set_replaced(ebpf->sources) : 0;
}

/* What every rule was told of counts once; what a rule lost by itself - matches without room in the ring - as it is. */
uint64_t ebpf_lost(const struct ebpf *ebpf)
{
	uint64_t lost = ebpf->sources ? source_set_lost(ebpf->sources) : 0;

	for (uint32_t i = 0; i < ebpf->program->rule_count; i++) {
		struct program_rule_stats stats;

		ebpf_matcher_stats(ebpf->matcher, i, &stats);
		uint64_t elsewhere = stats.pool_exhausted + ebpf->reported;

		lost += stats.lost > elsewhere ? stats.lost - elsewhere : 0;
	}
	return lost;
}
