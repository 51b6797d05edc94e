#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Two threads take two locks in the same order; one waits for the other.
exec "$ASTERISM_TEST_PROGRAMS/plant-locks" orderly
