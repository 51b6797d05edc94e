// SPDX-License-Identifier: BSD-2-Clause
/*
 * Gives derived events after those that they follow from: each recorded event is given first, then what follows from
 * it. The recorded one is kept meanwhile, since the reader may change what it was given.
 */

#include "session/derive/derive.h"

#include "ebpf/path/path.h"
#include "session/derive/calls.h"
#include "session/derive/plan.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* A type that the inner source has numbered. */
struct known {
	uint32_t number;                /* that it has here */
	const struct derive_base *base; /* NULL: nothing follows from it */
};

struct derive {
	struct event_source source; /* first */
	struct event_source *inner;
	struct event_catalog *catalog;
	struct asterism_diag *diag;
	struct derive_plan plan;
	struct event_want outer; /* what the reader wants */
	struct derive_calls calls;
	struct known *known; /* by the inner number */
	size_t known_count, known_capacity;
	uint32_t type_count; /* numbered here */
	uint64_t seq, unknown, inner_lost;
	int failure;                    /* of the plan, told with the first event */
	const struct derive_base *base; /* of the event given last; NULL: nothing follows */
	size_t next;                    /* derivation to be tried */
	struct derive_event event;      /* with the copy as its record */
	union record {
		struct event_header header;
		char bytes[EVENT_RECORD_BYTES_MAX];
	} kept, made;
};

/* The base that the events of type are of, if anything follows from them or they begin a call that something does. */
static const struct derive_base *derive_base_of(const struct derive *derive, const struct event_type *type)
{
	for (size_t i = 0; i < derive->plan.count; i++) {
		if (derive->plan.items[i].base->type == type)
			return derive->plan.items[i].base;
	}
	for (size_t i = 0; derive->plan.count && i < derive->plan.base_count; i++) {
		const struct derive_base *base = &derive->plan.bases[i];

		if (base->type == type && derive_is_entry(base) && !base->source->when)
			return base;
	}
	return NULL;
}

static int find_known_event_type(struct derive *derive, const struct event *event, struct known **known)
{
	size_t number = event->record->type;

	while (derive->known_count <= number) {
		if (alloc_grow(&derive->known, &derive->known_capacity, derive->known_count, sizeof *derive->known))
			return diag_no_memory(derive->diag);
		derive->known[derive->known_count++] = (struct known){ .number = UINT32_MAX };
	}
	*known = &derive->known[number];
	if ((*known)->number == UINT32_MAX)
		**known = (struct known){ derive->type_count++, derive_base_of(derive, event->type) };
	return 0;
}

static void take_losses(struct derive *derive)
{
	const struct event_source *inner = derive->inner;

	if (inner->lost != derive->inner_lost)
		derive_calls_forget(&derive->calls);
	derive->inner_lost = inner->lost;
	derive->source.lost = inner->lost + derive->unknown;
	if (inner->lossy_until_ns > derive->source.lossy_until_ns)
		derive->source.lossy_until_ns = inner->lossy_until_ns;
	derive->source.until_ns = inner->until_ns;
	if (!derive->source.machine.wall_ns)
		derive->source.machine = inner->machine;
}

static uint64_t word_at(const struct derive *derive, const struct event_field *field)
{
	uint64_t word;

	memcpy(&word, derive->kept.bytes + field->offset, sizeof word);
	return word;
}

/* Remembers how a call begins. */
static int begin_call(struct derive *derive, const struct derive_base *base)
{
	const struct event_field *number = derive_field_of(base, derive->plan.entry_number);
	struct derive_call call = { .tid = derive->kept.header.tid };

	if (!number)
		return 0;
	call.number = word_at(derive, number);
	for (int64_t i = 0; i < DERIVE_ARGS; i++) {
		const struct event_path path = { .op = SOURCE_SYSCALL_ARG, .value = i };
		const struct event_field *field = derive_field_of(base, &path);

		call.args[i] = field ? word_at(derive, field) : 0;
	}
	return derive_calls_begin(&derive->calls, &call) ? diag_no_memory(derive->diag) : 0;
}

static const uint64_t *end_call(struct derive *derive, const struct derive_base *base)
{
	const struct event_field *number = derive_field_of(base, derive->plan.exit_number);

	return number ? derive_calls_end(&derive->calls, derive->kept.header.tid, word_at(derive, number)) : NULL;
}

/* Prepares for what follows from the event. */
static int keep_derived_base(struct derive *derive, const struct derive_base *base, const struct event *event)
{
	derive->base = base;
	derive->next = 0;
	memcpy(derive->kept.bytes, event->record, base->type->record_bytes);
	derive->event = (struct derive_event){ .record = derive->kept.bytes };
	if (derive_is_exit(base))
		derive->event.args = end_call(derive, base);
	return derive_is_entry(base) ? begin_call(derive, base) : 0;
}

enum verdict { IS_NONE, IS_ONE, IS_UNKNOWN };

static enum verdict judge_derivation(const struct derivation *item, const struct derive_event *event)
{
	enum verdict verdict = IS_ONE;

	for (uint32_t i = 0; i < item->when_count; i++) {
		const struct derive_condition *condition = &item->when[i];
		uint64_t value;

		if (!derive_value(condition->node, event, &value))
			verdict = IS_UNKNOWN;
		else if (!path_calculate(condition->compare, value, (uint64_t)condition->value))
			return IS_NONE;
	}
	return verdict;
}

static enum verdict fill_derivation(struct derive *derive, const struct derivation *item)
{
	const struct event_type *type = item->type;

