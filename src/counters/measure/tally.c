// SPDX-License-Identifier: BSD-2-Clause
/* Chooses the source or formula that gives a type its value, and computes it. */

#include "counters/measure/tally.h"

#include "base/alloc.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* A source that only counts processes when the machine is not permitted. */
static int try_source(const struct counter_source *source, const struct meter_scope *scope, struct tally_way *way)
{
	struct meter_scope own = *scope;
	struct meter *meter = NULL;
	int result = meter_open(source, scope, way->reason, &meter);

	if (result == -EACCES && scope->pid < 0) {
		char reason[METER_REASON_BYTES];

		own.pid = 0;
		if (!meter_open(source, &own, reason, &meter)) {
			way->is_of_command = true;
			result = 0;
		}
	}
	meter_free(meter);
	way->error = result;
	return result;
}

/* Of a process that runs, files of the machine come last. */
static bool try_sources(const struct counter_type *type, const struct meter_scope *scope, struct tally_way *way)
{
	struct meter_scope own = *scope;

	own.is_gauge = type->kind == COUNTER_GAUGE;
	for (int late = 0; late < 2; late++) {
		for (const struct counter_source *source = type->sources; source; source = source->next) {
			if (late != (scope->threads && source->from == COUNTER_FILE) || try_source(source, &own, way))
				continue;
			way->source = source;
			way->state = source->approximates ? TALLY_APPROXIMATE : TALLY_AVAILABLE;
			return true;
		}
	}
	return false;
}

static void try_formulas(const struct counters *counters, const struct counter_type *type, const struct tally_way *ways,
			 struct tally_way *way)
{
	bool has_reason = way->reason[0] != 0;

	for (const struct counter_formula *formula = type->formulas; formula && !way->formula;
	     formula = formula->next) {
		enum tally_state state = TALLY_AVAILABLE;
		bool is_of_command = false;

		for (uint32_t i = 0; i < formula->count; i++) {
			const struct counter_step *step = &formula->steps[i];

			if (step->op != COUNTER_OPERAND)
				continue;
			if (ways[step->type].state == TALLY_NOT_HERE && !has_reason) {
				snprintf(way->reason, sizeof way->reason, "%s is not available here",
					 counters->types[step->type].name);
				has_reason = true;
			}
			state = ways[step->type].state < state ? ways[step->type].state : state;
			is_of_command = is_of_command || ways[step->type].is_of_command;
		}
		if (state == TALLY_NOT_HERE)
			continue;
		way->formula = formula;
		way->state = state;
		way->is_of_command = is_of_command;
	}
}

/* From what is derived to its operands; chosen: by the chosen ways alone. */
static void want_operands(const struct counters *counters, const struct tally_way *chosen, bool *wanted)
{
	for (size_t i = counters->type_count; i--;) {
		uint32_t index = counters->order[i];
		const struct counter_formula *formula =
			chosen ? chosen[index].formula : counters->types[index].formulas;

		for (; wanted[index] && formula; formula = chosen ? NULL : formula->next) {
			for (uint32_t k = 0; k < formula->count; k++) {
				if (formula->steps[k].op == COUNTER_OPERAND)
					wanted[formula->steps[k].type] = true;
			}
		}
	}
}

void tally_probe(const struct counters *counters, const bool *wanted, const struct meter_scope *scope,
		 struct tally_way *ways)
{
	bool needed[COUNTERS_MAX];

	for (size_t i = 0; i < counters->type_count; i++)
		needed[i] = !wanted || wanted[i];
	want_operands(counters, NULL, needed);
	for (size_t i = 0; i < counters->type_count; i++) {
		uint32_t index = counters->order[i];
		const struct counter_type *type = &counters->types[index];
		struct tally_way *way = &ways[index];

		*way = (struct tally_way){ 0 };
		if (needed[index] && !try_sources(type, scope, way))
			try_formulas(counters, type, ways, way);
		if (way->state == TALLY_NOT_HERE && !way->reason[0])
			snprintf(way->reason, sizeof way->reason, "it has no known source");
	}
}

struct operand {
	uint32_t type;
	struct meter *meter;
};

struct tally {
	const struct counters *counters;
	const struct tally_way *ways;
	uint32_t type;
	bool *needed; /* by type */
	struct operand *operands;
	struct tally_count *counts, *last; /* by operand: now, and when it was taken */
	size_t operand_count;
	double *values; /* by type */
	bool is_apart;
};

static int open_meters(struct tally *tally, const struct meter_scope *scope, bool in_group,
		       char reason[METER_REASON_BYTES])
{
	struct meter_scope own = *scope;

	for (size_t i = 0; i < tally->operand_count; i++) {
		struct operand *operand = &tally->operands[i];
		const struct counter_source *source = tally->ways[operand->type].source;
		int result;

		own.is_gauge = tally->counters->types[operand->type].kind == COUNTER_GAUGE;
		result = meter_open(source, &own, reason, &operand->meter);
		if (result)
			return result;
		if (in_group && !own.group && !meter_is_alone(operand->meter))
			own.group = operand->meter;
	}
	return 0;
}

static void close_meters(struct tally *tally)
{
	for (size_t i = 0; i < tally->operand_count; i++) {
		meter_free(tally->operands[i].meter);
		tally->operands[i].meter = NULL;
	}
}

