/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef REACT_ACTIONS_SHOW_H
#define REACT_ACTIONS_SHOW_H

/* Writes a value as people read it: numbers in decimal, texts as they are. */

#include "react/react.h"

#include <stdio.h>

void react_show(FILE *stream, const struct react_value *value);

#endif
