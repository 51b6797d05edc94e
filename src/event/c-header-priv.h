/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef EVENT_C_HEADER_PRIV_H
#define EVENT_C_HEADER_PRIV_H

#include "event/c-header.h"
#include "event/scan-priv.h"

enum c_kind { C_END, C_NAME, C_NUMBER, C_SIGN, C_OTHER };

struct c_token {
	enum c_kind kind;
	struct event_span span;
	uint64_t number;
};

/* `#define name value`; is_number: value is one. */
struct c_define {
	struct event_span name, value;
	uint64_t number;
	bool is_number;
};

/* A header without comments and directives; the last token is a C_END. */
struct c_tokens {
	struct c_token *items;
	size_t count, capacity;
	struct c_define *defines;
	size_t define_count, define_capacity;
};

/* Takes the text apart. scan is only used for its text and its messages. Returns 0, -EINVAL (reported), -ENOMEM. */
int c_header_tokens_read(struct event_scan *scan, struct c_tokens *tokens);
void c_header_tokens_fini(struct c_tokens *tokens);

/* The last definition of this name, or NULL. */
const struct c_define *c_header_tokens_define(const struct c_tokens *tokens, struct event_span name);

static inline bool c_is(const struct c_token *token, const char *text)
{
	return event_span_is(token->span, text);
}

/* A type of C as a field has it. */
struct c_type {
	enum event_value value;
	uint32_t bytes;
	bool is_char;  /* arrays of these are strings */
	bool is_float; /* nothing can be made of it */
};

struct c_typedef {
	struct event_span name;
	struct c_type type;
};

struct c_types {
	struct c_typedef *items;
	size_t count, capacity;
};

/*
 * Takes a type from *at on, without what belongs to a declarator. 1: taken; 0: this is no type that is known, and *at
 * is where it ceases to be one.
 */
int c_header_types_take(const struct c_types *types, const struct c_token **at, struct c_type *type);

enum { C_NAME_BYTES_MAX = 64, C_ID_MAX = 65535 };

struct c_parser {
	struct event_scan scan;
	struct event_catalog *catalog;
	struct c_tokens tokens;
	struct c_types types;
	const struct c_token *at;
	const struct c_define *handle; /* events come from this provider only; NULL: from any */
	bool has_type, has_size;       /* of the header of all events */
	size_t events;
	bool reads_events;  /* the second time */
	bool has_attribute; /* the struct at work */
	uint64_t ids[(C_ID_MAX + 1) / 64];
	/* The struct at work. */
	uint64_t bytes, align;
	struct event_field_spec fields[EVENT_FIELDS_MAX];
	const char *paths[EVENT_FIELDS_MAX];
	uint32_t field_count;
};

static inline int c_no_memory(struct c_parser *parser)
{
	return diag_no_memory(parser->scan.diag);
}

static inline int c_expected(struct c_parser *parser, const char *what)
{
	parser->scan.at = parser->at->span.start;
	return event_scan_expected(&parser->scan, what);
}

static inline bool c_take(struct c_parser *parser, const char *sign)
{
	if (!c_is(parser->at, sign))
		return false;
	parser->at++;
	return true;
}

/* From behind the brace that opens a struct to behind the one that closes it: its fields, bytes and paths. */
int c_header_fields_take(struct c_parser *parser);

/* One field more. Both return 0, -EINVAL (reported), -ENOMEM. */
int c_header_fields_add(struct c_parser *parser, struct event_span span, const struct event_field_spec *field,
			const char *path);

#endif