/* What has a source; all else follows from it. */
static int find_operands(struct tally *tally)
{
	size_t count = 0;

	tally->needed[tally->type] = true;
	want_operands(tally->counters, tally->ways, tally->needed);
	for (size_t i = 0; i < tally->counters->type_count; i++)
		count += tally->needed[i] && tally->ways[i].source;
	tally->operands = alloc_zero(count, sizeof *tally->operands);
	tally->counts = alloc_zero(count, sizeof *tally->counts);
	tally->last = alloc_zero(count, sizeof *tally->last);
	if (!tally->operands || !tally->counts || !tally->last)
		return -ENOMEM;
	for (uint32_t i = 0; i < tally->counters->type_count; i++) {
		if (tally->needed[i] && tally->ways[i].source)
			tally->operands[tally->operand_count++].type = i;
	}
	return 0;
}

static int new_tally(const struct tally_ways *ways, uint32_t type, struct tally **made)
{
	const struct counters *counters = ways->counters;
	struct tally *tally = alloc_zero(1, sizeof *tally);

	if (!tally)
		return -ENOMEM;
	tally->counters = counters;
	tally->ways = ways->ways;
	tally->type = type;
	tally->needed = alloc_zero(counters->type_count, sizeof *tally->needed);
	tally->values = alloc_zero(counters->type_count, sizeof *tally->values);
	if (!tally->needed || !tally->values || find_operands(tally)) {
		tally_free(tally);
		return -ENOMEM;
	}
	*made = tally;
	return 0;
}

int tally_open(const struct tally_ways *ways, uint32_t type, const struct meter_scope *scope,
	       char reason[METER_REASON_BYTES], struct tally **opened)
{
	struct tally *tally;
	int result = new_tally(ways, type, &tally);

	if (result) {
		snprintf(reason, METER_REASON_BYTES, "out of memory");
		return result;
	}
	result = open_meters(tally, scope, true, reason);
	if (result == -EINVAL) {
		close_meters(tally);
		tally->is_apart = true;
		result = open_meters(tally, scope, false, reason);
	}
	if (result)
		tally_free(tally);
	else
		*opened = tally;
	return result;
}

void tally_free(struct tally *tally)
{
	if (!tally)
		return;
	close_meters(tally);
	alloc_free(tally->needed);
	alloc_free(tally->operands);
	alloc_free(tally->counts);
	alloc_free(tally->last);
	alloc_free(tally->values);
	alloc_free(tally);
}

bool tally_is_apart(const struct tally *tally)
{
	return tally->is_apart;
}

static bool is_any(const struct tally *tally, bool (*is)(const struct meter *meter))
{
	for (size_t i = 0; i < tally->operand_count; i++) {
		if (is(tally->operands[i].meter))
			return true;
	}
	return false;
}

bool tally_is_of_user(const struct tally *tally)
{
	return is_any(tally, meter_is_of_user);
}

bool tally_is_of_machine(const struct tally *tally)
{
	return is_any(tally, meter_is_of_machine);
}

size_t tally_operand_count(const struct tally *tally)
{
	return tally->operand_count;
}

int tally_read(struct tally *tally, char reason[METER_REASON_BYTES], struct tally_count *counts)
{
	for (size_t i = 0; i < tally->operand_count; i++) {
		struct tally_count *count = &tally->counts[i];
		struct meter_reading reading;
		int result = meter_take(tally->operands[i].meter, reason, &reading);

		if (result)
			return result;
		count->enabled_ns += reading.enabled_ns;
		count->running_ns += reading.running_ns;
		if (isnan(reading.value))
			count->missed++;
		else if (tally->counters->types[tally->operands[i].type].kind == COUNTER_GAUGE)
			count->total = reading.value;
		else
			count->total += reading.value;
	}
	memcpy(counts, tally->counts, tally->operand_count * sizeof *counts);
	return 0;
}

/* What an operand has come to. */
static double grown(const struct tally *tally, size_t operand, const struct tally_count *from,
		    const struct tally_count *to)
{
	bool is_gauge = tally->counters->types[tally->operands[operand].type].kind == COUNTER_GAUGE;

	if (to->missed != from->missed)
		return NAN;
	return is_gauge ? to->total : to->total - from->total;
}

void tally_between(const struct tally *tally, const struct tally_count *from, const struct tally_count *to,
		   struct tally_value *value)
{
	*value = (struct tally_value){ .running = 1 };
	for (size_t i = 0; i < tally->operand_count; i++) {
		double enabled = to[i].enabled_ns - from[i].enabled_ns, running = to[i].running_ns - from[i].running_ns;
		double share = enabled > 0 ? running / enabled : 1;

		tally->values[tally->operands[i].type] = grown(tally, i, &from[i], &to[i]);
		if (i && share >= value->running)
			continue;
		value->running = share;
		value->enabled_ns = enabled;
		value->running_ns = running;
	}
	for (size_t i = 0; i < tally->counters->type_count; i++) {
		uint32_t index = tally->counters->order[i];

		if (tally->needed[index] && tally->ways[index].formula)
			tally->values[index] = counters_formula_value(tally->ways[index].formula, tally->values);
	}
	value->value = tally->values[tally->type];
}

int tally_take(struct tally *tally, char reason[METER_REASON_BYTES], struct tally_value *value)
{
	struct tally_count *now = alloc_zero(tally->operand_count, sizeof *now);
	int result;

	if (!now) {
		snprintf(reason, METER_REASON_BYTES, "out of memory");
		return -ENOMEM;
	}
	result = tally_read(tally, reason, now);
	if (!result) {
		tally_between(tally, tally->last, now, value);
		alloc_free(tally->last);
		tally->last = now;
	} else {
		alloc_free(now);
	}
	return result;
}
