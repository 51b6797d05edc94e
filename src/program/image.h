/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PROGRAM_IMAGE_H
#define PROGRAM_IMAGE_H

/*
 * The program image: rules compiled to automata in a flat, position-independent form, little-endian, every reference
 * an index into a table of the image. What each executor must do with it is told in docs/internals/execution.md;
 * program/load.h is the only way to get one, and validates everything said here, so executors may index without checks.
 */

#include "program/image-aggregate.h"
#include "program/image-node.h"
#include "program/image-notice.h"

#include <stdint.h>

#define PROGRAM_MAGIC "ASTC"
#define PROGRAM_NONE  UINT32_MAX

enum { PROGRAM_VERSION = 7 };

enum program_section_id {
	PROGRAM_STRINGS,      /* bytes: NUL-terminated texts; a text reference is a byte offset here */
	PROGRAM_TYPES,        /* struct program_type */
	PROGRAM_FIELDS,       /* struct program_field; 0..4 are the header fields ts cpu pid tid comm, of no type */
	PROGRAM_RULES,        /* struct program_rule */
	PROGRAM_ELEMENTS,     /* struct program_element */
	PROGRAM_SLOTS,        /* struct program_slot */
	PROGRAM_STATES,       /* struct program_state */
	PROGRAM_TRANSITIONS,  /* struct program_transition */
	PROGRAM_ACTIONS,      /* struct program_action */
	PROGRAM_NODES,        /* struct program_node */
	PROGRAM_CLASSES,      /* struct program_class */
	PROGRAM_KEYS,         /* struct program_key */
	PROGRAM_INDICES,      /* uint32_t: lists that the other tables point into */
	PROGRAM_RETURNS,      /* struct program_return */
	PROGRAM_STATEMENTS,   /* struct program_statement */
	PROGRAM_ARGS,         /* struct program_arg */
	PROGRAM_NOTICES,      /* struct program_notice */
	PROGRAM_PIECES,       /* struct program_piece */
	PROGRAM_AGGREGATIONS, /* struct program_aggregation */
	PROGRAM_AGGREGATES,   /* struct program_aggregate */
	PROGRAM_SECTION_COUNT,
};

struct program_section {
	uint32_t offset; /* from the start of the image, multiple of 8 */
	uint32_t count;  /* items; bytes for PROGRAM_STRINGS */
};

struct program_header {
	char magic[4];
	uint16_t version;
	uint16_t header_bytes;
	uint32_t total_bytes;
	uint32_t checksum; /* CRC-32 (IEEE 802.3) of all bytes after this field */
	struct program_section sections[PROGRAM_SECTION_COUNT];
};

struct program_type {
	uint32_t name;
	uint32_t first_field, field_count; /* body fields */
	uint32_t record_bytes;
	uint32_t sensor; /* 1 + text: by what applications raise it, NAME or PROGRAM:NAME; 0: none do */
};

struct program_field {
	uint32_t name;
	uint32_t value;  /* enum event_value */
	uint32_t offset; /* in the event record */
	uint32_t bytes;
	uint32_t meaning; /* 1 + text: what numbers stand for (meaning/meaning.h); 0: nothing else */
};

enum program_semantics {
	PROGRAM_STRICT_SEQUENCE = 1,
	PROGRAM_STRICT_PARTITION,
	PROGRAM_SKIP_TILL_NEXT,
	PROGRAM_SKIP_TILL_ANY,
	PROGRAM_MACHINE, /* not a pattern: docs/internals/execution.md, "Machines" */
};

enum program_mode { PROGRAM_ANY_MODE, PROGRAM_SYNCHRONOUS, PROGRAM_ASYNCHRONOUS };
enum program_loss { PROGRAM_TAINT, PROGRAM_DISCARD, PROGRAM_KEEP };

