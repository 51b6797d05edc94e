/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef ASTERISM_DIAG_H
#define ASTERISM_DIAG_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A diag is the list of messages that one operation left behind: errors, warnings and notes, each with the place it
 * speaks of. The caller owns it, hands it to any number of operations and prints it when and where it likes.
 * One diag belongs to one thread at a time. Recording a message never fails: when memory is short, a fixed message
 * that says so takes its place.
 */
struct asterism_diag;

enum asterism_severity {
	ASTERISM_NOTE,
	ASTERISM_WARNING,
	ASTERISM_ERROR,
};

/* One message, borrowed from the diag and valid until the diag is changed or freed. */
struct asterism_message {
	enum asterism_severity severity;
	const char *file;   /* name of the input, NULL when the message is about none */
	uint32_t line;      /* from 1; 0 when the place is a byte offset or unknown */
	uint32_t column;    /* from 1, in bytes */
	uint32_t length;    /* bytes to underline, at least 1 where line is set */
	uint64_t offset;    /* byte offset in the input */
	const char *source; /* the source line, without its newline; NULL where unknown */
	const char *text;   /* what is wrong, one sentence */
	const char *hint;   /* what would be right, or NULL */
};

/* A new empty diag, or NULL when memory is short. */
struct asterism_diag *asterism_diag_new(void);

/* Frees diag and its messages. NULL is fine. */
void asterism_diag_free(struct asterism_diag *diag);

/* Drops all messages. */
void asterism_diag_clear(struct asterism_diag *diag);

/* The number of messages of severity or worse. */
size_t asterism_diag_count(const struct asterism_diag *diag, enum asterism_severity severity);

/* Message number index (from 0, in the order reported), or NULL past the end. */
const struct asterism_message *asterism_diag_get(const struct asterism_diag *diag, size_t index);

#ifdef __cplusplus
}
#endif

#endif
