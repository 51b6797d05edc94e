/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef DESL_PROGRAM_PRIV_H
#define DESL_PROGRAM_PRIV_H

/* A program as it is read, and what checking adds to it. Everything lies in the program's arena. */

#include "desl/desl.h"
#include "desl/table-priv.h"

#include "lang/syntax/report.h"

enum {
	DESL_SOURCES_MAX = 16, /* of one derived type */
	DESL_FIELDS_MAX = 64,  /* of one type */
	DESL_DEPTH_MAX = 64,   /* of expressions and of types that are made from types */
	DESL_TYPES_MAX = 4096,
	DESL_ADVICES_MAX = 16, /* of one type */
};

enum desl_kind { DESL_NO_KIND, DESL_NUMBER, DESL_STRING, DESL_LINE, DESL_LIST, DESL_FILE };

enum desl_op {
	DESL_CONST,
	DESL_TEXT_CONST,
	DESL_NAME,    /* as written; checking makes one of the next three of it */
	DESL_COLUMN,  /* source.field */
	DESL_OWN,     /* a field of the type itself */
	DESL_EARLIER, /* of records made before */
	DESL_ADD,
	DESL_SUB,
	DESL_MUL,
	DESL_DIV,
	DESL_AVG,
	DESL_SUM,
	DESL_MIN,
	DESL_MAX,
	DESL_INC,
	DESL_NUM,
	DESL_LESS,
	DESL_GREATER,
	DESL_LESS_EQ,
	DESL_GREATER_EQ,
	DESL_EQ,
	DESL_NOT,
	DESL_AND,
	DESL_OR,
	DESL_REFERENCE, /* name.field(relation, value without one) */
	DESL_RUN,
	DESL_LIST_OF, /* @relation */
	DESL_NONE,
};

static inline bool desl_is_aggregate(enum desl_op op)
{
	return op >= DESL_AVG && op <= DESL_NUM;
}

static inline bool desl_is_relation(enum desl_op op)
{
	return op >= DESL_LESS && op <= DESL_EQ;
}

struct desl_word {
	const char *text;
	struct diag_location location;
};

struct desl_expr {
	struct desl_expr *next; /* operand of the same expression */
	struct desl_expr *operands;
	enum desl_op op;
	enum desl_kind kind; /* of the value; checked */
	struct diag_location location;
	struct desl_word qualifier, name; /* qualifier.text NULL: none */
	double number;                    /* CONST; of INC the step */
	uint32_t text;                    /* TEXT_CONST */
	bool has_default;                 /* REFERENCE: number is it */
	uint64_t relation_end;            /* REFERENCE: offset behind its relation */
	unsigned source, column;          /* COLUMN; of OWN, EARLIER: column */
	unsigned slot;                    /* of an aggregate, among those of the type */
};

struct desl_field {
	struct desl_word name;
	enum desl_kind kind; /* NO_KIND until checked where it was left out */
	struct desl_expr *filter;
	struct desl_word self; /* of selfreference; text NULL: none */
	bool is_bare;          /* written without its kind */
	bool is_own_done, is_visiting;
};

/* What is said of a record for which the condition holds; {name} in its text is the value of a field. */
struct desl_advice {
	struct desl_advice *next;
	struct desl_word text;
	struct desl_expr *condition; /* over fields of the type itself */
};

struct desl_type;

/* Records that a derived type is made from: those of a type, under a name. */
struct desl_source {
	struct desl_word name;
	struct desl_type *type;
	bool is_listed;             /* only for @: not joined */
	struct desl_expr *optional; /* the relation of its REFERENCE: a record that has none goes on without */
	bool has_default[DESL_FIELDS_MAX];
	double defaults[DESL_FIELDS_MAX];
	bool used[DESL_FIELDS_MAX]; /* outside aggregates that are over this source alone */
};

struct desl_type {
	struct desl_type *next;
	struct desl_word name;
	bool is_input, is_wanted;
	bool is_broken;        /* a clause of it was not read: what is there may lack parts, and is not checked */
	struct desl_word file; /* of an input */
	struct desl_field fields[DESL_FIELDS_MAX];
	unsigned field_count;
	struct desl_source *sources; /* DESL_SOURCES_MAX */
	unsigned source_count, alias_count;
	struct desl_expr *constraints; /* several clauses are all to hold */
	struct desl_expr *groups;
	struct desl_advice *advices;
	unsigned advice_count;
	struct diag_location aliases_end;
	bool is_grouped;
	/* Checked: */
	struct desl_expr **conjuncts; /* relations that all hold */
	unsigned conjunct_count;
	struct desl_expr **aggregates;
	unsigned aggregate_count;
	int self_field;                             /* -1: none */
	struct desl_expr *earlier_key, *record_key; /* of selfreference: what a record asks for, what it is found by */
	bool has_earlier_default[DESL_FIELDS_MAX], is_referenced[DESL_FIELDS_MAX];
	double earlier_defaults[DESL_FIELDS_MAX];
	uint64_t reference_ends[DESL_FIELDS_MAX]; /* offset behind the relation of the reference */
	bool is_checked, is_visiting, is_top_down;
	unsigned order[DESL_FIELDS_MAX]; /* in which fields can be worked out */
	/* Run: */
	struct desl_table table;
	bool is_done;
	size_t divided; /* records left out */
};

struct desl_program {
	struct arena *arena;
	const struct diag_source *source;
	struct desl_type *types;
	unsigned type_count;
	struct desl_expr *outputs; /* NAMEs */
	struct desl_texts texts;
};

struct desl_type *desl_find_type(const struct desl_program *program, const char *name);
int desl_find_field(const struct desl_type *type, const char *name); /* -1: none */
const char *desl_kind_word(enum desl_kind kind);

/* Resolves and judges. Messages go to the report. */
struct desl_reading;
void desl_check(struct desl_reading *reading);

#endif