enum program_rule_flag {
	PROGRAM_RULE_DROP = 1 << 0,     /* AFTER MATCH DROP; classes are then keyed by the joins alone, or DROP_ALL */
	PROGRAM_RULE_SEQUENCE = 1 << 1, /* RETURN SEQUENCE */
	PROGRAM_RULE_DEADLINE = 1 << 2, /* has a state that matches when the time is up */
	PROGRAM_RULE_OVER_ALL = 1 << 3, /* OVER { * }: types outside the image are part of the stream too */
	PROGRAM_RULE_TIMER = 1 << 4,    /* MACHINE: instances have timers */
	PROGRAM_RULE_SILENT = 1 << 5,   /* RETURN NOTHING: matches are counted and not reported */
	PROGRAM_RULE_DROP_ALL = 1 << 6, /* DROP where there are no joins: a match drops all runs */
	PROGRAM_RULE_REPLACE =
		1 << 7, /* a new run that finds no place takes the oldest one's, of a machine the idlest */
	PROGRAM_RULE_LATEST = 1 << 8, /* a run that enters a state replaces that of its key in it */
};

struct program_rule {
	uint32_t name;
	uint8_t semantics, mode, loss, reserved;
	uint64_t pool;      /* runs */
	uint64_t within_ns; /* 0: no limit */
	uint32_t first_element, element_count;
	uint32_t first_slot, slot_count, slot_bytes; /* slot_bytes: size of a run's slot area, multiple of 8 */
	uint32_t first_state, state_count;           /* the first one is the start state */
	uint32_t first_class, class_count;
	uint32_t first_over, over_count; /* in INDICES: the stream's types */
	uint32_t first_return, return_count;
	uint32_t first_statement, statement_count;
	uint32_t context_slot; /* DEADLINE, TIMER: first of 4 slots cpu, pid, tid, comm of the last positive event */
	uint32_t place;        /* text "file:line" */
	uint32_t source;       /* text: the rule's source on one line, for people */
	uint32_t first_notice, notice_count; /* MACHINE: what its transitions tell */
	uint32_t notice_slot;             /* notice_count: U64, which notice of the rule the transition tells, from 1 */
	uint32_t timer_slot;              /* TIMER: U64, when the instance's timer goes off; 0: never */
	uint32_t trail_slot, trail_count; /* first of 3 U64 slots for each of the last transitions, newest first */
	uint32_t severity;                /* enum severity */
	uint32_t description;             /* 1 + a text; 0: none */
	uint32_t first_tag, tag_count;    /* in INDICES: texts */
	uint32_t aggregation;             /* AGGREGATE: 1 + the row of AGGREGATIONS; 0: it has none */
	uint32_t except;                  /* 1 + a node, BOOL, over slots only: whether a match is excepted; 0: never */
	uint32_t flags;                   /* enum program_rule_flag */
	/* How many runs of one key, and that one process opened, there may be where one is opened; 0: all. */
	uint32_t per_key, per_process;
	uint32_t opener_slot; /* per_process: U64, the process that opened the run, or copied it; otherwise 0 */
};

enum program_element_flag { PROGRAM_ELEMENT_ARRAY = 1 << 0, PROGRAM_ELEMENT_NEGATED = 1 << 1 };

struct program_element {
	uint32_t type;
	uint32_t name; /* NONE where it has none */
	uint32_t flags;
	uint32_t reserved;
};

struct program_slot {
	uint32_t name; /* text, for people: "a.ts", "count of b" */
	uint32_t kind;
	uint32_t offset; /* in the slot area, multiple of 8 */
	uint32_t bytes;  /* 8, or a string's capacity */
};

enum program_state_flag {
	PROGRAM_STATE_DEADLINE = 1 << 0, /* a run here matches at first.ts + within_ns */
};

struct program_state {
	uint32_t label;                              /* text, for people; MACHINE: the state's name */
	uint32_t first_transition, transition_count; /* grouped by type; within a type in the order to try */
	uint32_t class; /* of the rule (from 0): where runs here wait; NONE for the start state */
	uint32_t flags;
	/* LATEST, per_key: 1 + the place in INDICES of a number and as many slots: the key of runs here beside the
	 * slots of its class; 0: there is no more to it. */
	uint32_t key;
};

/* PER PROCESS: numbers of processes below this have a share each; others share it with one of them. */
enum { PROGRAM_OPENERS = 1 << 15 };

#define PROGRAM_TARGET_END   (UINT32_MAX - 1) /* the run ends without a match */
#define PROGRAM_TARGET_MATCH (UINT32_MAX - 2) /* the run matches and ends */

