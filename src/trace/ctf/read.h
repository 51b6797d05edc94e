/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TRACE_CTF_READ_H
#define TRACE_CTF_READ_H

/*
 * Reads the traces that ctf/write.h writes (docs/formats/trace.md). The files are mapped and what has been read is
 * given back, so memory does not grow with the trace. They are untrusted: every event is checked against its packet and
 * every packet against its file before it is read. A stream that is damaged gives all events before the damage; then,
 * in its turn by time, an error that names the file and the byte; after it the events of the other streams can be asked
 * for. Files must not be made shorter while they are read.
 *
 * Events come by time; those of equal times by CPU. Event types that the catalog knows under their name are
 * the catalog's: fields that were not recorded are 0, recorded fields that the type lacks are left out. Others are
 * added to the catalog as the trace has them. Matches that a snapshot has marked are events of the type match.
 */

#include "base/diag.h"
#include "event/catalog.h"
#include "event/source.h"

/* True for a directory whose metadata says that it is a trace of ours. */
bool trace_ctf_is_own(const char *path);

/*
 * Opens the trace in the directory path. path, catalog and diag are borrowed until the source is freed; diag may be
 * NULL. Returns 0; -EINVAL (the metadata is wrong or a type does not fit), -ENOMEM, -errno, with a sentence.
 */
int trace_ctf_new(const char *path, struct event_catalog *catalog, struct asterism_diag *diag,
		  struct event_source **made);

#endif
