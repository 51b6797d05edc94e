// SPDX-License-Identifier: BSD-2-Clause
/* Matches of rules: where they fired, by marks in the trace and by rules that ran over it. */

#include "report/kind/kinds.h"

#include "base/alloc.h"
#include "report/names.h"
#include "report/table.h"
#include "report/tally.h"

#include <errno.h>

enum { MATCHES_MAX = 1 << 16, RULES_MAX = 4096 };

struct match {
	uint64_t ts;
	uint32_t rule, thread, cpu; /* rule: index of a name */
	bool is_tainted;
	char *values;
};

struct rule {
	uint64_t key[1]; /* index of its name */
	uint64_t count, tainted, first, last;
};

struct matches {
	struct report report;
	struct match *items;
	size_t count, capacity;
	uint64_t left_out;
	struct report_names names;
	struct report_tally rules;
};

static int matches_open(const struct report_view *view, struct report **made)
{
	struct matches *matches = alloc_zero(1, sizeof *matches);

	(void)view;
	if (!matches)
		return -ENOMEM;
	matches->rules = REPORT_TALLY(struct rule, RULES_MAX);
	*made = &matches->report;
	return 0;
}

static void matches_free(struct report *report)
{
	struct matches *matches = (struct matches *)report;

	for (size_t i = 0; i < matches->count; i++)
		alloc_free(matches->items[i].values);
	alloc_free(matches->items);
	report_names_fini(&matches->names);
	report_tally_fini(&matches->rules);
	alloc_free(matches);
}

static int keep_match(struct matches *matches, const struct report_match *match, uint32_t rule)
{
	struct match *kept;

	if (matches->count == MATCHES_MAX) {
		matches->left_out++;
		return 0;
	}
	if (alloc_grow(&matches->items, &matches->capacity, matches->count, sizeof *matches->items))
		return -ENOMEM;
	kept = &matches->items[matches->count];
	*kept = (struct match){ match->ts, rule, match->thread, match->cpu, match->is_tainted, NULL };
	kept->values = alloc_text(match->values ? match->values : "");
	if (!kept->values)
		return -ENOMEM;
	matches->count++;
	return 0;
}

static int matches_match(struct report *report, const struct report_match *match)
{
	struct matches *matches = (struct matches *)report;
	struct rule *rule;
	uint32_t name;
	uint64_t key;

	if (report_names_add(&matches->names, match->rule, &name))
		return -ENOMEM;
	key = name;
	rule = report_tally_at(&matches->rules, &key);
	if (rule) {
		rule->first = rule->count ? rule->first : match->ts;
		rule->last = match->ts;
		rule->count++;
		rule->tainted += match->is_tainted;
	}
	return matches->rules.failure ? -ENOMEM : keep_match(matches, match, name);
}

static const char *rule_name_of(const struct matches *matches, uint64_t rule)
{
	return rule ? matches->names.texts[rule - 1] : "";
}

static int by_match_count(const void *left, const void *right)
{
	const struct rule *a = left, *b = right;

	if (a->count != b->count)
		return a->count > b->count ? -1 : 1;
	return a->key[0] < b->key[0] ? -1 : 1;
}

static void write_rules(struct matches *matches, struct report_tables *tables)
{
	static const struct report_column columns[] = {
		{ "rule", "rule", CELL_TEXT, false },         { "count", "matches", CELL_COUNT, false },
		{ "tainted", "tainted", CELL_COUNT, false },  { "first_ns", "first at s", CELL_TIME, false },
		{ "last_ns", "last at s", CELL_TIME, false },
	};
	const struct rule *rules = matches->rules.items;
	uint64_t first = tables->view->first_ns;

	report_tally_sort(&matches->rules, by_match_count);
	report_table(tables, "rules", "Rules by matches", columns, 5);
	for (size_t i = 0; i < matches->rules.count; i++)
		report_row(tables,
			   (struct report_cell[]){ report_cell_text(rule_name_of(matches, rules[i].key[0])),
						   report_cell_number(rules[i].count),
						   report_cell_number(rules[i].tainted),
						   report_cell_number(rules[i].first - first),
						   report_cell_number(rules[i].last - first) },
			   0);
	report_table_end(tables);
}

static void matches_write(struct report *report, struct report_tables *tables)
{
	static const struct report_column columns[] = {
		{ "time_ns", "at s", CELL_TIME, false },    { "rule", "rule", CELL_TEXT, false },
		{ "thread", "thread", CELL_THREAD, false }, { "cpu", "cpu", CELL_COUNT, false },
		{ "tainted", NULL, CELL_COUNT, false },     { "values", "values", CELL_TEXT, false },
	};
	struct matches *matches = (struct matches *)report;

	if (!matches->rules.count) {
		report_note(tables, "The trace has no marks of matches, and no rules were run over it (--rules FILE).");
		return;
	}
	write_rules(matches, tables);
	report_table(tables, "matches", "Matches", columns, 6);
	for (size_t i = 0; i < matches->count; i++) {
		const struct match *match = &matches->items[i];
		bool is_hidden = tables->view->is_redacted || !*match->values;

		report_row(
			tables,
			(struct report_cell[]){ report_cell_number(match->ts - tables->view->first_ns),
						report_cell_text(rule_name_of(matches, match->rule)),
						report_cell_thread(match->thread),
						match->cpu == EVENT_NO_CPU ? CELL_NONE : report_cell_number(match->cpu),
						report_cell_number(match->is_tainted),
						report_cell_text(is_hidden ? NULL : match->values) },
			0);
	}
	report_table_end(tables);
	report_note_left_out(tables, matches->rules.left_out);
	if (matches->left_out)
		report_note(tables, "%llu later matches are counted above, but not listed.",
			    (unsigned long long)matches->left_out);
}

const struct report_kind report_matches = {
	.name = "matches",
	.title = "Matches",
	.question = "where rules matched",
	.open = matches_open,
	.match = matches_match,
	.write = matches_write,
	.free = matches_free,
};
