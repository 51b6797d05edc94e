/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef BASE_CREATE_H
#define BASE_CREATE_H

/*
 * Files and folders that hold what was observed: for their owner alone unless a mode says otherwise, never in the place
 * of what is somebody else's, and never behind a symbolic link in the last component of their path. All functions
 * return a descriptor (close-on-exec), or -errno and in *why what is wrong, one clause that is valid until the next
 * call that fails.
 */

#include <stdbool.h>
#include <sys/types.h>

enum {
	CREATE_MODE = 0600,
	CREATE_READER_MS = 2000, /* how long a pipe waits for a reader */
};

struct create_how {
	mode_t mode; /* of files; 0: CREATE_MODE */
	int flags;   /* O_APPEND: what the file holds stays, and so does its mode, else it is emptied; O_NONBLOCK */
};

/*
 * Opens path to write to. A file that is there must be the user's own and have this one name. Pipes and character
 * devices are taken as they are; a pipe that nobody reads is refused, after CREATE_READER_MS or, under O_NONBLOCK, at
 * once. /dev/stdout, /dev/stderr and /dev/fd/N are the descriptors of this process, as
 * everywhere.
 */
int create_file(const char *path, const struct create_how *how, const char **why);

/* Makes the file name in folder, which must not have one of that name. */
int create_in(int folder, const char *name, mode_t mode, const char **why);

/*
 * The folder at path, made where there is none (*made, where it is not NULL, tells); who may read files of mode may
 * look into it. One that is there must be the user's own; it gets the mode of a new one where it is empty.
 */
int create_folder(const char *path, mode_t mode, bool *made, const char **why);

/* 1 where a folder holds nothing, 0 where it holds something, -errno. */
int create_is_empty(int folder);

#endif
