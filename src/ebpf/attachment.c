// SPDX-License-Identifier: BSD-2-Clause
/* Asks for the programs of a session that is not begun, and writes down what each rule has of them. */

#include "ebpf/attachment.h"

#include "base/alloc.h"
#include "base/diag.h"
#include "ebpf/kernel/btf-kernel.h"
#include "ebpf/kernel/probe.h"
#include "ebpf/source/set.h"
#include "event/about.h"
#include "program/query.h"
#include "program/reads.h"

#include <errno.h>
#include <string.h>

struct ebpf_attachment {
	const struct plan *plan;
	const bool *shipped;
	struct source_want *wants;
	struct ebpf_needs *needs;
	size_t want_count;
	struct ebpf_features features;
	bool is_asked; /* the kernel */
	struct btf_kernel *btf;
	struct source_set *set; /* NULL: there is nothing to attach, or it failed */
	struct source_place *places;
	size_t place_count;
	char *failure; /* why no session begins; NULL: it would */
};

static bool is_wanted_here(const struct plan *plan, uint32_t type)
{
	for (uint32_t i = 0; i < plan->types[type].event_count; i++)
		if (plan->types[type].events[i].wants)
			return true;
	return false;
}

/* Whether the rule is served with events of type. */
static bool takes(const struct ebpf_attachment *attachment, uint32_t rule, uint32_t type)
{
	const struct plan *plan = attachment->plan;
	const struct program_rule *row = &plan->program->rules[rule];

	if (attachment->shipped[rule])
		return row->flags & PROGRAM_RULE_OVER_ALL || program_rule_lists(plan->program, row, type);
	const struct plan_event *event = plan->rules[rule].here ? plan_event(plan, rule, type) : NULL;

	return event && event->wants;
}

static bool is_shipped(const struct ebpf_attachment *attachment, uint32_t type, struct ebpf_needs *asked)
{
	const struct program *program = attachment->plan->program;
	bool shipped = false;

	for (uint32_t i = 0; i < program->rule_count; i++) {
		if (!attachment->shipped[i])
			continue;
		program_rule_reads(program, i, type, asked->body);
		shipped = shipped || takes(attachment, i, type);
	}
	return shipped;
}

static void add_want(struct ebpf_attachment *attachment, const struct event_type *type, uint32_t index)
{
	const struct plan *plan = attachment->plan;
	struct ebpf_needs *needs = &attachment->needs[attachment->want_count];

	if (is_shipped(attachment, index, needs))
		attachment->wants[attachment->want_count++] =
			(struct source_want){ .type = type, .index = index, .asked = needs->body };
	if (!is_wanted_here(plan, index))
		return;
	needs = &attachment->needs[attachment->want_count];
	*needs = (struct ebpf_needs){ 0 };
	for (uint32_t i = 0; i < plan->types[index].event_count; i++)
		for (uint32_t field = 0; field < plan->program->types[index].field_count; field++)
			needs->body[field] |= plan->types[index].events[i].reads[field];
	attachment->wants[attachment->want_count++] =
		(struct source_want){ .type = type, .index = index, .needs = needs };
}

static int make_wants(struct ebpf_attachment *attachment, struct event_catalog *catalog)
{
	const struct program *program = attachment->plan->program;

	/* Of each type one for rules in the kernel, and one for those elsewhere. */
	attachment->wants = alloc_zero(2 * (size_t)program->type_count + 1, sizeof *attachment->wants);
	attachment->needs = alloc_zero(2 * (size_t)program->type_count + 1, sizeof *attachment->needs);
	if (!attachment->wants || !attachment->needs)
		return -ENOMEM;
	for (uint32_t i = 0; i < program->type_count; i++) {
		const struct program_type *row = &program->types[i];
		const struct event_type *type = event_catalog_find(catalog, program_text(program, row->name));

		if (type && type->hook_count && event_about_extends(type, row->field_count, row->record_bytes))
			add_want(attachment, type, i);
	}
	return 0;
}

/* Without privileges the kernel is not asked. Returns 0, -EOPNOTSUPP, -ENOMEM. */
static int find_features(struct ebpf_attachment *attachment, struct asterism_diag *diag)
{
	struct asterism_diag *said = asterism_diag_new();
	int result = probe_features(&attachment->features, said);

	attachment->is_asked = !result;
	if (result && result != -EPERM)
		diag_take(diag, said);
	asterism_diag_free(said);
	return result == -EPERM ? 0 : result;
}

