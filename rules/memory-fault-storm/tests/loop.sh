#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# A handler of SIGSEGV that returns: the instruction faults again, 1000 times.
exec "$ASTERISM_TEST_PROGRAMS/plant-faults" 1000
