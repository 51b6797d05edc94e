/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TESTS_UNIT_SESSION_COMPILED_H
#define TESTS_UNIT_SESSION_COMPILED_H

/* Rules of a test's own as a program. */

#include "program/load.h"

/* Compiles rules over the event types declared in types; fails the test with the first message. */
struct program *compiled(const char *types, const char *rules);

#endif