static int imagine(struct ebpf_attachment *attachment, struct asterism_diag *diag)
{
	struct source_set_options options = { .wants = attachment->wants,
					      .count = attachment->want_count,
					      .scope = EBPF_SCOPE_ALL };
	int result = find_features(attachment, diag);

	if (!result)
		result = btf_kernel_open(diag, &attachment->btf);
	options.btf = attachment->btf;
	options.features = attachment->is_asked ? &attachment->features : NULL;
	if (!result)
		result = source_set_imagine(&options, diag, &attachment->set);
	if (!result)
		result = source_set_places(attachment->set, &attachment->places, &attachment->place_count);
	return result;
}

static char *first_error(const struct asterism_diag *diag)
{
	const struct asterism_message *message = NULL;

	for (size_t i = 0; (message = asterism_diag_get(diag, i)); i++)
		if (message->severity == ASTERISM_ERROR)
			return alloc_text(message->text);
	return alloc_text("the kernel refuses it");
}

int ebpf_attachment_new(const struct plan *plan, const struct ebpf_attachment_options *options,
			struct ebpf_attachment **made)
{
	struct ebpf_attachment *attachment = alloc_zero(1, sizeof *attachment);
	struct asterism_diag *diag = asterism_diag_new();
	int result = attachment && diag ? 0 : -ENOMEM;

	if (!result) {
		attachment->plan = plan;
		attachment->shipped = options->shipped;
		result = make_wants(attachment, options->catalog);
	}
	if (!result && attachment->want_count)
		result = imagine(attachment, diag);
	if (result && result != -ENOMEM) {
		attachment->failure = first_error(diag);
		result = attachment->failure ? 0 : -ENOMEM;
	}
	asterism_diag_free(diag);
	if (result)
		ebpf_attachment_free(attachment);
	else
		*made = attachment;
	return result;
}

void ebpf_attachment_free(struct ebpf_attachment *attachment)
{
	if (!attachment)
		return;
	alloc_free(attachment->places);
	source_set_free(attachment->set);
	btf_kernel_close(attachment->btf);
	alloc_free(attachment->wants);
	alloc_free(attachment->needs);
	alloc_free(attachment->failure);
	alloc_free(attachment);
}

/* Whether programs serve the rule. */
static bool is_served(const struct ebpf_attachment *attachment, uint32_t rule)
{
	for (size_t i = 0; i < attachment->want_count; i++)
		if (takes(attachment, rule, attachment->wants[i].index))
			return true;
	return false;
}

static bool is_own(const struct source_place *place)
{
	return place->unit->group == SOURCE_GROUP_OWN;
}

/* Whether the rule has something of the program's entry. What counts operations of io_uring is for all about calls. */
static bool serves(const struct ebpf_attachment *attachment, const struct source_place *place, size_t entry,
		   uint32_t rule)
{
	const struct source_want *want = place->unit->entries[entry].want;

	if (!source_place_has(place, &place->unit->entries[entry]))
		return false;
	if (!is_own(place))
		return (want->needs ? !attachment->shipped[rule] : attachment->shipped[rule]) &&
		       takes(attachment, rule, want->index);
	for (size_t i = 0; i < attachment->want_count; i++)
		if (source_is_of_calls(attachment->wants[i].type) &&
		    takes(attachment, rule, attachment->wants[i].index))
			return true;
	return false;
}

/* Whether an entry before this one has the same type: one source of it is enough to be told. */
static bool is_told(const struct source_unit *unit, size_t entry)
{
	for (size_t i = 0; i < entry; i++)
		if (unit->entries[i].want->type == unit->entries[entry].want->type)
			return true;
	return false;
}

/* Names of events for the rule, one after the other; NULL: no more. *next begins with 0. */
static const char *next_event(const struct ebpf_attachment *attachment, const struct source_place *place, uint32_t rule,
			      size_t *next)
{
	while (*next < place->unit->entry_count) {
		size_t entry = (*next)++;

		if (serves(attachment, place, entry, rule) && !is_told(place->unit, entry))
			return place->unit->entries[entry].want->type->name;
	}
	return NULL;
}

/* Of probes in user code, where something of the rule is asked. */
static bool is_spot_of(const struct ebpf_attachment *attachment, const struct source_place *place, uint32_t rule,
		       size_t spot)
{
	const struct source_unit *unit = place->unit;

	for (size_t i = 0; i < unit->entry_count; i++)
		if (unit->spots[spot].cookie & unit->entries[i].bit && serves(attachment, place, i, rule))
			return true;
	return false;
}

/* One probe may stand in several places. */
static const char *next_probe(const struct ebpf_attachment *attachment, const struct source_place *place, uint32_t rule,
			      size_t *next)
{
	const struct source_unit *unit = place->unit;

	while (*next < unit->spot_count) {
		size_t i = (*next)++;
		bool is_same = i > 0 && strcmp(unit->spots[i].tracepoint, unit->spots[i - 1].tracepoint) == 0;

		if (!is_same && is_spot_of(attachment, place, rule, i))
			return unit->spots[i].tracepoint;
	}
	return NULL;
}

