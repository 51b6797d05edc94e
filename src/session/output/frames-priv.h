/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SESSION_OUTPUT_FRAMES_PRIV_H
#define SESSION_OUTPUT_FRAMES_PRIV_H

/* What the naming of stacks and that of single addresses share: the files that they have looked into. */

#include "session/output/frames.h"

#include "base/elf-code.h"
#include "session/output/debug-info.h"
#include "session/output/map-log.h"
#include "session/output/mappings.h"
#include "session/output/symbols.h"

enum { FRAMES_PARTS = ELF_DATA + 1 };

struct frames_file {
	/* A file by what changes when it does. */
	struct frames_identity {
		dev_t device;
		ino_t inode;
		off_t size;
		struct timespec changed;
	} identity;
	struct symbols *symbols[FRAMES_PARTS]; /* NULL: it has none, or they were not wanted, or read, yet */
	bool is_read[FRAMES_PARTS], is_debug_sought;
	struct debug_info *debug; /* NULL: likewise */
	uint64_t used;            /* when, in calls */
};

/* What is known of the file mapped there, with the symbols of part; NULL: it cannot be opened. */
const struct frames_file *frames_file_of(struct frames *frames, const struct mappings *mappings,
					 const struct mapping *mapping, enum elf_part part);

/* The function at byte `offset` of the file: by its own table, else by its debugging information, with the line. */
struct debug_place frames_place_of(const struct frames_file *file, uint64_t offset);

/* Whether the process of this id now is the one that the match met. */
bool frames_is_there(const struct program_match *match);

/* What processes have mapped; NULL: there is none. */
struct map_log *frames_log(struct frames *frames);

/* One more that the files are looked at for. */
void frames_begin(struct frames *frames);

#endif