enum program_transition_flag {
	PROGRAM_FORBID = 1 << 0,   /* target END; under SKIPTILLANY it ends the original too */
	PROGRAM_IN_PLACE = 1 << 1, /* progress of a negated sequence: no copy under SKIPTILLANY, not a positive event */
	PROGRAM_TELL = 1 << 2, /* MACHINE: the notice in the notice slot is told, and the instance goes on to target */
	PROGRAM_COPY = 1 << 3, /* MACHINE: taken by a copy of the instance, for the key that its actions write */
	PROGRAM_ARM = 1 << 4,  /* MACHINE: the timer is armed anew: among those due at one time it is the last */
	PROGRAM_GONE =
		1 << 5, /* with FORBID: the process or thread has ended that alone could have taken the run further */
};

#define PROGRAM_TIMER (UINT32_MAX - 1) /* type of a transition: the timer goes off */
struct program_transition {
	uint32_t type;
	uint32_t target; /* state of the rule (from 0), or PROGRAM_TARGET_* */
	uint32_t fit;    /* node, kind BOOL, or NONE (fits always): over the event and the slots as they were */
	uint32_t hold;   /* node, kind BOOL, or NONE: over the event and the slots after the actions */
	uint32_t first_action, action_count;
	uint32_t element; /* of the rule (from 0): the event becomes part of the match as this; NONE: it does not */
	uint32_t flags;
	uint32_t note; /* text, for people */
	uint32_t reserved;
};

enum program_action_op {
	PROGRAM_SET = 1, /* slot = value */
	PROGRAM_MIN,     /* slot = value if value < slot, in the slot's kind */
	PROGRAM_MAX,
};

struct program_action {
	uint32_t op;
	uint32_t slot; /* of the rule (from 0) */
	uint32_t node; /* kind = the slot's kind */
	uint32_t reserved;
};

enum { PROGRAM_KEY_SLOTS_MAX = 8, PROGRAM_SLOT_BYTES_MAX = 4096, PROGRAM_TAGS_MAX = 64 };

/*
 * A key class: the runs that wait in states of this class are found by the values of these slots. No slots: they all
 * wait under one key.
 */
struct program_class {
	uint32_t first_slot, slot_count; /* in INDICES: slots of the rule */
	uint32_t first_key, key_count;   /* in KEYS: the event types that concern runs of this class */
	uint32_t label;                  /* text, for people: "tid", "x.tid = f.child_pid", "all runs" */
	uint32_t reserved;
};

/*
 * For one event type, which of its fields carry the key of the class. Kinds match the slots'.
 * type NONE (only with header fields or no slots, and only with OVER_ALL): any type that has no entry of its own.
 */
struct program_key {
	uint32_t type;
	uint32_t first_field; /* in INDICES: as many FIELDS indices as slots; MACHINE: NONE is any value */
};

struct program_return {
	uint32_t name;
	uint32_t node;    /* over slots only */
	uint32_t notice;  /* MACHINE: the notice of the rule that it belongs to, from 1; else 0 */
	uint32_t there;   /* 1 + a node, BOOL, over slots only: whether the match has the value; 0: it always does */
	uint32_t first;   /* MACHINE: 1 + the first return (of the rule) of its notice with its text; 0: itself */
	uint32_t meaning; /* as program_field's */
};

struct program_statement {
	uint32_t type;     /* EMIT: the event type; NONE for CALL */
	uint32_t function; /* CALL: text */
	uint32_t first_arg, arg_count;
	uint32_t notice; /* as program_return's */
	uint32_t reserved;
};

struct program_arg {
	uint32_t node;    /* over slots only */
	uint32_t field;   /* EMIT: index in FIELDS; CALL: enum react_naming */
	uint32_t meaning; /* as program_field's */
};

_Static_assert(sizeof(struct program_header) == 16 + 8 * PROGRAM_SECTION_COUNT, "on-disk layout");
_Static_assert(sizeof(struct program_rule) == 160, "on-disk layout");
_Static_assert(sizeof(struct program_transition) == 40, "on-disk layout");

#endif
