/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef API_EXPORT_H
#define API_EXPORT_H

/* The public headers, so that what they declare is visible outside the library, and nothing else is. */

#pragma GCC visibility push(default)
#include "asterism/asterism.h"
#pragma GCC visibility pop

#endif
