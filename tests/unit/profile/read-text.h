/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TEST_PROFILE_READ_TEXT_H
#define TEST_PROFILE_READ_TEXT_H

#include "profile/profile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

/* Reads a profile that has nothing wrong. */
struct profile *read_text(const char *text);

/* Reads what is wrong there: the only message has this line and this text. */
void expect_wrong(const char *text, unsigned line, const char *message);

void near(double value, double wanted, double distance);

/* The function of that name. */
uint32_t function_of(const struct profile *profile, const char *name);
double inclusive_of(const struct profile *profile, const char *name);

/* What the edge between two functions costs; NAN: there is none. */
double call_cost(const struct profile *profile, const char *caller, const char *callee);

#endif
