/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SENSOR_STREAM_FOLLOW_H
#define SENSOR_STREAM_FOLLOW_H

/*
 * What a directory tells of the processes that have some wanted sensors: the directory that serves, or where none does,
 * one of our own; and the next one, when it has gone. No ring is looked at here. Everything happens in the calls of its
 * owner's thread.
 */

#include "base/diag.h"
#include "sensor/observer.h"
#include "sensor/stream/process.h"

struct follow;

struct follow_options {
	const struct stream_wants *wants; /* borrowed */
	uint32_t flags;                   /* enum sensor_observe_flags; 0: to read the areas */
	/* A process; takes the area. Told once more of the same one where its directory is another. */
	int (*on_process)(void *context, const struct sensor_notice *notice);
	int (*on_type)(void *context, const struct sensor_notice *notice);
	void (*on_ended)(void *context, uint64_t number);
	int (*on_left_out)(void *context, const struct sensor_notice *notice); /* a process that is refused */
	void (*on_gone)(void *context); /* the directory: nobody raises anything until there is another; may be NULL */
	void *context;
	struct asterism_diag *diag; /* what is told while it goes on */
	bool is_quiet;              /* but which sensors are waited for */
};

/* Returns once the directory has been asked for everything, and has told of who is there. Returns 0, -ENOMEM, -EACCES,
 * -errno, with a sentence; or what a callback returned. */
int follow_new(const struct follow_options *options, struct asterism_diag *diag, struct follow **made);
void follow_free(struct follow *follow);

/* Readable when there is news. */
int follow_fd(const struct follow *follow);

/* Takes what there is to be told, and looks after the directory. Returns 0, the first failure of a callback, -errno. */
int follow_serve(struct follow *follow);

#endif