/* Tracepoints and probes, one after the other; NULL: no more. *next begins with 0. */
static const char *next_spot(const struct ebpf_attachment *attachment, const struct source_place *place, uint32_t rule,
			     size_t *next)
{
	if (place->kind == SOURCE_PROBE)
		return next_probe(attachment, place, rule, next);
	size_t i = (*next)++;

	if (place->unit->apart_count)
		return i < place->unit->apart_count ? place->unit->apart[i].tracepoint : NULL;
	return i == 0 ? place->tracepoint : NULL;
}

static const char *const kind_words[] = {
	[SOURCE_RAW] = "by BTF", [SOURCE_TRACEFS] = "by tracefs", [SOURCE_PROBE] = "in user code"
};

static const char *const kind_names[] = {
	[SOURCE_RAW] = "btf", [SOURCE_TRACEFS] = "tracefs", [SOURCE_PROBE] = "probe"
};

/* The names that next gives, with separators, behind head. */
static void print_place(const struct ebpf_attachment *attachment, const struct source_place *place, uint32_t rule,
			const char *head, struct text_buffer *out)
{
	size_t event = 0, spot = 0;
	const char *name = next_event(attachment, place, rule, &event);

	text_printf(out, "%s%s", head, name);
	while ((name = next_event(attachment, place, rule, &event)))
		text_printf(out, ", %s", name);
	text_printf(out, ": at %s", next_spot(attachment, place, rule, &spot));
	while ((name = next_spot(attachment, place, rule, &spot)))
		text_printf(out, ", %s", name);
	text_printf(out, ", %s", kind_words[place->kind]);
	if (place->chain)
		text_printf(out, ", one of a chain of %zu programs", place->chain);
	text_printf(out, "\n               because %s\n", place->why);
}

static bool is_place_of(const struct ebpf_attachment *attachment, const struct source_place *place, uint32_t rule)
{
	size_t next = 0;

	return next_event(attachment, place, rule, &next) != NULL;
}

void ebpf_attachment_text(const struct ebpf_attachment *attachment, uint32_t rule, struct text_buffer *out)
{
	static const char further[] = "             ";
	const char *head = "  attached   ";

	if (!is_served(attachment, rule))
		return;
	if (attachment->failure)
		text_printf(out, "%snowhere, as no session can begin: %s\n", head, attachment->failure);
	for (size_t i = 0; i < attachment->place_count; i++) {
		if (!is_place_of(attachment, &attachment->places[i], rule))
			continue;
		print_place(attachment, &attachment->places[i], rule, head, out);
		head = further;
	}
	if (!attachment->is_asked && !attachment->failure)
		text_printf(out,
			    "%sas far as can be known without the privileges to load BPF programs: what the kernel\n"
			    "%swould be asked for is taken to be there\n",
			    further, further);
}

static void put_place(const struct ebpf_attachment *attachment, const struct source_place *place, uint32_t rule,
		      struct text_buffer *out)
{
	const char *name, *separator = "{\"events\":[";
	size_t event = 0, spot = 0;

	while ((name = next_event(attachment, place, rule, &event))) {
		text_append(out, separator);
		text_json(out, name);
		separator = ",";
	}
	separator = "],\"at\":[";
	while ((name = next_spot(attachment, place, rule, &spot))) {
		text_append(out, separator);
		text_json(out, name);
		separator = ",";
	}
	text_printf(out, "],\"by\":\"%s\",\"chain\":%zu,\"because\":", kind_names[place->kind], place->chain);
	text_json(out, place->why);
	text_append(out, "}");
}

void ebpf_attachment_json(const struct ebpf_attachment *attachment, uint32_t rule, struct text_buffer *out)
{
	const char *separator = "";

	text_append(out, ",\"attachment\":");
	if (!is_served(attachment, rule)) {
		text_append(out, "null");
		return;
	}
	text_append(out, "{\"programs\":[");
	for (size_t i = 0; i < attachment->place_count; i++) {
		if (!is_place_of(attachment, &attachment->places[i], rule))
			continue;
		text_append(out, separator);
		put_place(attachment, &attachment->places[i], rule, out);
		separator = ",";
	}
	text_printf(out, "],\"asked\":%s,\"failure\":", attachment->is_asked ? "true" : "false");
	if (attachment->failure)
		text_json(out, attachment->failure);
	else
		text_append(out, "null");
	text_append(out, "}");
}