	memset(derive->made.bytes, 0, type->record_bytes);
	for (uint32_t i = 0; i < type->field_count; i++) {
		const struct event_field *field = &type->fields[i];
		char *to = derive->made.bytes + field->offset;
		uint64_t value;

		if (!item->fields[i])
			continue;
		if (field->value == EVENT_STRING) {
			const char *text = derive_text(item->fields[i], &derive->event);

			memcpy(to, text ? text : "", text ? field->bytes : 1);
			to[field->bytes - 1] = 0;
			continue;
		}
		if (!derive_value(item->fields[i], &derive->event, &value))
			return IS_UNKNOWN;
		value = event_value_narrow(field->value, value);
		memcpy(to, &value, sizeof value);
	}
	return IS_ONE;
}

static int give_derived_event(struct derive *derive, struct derivation *item, struct event *event)
{
	struct event_header *header = &derive->made.header;

	if (item->number == UINT32_MAX)
		item->number = derive->type_count++;
	*header = derive->kept.header;
	header->seq = ++derive->seq;
	header->type = item->number;
	*event = (struct event){ header, item->type, 0 };
	return 1;
}

/* What its user should know at the end: why there are fewer events than live. */
static void report_unknown(const struct derive *derive)
{
	if (derive->unknown)
		diag_add(derive->diag, ASTERISM_WARNING, NULL, NULL,
			 "cannot derive %" PRIu64
			 " events: the trace does not have the beginning of their system calls",
			 derive->unknown);
}

/* What is missing because a call's beginning is. */
static void lose_derived(struct derive *derive)
{
	derive->unknown++;
	derive->source.lost++;
	if (derive->kept.header.ts > derive->source.lossy_until_ns)
		derive->source.lossy_until_ns = derive->kept.header.ts;
}

/* The next event that follows from the one kept. 0: there is none. */
static int follow_derived(struct derive *derive, struct event *event)
{
	while (derive->next < derive->plan.count) {
		struct derivation *item = &derive->plan.items[derive->next++];
		enum verdict verdict = item->base == derive->base ? judge_derivation(item, &derive->event) : IS_NONE;

		if (verdict == IS_ONE)
			verdict = fill_derivation(derive, item);
		if (verdict == IS_ONE)
			return give_derived_event(derive, item, event);
		if (verdict == IS_UNKNOWN)
			lose_derived(derive);
	}
	derive->base = NULL;
	return 0;
}

static int derive_next(struct event_source *source, struct event *event)
{
	struct derive *derive = (struct derive *)source;
	struct known *known = NULL;
	int result = derive->failure;

	if (!result && derive->base)
		result = follow_derived(derive, event);
	if (result)
		return result;
	result = event_source_next(derive->inner, event);
	take_losses(derive);
	if (result == 0)
		report_unknown(derive);
	if (result <= 0 || !derive->plan.count)
		return result;
	result = find_known_event_type(derive, event, &known);
	if (!result && known->base)
		result = keep_derived_base(derive, known->base, event);
	if (result)
		return result;
	event->record->type = known->number;
	event->record->seq = ++derive->seq;
	return 1;
}

static bool is_used(const struct derive *derive, const struct event_type *type)
{
	return derive_base_of(derive, type) != NULL;
}

static bool derive_wants_type(void *context, const struct event_type *type)
{
	const struct derive *derive = context;

	return is_used(derive, type) || derive->outer.wants(derive->outer.context, type);
}

static bool derive_wants_field(void *context, const struct event_type *type, uint32_t field)
{
	const struct derive *derive = context;
	const struct event_want *outer = &derive->outer;

	return is_used(derive, type) || !outer->wants_field || outer->wants_field(outer->context, type, field);
}

static void derive_want(struct event_source *source, const struct event_want *want)
{
	struct derive *derive = (struct derive *)source;
	struct event_want inner = *want;

	derive->outer = *want;
	if (derive_plan_make(&derive->plan, derive->catalog, want))
		derive->failure = diag_no_memory(derive->diag);
	inner.wants = derive_wants_type;
	inner.wants_field = derive_wants_field;
	inner.context = derive;
	inner.drops = want->drops && !derive->plan.count;
	event_source_want(derive->inner, derive->plan.count ? &inner : want);
}

static bool derive_holds(struct event_source *source, const struct event_type *type, uint32_t field)
{
	struct derive *derive = (struct derive *)source;

	return event_source_holds(derive->inner, type, EVENT_NO_FIELD) ? event_source_holds(derive->inner, type, field)
								       : derive_plan_holds(&derive->plan, type, field);
}

static uint64_t derive_position(const struct event_source *source)
{
	return event_source_position(((const struct derive *)source)->inner);
}

static void release_derived(struct derive *derive)
{
	derive_plan_fini(&derive->plan);
	derive_calls_fini(&derive->calls);
	alloc_free(derive->known);
	alloc_free(derive);
}

static void derive_free(struct event_source *source)
{
	struct derive *derive = (struct derive *)source;

	event_source_free(derive->inner);
	release_derived(derive);
}

static const struct event_source_kind kind = {
	.name = "derived events",
	.next = derive_next,
	.free = derive_free,
	.position = derive_position,
	.want = derive_want,
	.holds = derive_holds,
};

int derive_new(struct event_source *inner, struct event_catalog *catalog, struct asterism_diag *diag,
	       struct event_source **made)
{
	struct derive *derive = alloc_zero(1, sizeof *derive);

	if (!derive)
		return diag_no_memory(diag);
	derive->source =
		(struct event_source){ .kind = &kind, .bytes_total = inner->bytes_total, .machine = inner->machine };
	derive->inner = inner;
	derive->catalog = catalog;
	derive->diag = diag;
	if (derive_plan_init(&derive->plan, inner, catalog)) {
		release_derived(derive);
		return diag_no_memory(diag);
	}
	*made = &derive->source;
	return 0;
}
