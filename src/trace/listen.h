/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TRACE_LISTEN_H
#define TRACE_LISTEN_H

/* Streams of events that come from elsewhere. */

#include "base/diag.h"

#define TRACE_LISTEN_PREFIX "tcp-listen:"
#define TRACE_SERIAL_PREFIX "serial:"

/*
 * Waits at "[ADDRESS:]PORT", of the loopback where there is no address, for one that connects. Returns its descriptor;
 * -EINVAL, -EINTR, -errno, with a sentence.
 */
int trace_listen(const char *address, struct asterism_diag *diag);

/* Opens a serial line, a fifo or a file; a terminal's line settings become those of raw bytes. */
int trace_serial(const char *path, struct asterism_diag *diag);

#endif
