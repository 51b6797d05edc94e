// SPDX-License-Identifier: BSD-2-Clause
/*
 * Parses metadata. The prologue is compared token by token with the one that is written, so there is no second
 * description of it; behind it only string types and events are allowed.
 */

#include "trace/ctf/metadata.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { NAME_BYTES_MAX = 128 };

enum token_kind { TOKEN_END, TOKEN_WORD, TOKEN_NUMBER, TOKEN_STRING, TOKEN_SIGN, TOKEN_WRONG };

struct token {
	enum token_kind kind;
	const char *at;
	size_t length;
};

struct scanner {
	const char *start, *at, *end;
	const char *comment; /* the last one before what was scanned last; NULL: none is */
	size_t comment_length;
};

struct parser {
	struct scanner scanner;
	struct token token; /* the next one */
	const struct diag_source *source;
	struct asterism_diag *diag;
	struct arena *arena;
	struct ctf_event *events;
	size_t event_count, event_capacity;
	bool ids[2][EVENT_PACKED_ID_MAX + 1]; /* per stream class */
	bool has_sensors;
};

static bool is_metadata_word_char(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static void skip_metadata_blanks(struct scanner *scanner)
{
	scanner->comment = NULL;
	while (scanner->at < scanner->end) {
		size_t left = (size_t)(scanner->end - scanner->at);
		const char *close;

		if (*scanner->at == ' ' || *scanner->at == '\t' || *scanner->at == '\n') {
			scanner->at++;
			continue;
		}
		if (left < 4 || scanner->at[0] != '/' || scanner->at[1] != '*')
			return;
		close = memmem(scanner->at + 2, left - 2, "*/", 2);
		if (!close)
			return;
		scanner->comment = scanner->at;
		scanner->at = close + 2;
		scanner->comment_length = (size_t)(scanner->at - scanner->comment);
	}
}

/* The end of the string that begins at at, behind its quote; NULL where it has none on its line. */
static const char *string_end(const char *at, const char *end)
{
	for (at++; at < end && *at != '\n'; at++) {
		if (*at == '"')
			return at + 1;
		if (*at == '\\')
			at++;
	}
	return NULL;
}

static struct token scan(struct scanner *scanner)
{
	struct token token = { .kind = TOKEN_END };
	const char *at, *end = scanner->end;

	skip_metadata_blanks(scanner);
	token.at = at = scanner->at;
	if (at == end)
		return token;
	if (is_metadata_word_char(*at)) {
		token.kind = isdigit((unsigned char)*at) ? TOKEN_NUMBER : TOKEN_WORD;
		while (at < end && is_metadata_word_char(*at))
			at++;
	} else if (*at == '"') {
		token.kind = TOKEN_STRING;
		at = string_end(at, end);
	} else if (strchr("{}[]();=.@", *at) && *at) {
		token.kind = TOKEN_SIGN;
		at++;
	} else if (*at == ':' && end - at >= 2 && at[1] == '=') {
		token.kind = TOKEN_SIGN;
		at += 2;
	} else {
		at = NULL;
	}
	if (!at) {
		token.kind = TOKEN_WRONG;
		at = token.at + 1;
	}
	token.length = (size_t)(at - token.at);
	scanner->at = at;
	return token;
}

static void advance_parser(struct parser *parser)
{
	parser->token = scan(&parser->scanner);
}

static int fail_metadata(struct parser *parser, const char *text)
{
	const char *start = parser->scanner.start, *at = parser->token.at, *line = start;
	struct diag_location location = { .source = parser->source,
					  .line = 1,
					  .length = (uint32_t)parser->token.length };

	for (const char *c = start; c < at; c++) {
		if (*c == '\n') {
			location.line++;
			line = c + 1;
		}
	}
	location.offset = (uint64_t)(at - start);
	location.column = (uint32_t)(at - line) + 1;
	return diag_error(parser->diag, &location, -EINVAL, "%s (byte %llu)", text,
			  (unsigned long long)location.offset);
}

static bool is_token(const struct token *token, const char *text)
{
	return token->length == strlen(text) && memcmp(token->at, text, token->length) == 0;
}

static int expect_metadata_text(struct parser *parser, const char *text)
{
	char message[64];

	if (is_token(&parser->token, text)) {
		advance_parser(parser);
		return 0;
	}
	snprintf(message, sizeof message, "expected '%s' here", text);
	return fail_metadata(parser, message);
}

/* Each of the tokens, which are parted by blanks. */
static int expect_all(struct parser *parser, const char *text)
{
	struct scanner wanted = { .start = text, .at = text, .end = text + strlen(text) };
	struct token token;

	while ((token = scan(&wanted)).kind != TOKEN_END) {
		char one[32];
		int result;

		snprintf(one, sizeof one, "%.*s", (int)token.length, token.at);
		result = expect_metadata_text(parser, one);
		if (result)
			return result;
	}
	return 0;
}

static int read_metadata_number(struct parser *parser, uint64_t limit, uint64_t *number)
{
	const struct token *token = &parser->token;

	*number = 0;
	if (token->kind != TOKEN_NUMBER)
		return fail_metadata(parser, "expected a number here");
	for (size_t i = 0; i < token->length; i++) {
		if (!isdigit((unsigned char)token->at[i]))
			return fail_metadata(parser, "this is not a decimal number");
		if (__builtin_mul_overflow(*number, 10, number) ||
		    __builtin_add_overflow(*number, (uint64_t)(token->at[i] - '0'), number) || *number > limit)
			return fail_metadata(parser, "this number is too large");
	}
	advance_parser(parser);
	return 0;
}

static int read_uuid(struct parser *parser, uint8_t uuid[CTF_UUID_BYTES])
{
	const struct token *token = &parser->token;
	size_t digits = 0;

	memset(uuid, 0, CTF_UUID_BYTES);
	if (token->kind != TOKEN_STRING || token->length != 38)
		return fail_metadata(parser, "expected a UUID here");
	for (size_t i = 1; i < 37; i++) {
		unsigned char c = (unsigned char)token->at[i];
		bool is_dash = i == 9 || i == 14 || i == 19 || i == 24;

		if (is_dash ? c != '-' : !isxdigit(c))
			return fail_metadata(parser, "this is not a UUID");
		if (is_dash)
			continue;
		c = (unsigned char)(isdigit(c) ? c - '0' : (c | 32) - 'a' + 10);
		uuid[digits / 2] = (uint8_t)(uuid[digits / 2] << 4 | c);
		digits++;
	}
	advance_parser(parser);
	return 0;
}

/* The text of a string; of one with escapes, which no host's name has, none. */
static void take_host_token(const struct token *token, char host[EVENT_HOST_BYTES])
{
	if (token->kind == TOKEN_STRING && !memchr(token->at, '\\', token->length))
		snprintf(host, EVENT_HOST_BYTES, "%.*s", (int)token->length - 2, token->at + 1);
}

/* Whether the list has the name between its commas. */
static bool lists(const char *list, const char *name, size_t length)
{
	for (const char *at = list; *at; at += strspn(at, ", ")) {
		size_t one = strcspn(at, ",");

		if (one == length && !memcmp(at, name, length))
			return true;
		at += one;
	}
	return false;
}

/* "TIME +type -type": the types go to the list, as far as there is room. */
static void take_change(const struct token *token, char changed[CTF_CHANGED_BYTES])
{
	const char *at = token->at + 1, *end = token->at + token->length - 1;

	while (token->kind == TOKEN_STRING && at < end) {
		const char *word = at;
		size_t used = strlen(changed), length;

		while (at < end && *at != ' ')
			at++;
		length = (size_t)(at - word);
		at += at < end;
		if (length < 2 || (*word != '+' && *word != '-') || lists(changed, word + 1, length - 1))
			continue;
		if (used + length + sizeof ", " < CTF_CHANGED_BYTES)
			snprintf(changed + used, CTF_CHANGED_BYTES - used, "%s%.*s", used ? ", " : "", (int)length - 1,
				 word + 1);
		else if (used + sizeof ", ..." <= CTF_CHANGED_BYTES && !strstr(changed, "..."))
			strcpy(changed + used, ", ...");
	}
}

/* Of the environment only the host matters, and what was not recorded all the time. */
static int read_env(struct parser *parser, struct ctf_metadata *metadata)
{
	int result = 0;

	while (!result && parser->token.kind == TOKEN_WORD) {
		bool is_host = is_token(&parser->token, "hostname");
		bool is_change = parser->token.length > strlen(CTF_ENV_CHANGE) &&
				 !memcmp(parser->token.at, CTF_ENV_CHANGE, strlen(CTF_ENV_CHANGE));

		advance_parser(parser);
		result = expect_metadata_text(parser, "=");
		if (result)
			break;
		if (parser->token.kind != TOKEN_STRING && parser->token.kind != TOKEN_NUMBER)
			return fail_metadata(parser, "expected a string or a number here");
		if (is_host)
			take_host_token(&parser->token, metadata->host);
		if (is_change)
			take_change(&parser->token, metadata->changed);
		advance_parser(parser);
		result = expect_metadata_text(parser, ";");
	}
	return result;
}

/* What stands for the place that the prologue marks with @mark. */
static int read_mark(struct parser *parser, char mark, struct ctf_metadata *metadata)
{
	uint64_t number;
	int result;

	switch (mark) {
	case '1':
		return read_uuid(parser, metadata->uuid);
	case '2':
		return read_env(parser, metadata);
	case '3':
		result = read_metadata_number(parser, INT64_MAX / 1000000000, &number);
		metadata->wall_ns = result ? 0 : number * 1000000000;
		return result;
	default:
		result = read_metadata_number(parser, 999999999, &number);
		metadata->wall_ns += result ? 0 : number;
		return result;
	}
}

static int read_prologue(struct parser *parser, struct ctf_metadata *metadata)
{
	const char *text = ctf_metadata_prologue;
	struct scanner wanted = { .start = text, .at = text, .end = text + strlen(text) };
	struct token token;

	while ((token = scan(&wanted)).kind != TOKEN_END) {
		int result = 0;

		if (*token.at == '@') {
			token = scan(&wanted);
			result = read_mark(parser, *token.at, metadata);
		} else if (token.length == parser->token.length && token.kind == parser->token.kind &&
			   memcmp(token.at, parser->token.at, token.length) == 0) {
			advance_parser(parser);
		} else {
			result = fail_metadata(parser, "this differs from what traces of asterism contain here");
		}
		if (result)
			return result;
	}
	return 0;
}

/* A name, without the first bytes of it; letters, digits and underscores, no digit first. */
static int take_metadata_name(struct parser *parser, size_t skipped, const char **name)
{
	const struct token *token = &parser->token;
	const char *at = token->at + skipped;
	size_t length = token->length - skipped - (token->kind == TOKEN_STRING);

	if (length == 0 || length > NAME_BYTES_MAX || isdigit((unsigned char)*at))
		return fail_metadata(parser, "this is not a name");
	for (size_t i = 0; i < length; i++) {
		if (!is_metadata_word_char(at[i]))
			return fail_metadata(parser, "this is not a name");
	}
	*name = arena_text(parser->arena, at, length);
	if (!*name)
		return -ENOMEM;
	advance_parser(parser);
	return 0;
}

/* textN, N being the capacity. */
static int read_text_type(struct parser *parser, uint32_t *bytes)
{
	const struct token *token = &parser->token;
	uint32_t number = 0;

	if (token->length < 5 || token->length > 8 || memcmp(token->at, "text", 4) != 0)
		return fail_metadata(parser, "unknown type");
	for (size_t i = 4; i < token->length; i++) {
		if (!isdigit((unsigned char)token->at[i]))
			return fail_metadata(parser, "unknown type");
		number = number * 10 + (uint32_t)(token->at[i] - '0');
	}
	if (number < 8 || number % 8 || number > EVENT_RECORD_BYTES_MAX - sizeof(struct event_header))
		return fail_metadata(parser, "invalid capacity of a string");
	*bytes = number;
	advance_parser(parser);
	return 0;
}

/* A sensor's string: what is said of the sensor tells the capacity. */
static int read_metadata_text(struct parser *parser, struct ctf_field *field)
{
	field->bytes = 0;
	return expect_all(parser, "string { encoding = UTF8; }");
}

static int read_metadata_field(struct parser *parser, struct ctf_field *field)
{
	int result;

	*field = (struct ctf_field){ .value = EVENT_STRING, .bytes = 8 };
	for (enum event_value value = EVENT_U8; value < EVENT_STRING; value++) {
		if (is_token(&parser->token, ctf_value_name(value)))
			field->value = value;
	}
	if (field->value == EVENT_STRING && is_token(&parser->token, "string"))
		result = read_metadata_text(parser, field);
	else if (field->value == EVENT_STRING)
		result = read_text_type(parser, &field->bytes);
	else
		result = (advance_parser(parser), 0);
	if (result)
		return result;
	if (parser->token.kind != TOKEN_WORD || *parser->token.at != '_')
		return fail_metadata(parser, "the name of a field begins with '_'");
	result = take_metadata_name(parser, 1, &field->name);
	return result ? result : expect_metadata_text(parser, ";");
}

static int read_event_fields(struct parser *parser, struct ctf_event *event)
{
	struct ctf_field fields[EVENT_FIELDS_MAX], *kept;
	uint32_t count = 0;

	while (!is_token(&parser->token, "}")) {
		struct token first = parser->token;
		int result;

		if (count == EVENT_FIELDS_MAX)
			return fail_metadata(parser, "the event has too many fields");
		result = read_metadata_field(parser, &fields[count]);
		if (result)
			return result;
		if (count && fields[count - 1].value == EVENT_STRING && fields[count].value != EVENT_STRING) {
			parser->token = first;
			return fail_metadata(parser, "a number follows a string");
		}
		count++;
	}
	kept = arena_zero(parser->arena, count, sizeof *kept);
	if (!kept)
		return -ENOMEM;
	memcpy(kept, fields, count * sizeof *kept);
	event->fields = kept;
	event->field_count = count;
	return 0;
}

/* Of which stream class the event is; of sensors, comment says more of it. */
static int read_class(struct parser *parser, const struct scanner *comment, struct ctf_event *event)
{
	int result;

	if (!parser->has_sensors || !is_token(&parser->token, "1"))
		return expect_metadata_text(parser, "0");
	advance_parser(parser);
	if (!comment->comment)
		return fail_metadata(parser, "a comment before the event must say whose sensor it is");
	result = ctf_sensor_read(comment->comment, comment->comment_length, parser->arena, &event->sensor);
	return result == -EINVAL ? fail_metadata(parser, "the comment before the event does not say whose sensor it is")
				 : result;
}

/* Only what is said of a sensor tells how long a string may be. */
static int check_texts(struct parser *parser, const struct ctf_event *event)
{
	for (uint32_t i = 0; i < event->field_count; i++)
		if (event->fields[i].value == EVENT_STRING && !event->fields[i].bytes != (event->sensor != NULL))
			return fail_metadata(parser, "the strings of the event have the wrong type");
	return 0;
}

static int read_metadata_event(struct parser *parser)
{
	const struct scanner before = parser->scanner;
	struct ctf_event event = { 0 };
	uint64_t id = 0;
	int result = expect_all(parser, "event { name =");

	if (!result && parser->token.kind != TOKEN_STRING)
		result = fail_metadata(parser, "expected a name in quotes here");
	if (!result)
		result = take_metadata_name(parser, 1, &event.name);
	if (!result)
		result = expect_all(parser, "; id =");
	const struct token id_token = parser->token;

	if (!result)
		result = read_metadata_number(parser, EVENT_PACKED_ID_MAX, &id);
	if (!result)
		result = expect_all(parser, "; stream_id =");
	if (!result)
		result = read_class(parser, &before, &event);
	if (!result && (id < EVENT_PACKED_ID_FIRST || parser->ids[event.sensor != NULL][id])) {
		parser->token = id_token;
		result = fail_metadata(parser, "this id belongs to another event");
	}
	if (!result)
		result = expect_all(parser, "; fields := struct {");
	if (!result)
		result = read_event_fields(parser, &event);
	if (!result)
		result = check_texts(parser, &event);
	if (!result)
		result = expect_all(parser, "}; };");
	if (result)
		return result;
	parser->ids[event.sensor != NULL][id] = true;
	event.id = (uint32_t)id;
	if (alloc_grow(&parser->events, &parser->event_capacity, parser->event_count, sizeof event))
		return -ENOMEM;
	parser->events[parser->event_count++] = event;
	return 0;
}

static int read_string_type(struct parser *parser)
{
	int result = expect_all(parser, "typealias string { encoding = UTF8; } :=");
	uint32_t bytes;

	if (!result)
		result = read_text_type(parser, &bytes);
	return result ? result : expect_metadata_text(parser, ";");
}

static int read_metadata_sensors(struct parser *parser)
{
	int result = parser->has_sensors ? fail_metadata(parser, "more than one stream of sensors")
					 : expect_all(parser, ctf_metadata_sensors);

	parser->has_sensors = true;
	return result;
}

static int read_piece(struct parser *parser)
{
	if (is_token(&parser->token, "typealias"))
		return read_string_type(parser);
	return is_token(&parser->token, "stream") ? read_metadata_sensors(parser) : read_metadata_event(parser);
}

static int read_declarations(struct parser *parser, struct ctf_metadata *metadata)
{
	struct ctf_event *events;
	int result = read_prologue(parser, metadata);

	while (!result && parser->token.kind != TOKEN_END)
		result = read_piece(parser);
	if (result)
		return result;
	events = arena_zero(parser->arena, parser->event_count, sizeof *events);
	if (!events)
		return -ENOMEM;
	if (parser->event_count)
		memcpy(events, parser->events, parser->event_count * sizeof *events);
	metadata->events = events;
	metadata->event_count = parser->event_count;
	metadata->has_sensors = parser->has_sensors;
	return 0;
}

int ctf_metadata_read(const struct diag_source *text, struct arena *arena, struct asterism_diag *diag,
		      struct ctf_metadata *metadata)
{
	struct parser *parser = alloc_zero(1, sizeof *parser);
	int result;

	*metadata = (struct ctf_metadata){ 0 };
	if (!parser)
		return diag_no_memory(diag);
	*parser = (struct parser){
		.scanner = { .start = text->text, .at = text->text, .end = text->text + text->length },
		.source = text,
		.diag = diag,
		.arena = arena,
	};
	advance_parser(parser);
	result = read_declarations(parser, metadata);
	if (result == -ENOMEM)
		diag_no_memory(diag);
	alloc_free(parser->events);
	alloc_free(parser);
	return result;
}
