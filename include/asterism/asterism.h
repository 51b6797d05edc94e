/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef ASTERISM_ASTERISM_H
#define ASTERISM_ASTERISM_H

/* Everything of libasterism. docs/library.md shows how the parts go together. */

#include "asterism/counter.h"
#include "asterism/diag.h"
#include "asterism/match.h"
#include "asterism/monitor.h"
#include "asterism/recording.h"
#include "asterism/rules.h"
#include "asterism/session.h"
#include "asterism/trace.h"
#include "asterism/version.h"

#endif
