/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef MEANING_MEANING_H
#define MEANING_MEANING_H

/*
 * What a number stands for, beside its type: a duration, a system call, flags of open. It decides how people read the
 * number, which names stand for it in rules, and what it may be compared with. Meanings are rows of one table
 * (meaning.c) and live for ever; NULL is the number that is nothing but a number. A family holds the names of a
 * meaning's values, a table each.
 */

#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum meaning_form {
	MEANING_NUMBER = 1, /* as it is */
	MEANING_DURATION,   /* ns: 30.1ms */
	MEANING_TIME,       /* ns of CLOCK_MONOTONIC: 12.345678901 */
	MEANING_ADDRESS,    /* 0x7f12 */
	MEANING_BYTES,      /* 1.4 MiB */
	MEANING_MODE,       /* S_IFREG|0644 */
	MEANING_DEVICE,     /* 8:1, the kernel's major << 20 | minor */
	MEANING_IP4,        /* 127.0.0.1, the number 0x7f000001 */
	MEANING_IP,         /* a string: 127.0.0.1, ::1, or what a socket of UNIX is called */
	MEANING_PRIORITY,   /* the kernel's, 0..139: rt 50, nice 0 */
	MEANING_TRUTH,      /* false, true */
	MEANING_DESCRIPTOR, /* 32 bits whatever the argument's type */
	MEANING_NAME,       /* one of the family's names, else as it is */
	MEANING_FLAGS,      /* the family's names joined by '|', what is left in hex */
	MEANING_RESULT,     /* the errno where negative: -ENOENT */
};

struct meaning_family;

struct meaning {
	const char *text; /* as catalogs write it: "duration", "flags open" */
	enum meaning_form form;
	const struct meaning_family *family; /* or NULL */
	bool is_given;                       /* what system calls give back may be it: comparable with a result */
};

/* Those that the language itself speaks of; others are looked up. */
extern const struct meaning meaning_duration, meaning_time, meaning_addr, meaning_pid, meaning_tid, meaning_uid,
	meaning_gid;

/* A number as events have it: 64 bits. */
struct meaning_number {
	uint64_t word;
	bool is_signed;
};

enum {
	MEANING_NAME_BYTES = 64,  /* the longest name of a constant, with its NUL */
	MEANING_TEXT_BYTES = 1024 /* the longest text that meaning_show gives, likewise */
};

/* The meaning written as text, or NULL. */
const struct meaning *meaning_find(const char *text);

/* The meanings in their order; NULL past the end. */
const struct meaning *meaning_get(size_t index);

/* The text of a meaning that is near to wanted, or NULL. */
const char *meaning_nearest(const char *wanted);

/* Whether text is the first word of a meaning of two, "flags" or "enum". */
bool meaning_has_second(const char *text);

/* Whether values of both may be compared: of one meaning or sort, or one an address or of none, or header fields. */
bool meaning_is_comparable(const struct meaning *a, const struct meaning *b);

/* Whether it is an amount that a number of times, or a part, of it still is. */
bool meaning_is_amount(const struct meaning *meaning);

/* Whether strings have it, and no numbers. */
bool meaning_is_text(const struct meaning *meaning);

/* Whether constants with names belong to it. */
bool meaning_has_names(const struct meaning *meaning);

/* Whether the host says what its constants are called: users and groups. Such names may stand in quotes. */
bool meaning_is_of_host(const struct meaning *meaning);

/* The number that name stands for among values of this meaning. False: it is no name of the family. */
bool meaning_constant(const struct meaning *meaning, const char *name, int64_t *number);

/* Stores the name of the family that is nearest to wanted. False: none is near enough to be meant. */
bool meaning_nearest_constant(const struct meaning *meaning, const char *wanted, char nearest[MEANING_NAME_BYTES]);

/* Appends the number as people read it; meaning may be NULL. */
void meaning_show(struct text_buffer *text, const struct meaning *meaning, struct meaning_number number);

/* The same of a real; where the meaning has no form for parts, false is returned and nothing appended. */
bool meaning_show_real(struct text_buffer *text, const struct meaning *meaning, double real);

/* Appends the family's name for the number: false: it has none, and nothing is appended. */
bool meaning_name(struct text_buffer *text, const struct meaning *meaning, struct meaning_number number);

/*
 * The names of this host's users and groups, for ids of events that are its own. May be used by several threads.
 * -ENOMEM. Nothing has a name until meaning_users_ask has been called.
 */
struct meaning_users;
int meaning_users_new(struct meaning_users **made);
void meaning_users_free(struct meaning_users *users);
void meaning_users_ask(struct meaning_users *users);

/* Appends the name of a user or a group. False: it is neither, or without a name; users may be NULL. */
bool meaning_user(struct meaning_users *users, const struct meaning *meaning, struct meaning_number number,
		  struct text_buffer *text);

#endif
