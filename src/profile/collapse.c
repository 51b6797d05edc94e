// SPDX-License-Identifier: BSD-2-Clause
/* Makes one function of those that call each other in a cycle: their names, sums of their costs. */

#include "profile/collapse.h"

#include "base/alloc.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { NAME_BYTES = 512, NAMED = 2 };

static int copy_profile_text(const struct profile *from, uint32_t text, struct profile *to, uint32_t *copy)
{
	const char *string = profile_get_text(from, text);

	return profile_text(to, string, strlen(string), copy);
}

int profile_copy_events(const struct profile *from, struct profile *to)
{
	int result = 0;

	for (unsigned i = 0; !result && i < from->event_count; i++) {
		const char *name = profile_get_text(from, from->events[i]);

		result = profile_add_event(to, name, strlen(name));
	}
	return result;
}

int profile_copy_function(const struct profile *from, uint32_t function, struct profile *to, uint32_t *copy)
{
	const struct profile_function *old = &from->functions[function];
	uint32_t name = 0, object = 0, file = 0;
	int result = copy_profile_text(from, old->name, to, &name);

	if (!result)
		result = copy_profile_text(from, old->object, to, &object);
	if (!result)
		result = copy_profile_text(from, old->file, to, &file);
	if (!result)
		result = profile_function(to, name, object, copy);
	if (result)
		return result;
	to->functions[*copy].file = file;
	to->functions[*copy].line = old->line;
	to->functions[*copy].low = old->low;
	to->functions[*copy].high = old->high;
	to->functions[*copy].flags |= old->flags;
	return 0;
}

int profile_copy_spot(const struct profile *from, uint32_t spot, struct profile *to, uint32_t function, uint32_t *copy)
{
	struct profile_spot wanted = from->spots[spot];
	int result = copy_profile_text(from, wanted.object, to, &wanted.object);

	wanted.function = function;
	if (!result)
		result = copy_profile_text(from, wanted.file, to, &wanted.file);
	return result ? result : profile_spot(to, &wanted, copy);
}

static int add_cycle(const struct profile *from, const struct graph *graph, uint32_t component, struct profile *to,
		     uint32_t *copy)
{
	uint32_t size = graph_size(graph, component), start = graph->starts[component], text;
	char name[NAME_BYTES];
	int result;

	snprintf(name, sizeof name, "<cycle %u: %.160s, %.160s", component,
		 profile_name(from, graph->members[start + size - 1]), profile_name(from, graph->members[start]));
	if (size > NAMED)
		snprintf(name + strlen(name), sizeof name - strlen(name), " and %u more", size - NAMED);
	strcat(name, ">");
	result = profile_text(to, name, strlen(name), &text);
	if (!result)
		result = profile_function(to, text, 0, copy);
	if (!result)
		to->functions[*copy].flags |= PROFILE_IN_CYCLE;
	return result;
}

static int add_collapsed_functions(const struct profile *from, const struct graph *graph, uint32_t *to,
				   struct profile *collapsed)
{
	int result = 0;

	for (uint32_t i = 0; !result && i < graph->component_count; i++) {
		uint32_t start = graph->starts[i], copy;

		result = graph_size(graph, i) > 1
				 ? add_cycle(from, graph, i, collapsed, &copy)
				 : profile_copy_function(from, graph->members[start], collapsed, &copy);
		for (uint32_t j = start; !result && j < graph->starts[i + 1]; j++) {
			uint32_t member = graph->members[j];

			to[member] = copy;
			for (unsigned k = 0; k < from->event_count; k++)
				profile_self(collapsed, copy)[k] += profile_self(from, member)[k];
		}
	}
	return result;
}

static int add_edges(const struct profile *from, const uint32_t *to, struct profile *collapsed)
{
	int result = 0;

	for (uint32_t i = 0; !result && i < from->edge_count; i++) {
		const struct profile_edge *edge = &from->edges[i];
		uint32_t copy;

		if (to[edge->caller] == to[edge->callee])
			continue;
		result = profile_edge(collapsed, to[edge->caller], to[edge->callee], edge->calls, &copy);
		for (unsigned k = 0; !result && k < from->event_count; k++)
			profile_cost(collapsed, copy)[k] += profile_cost(from, i)[k];
	}
	return result;
}

int profile_collapse(const struct profile *profile, const struct graph *graph, uint32_t *to, struct profile **collapsed)
{
	struct profile *copy = profile_new();
	int result = copy ? profile_copy_events(profile, copy) : -ENOMEM;

	for (size_t i = 0; !result && i < profile->info_count; i++)
		result = profile_set_info(copy, profile_get_text(profile, profile->infos[i].key),
					  profile_get_text(profile, profile->infos[i].value));
	if (!result)
		result = add_collapsed_functions(profile, graph, to, copy);
	if (!result)
		result = add_edges(profile, to, copy);
	if (result)
		profile_free(copy);
	else
		*collapsed = copy;
	return result;
}
