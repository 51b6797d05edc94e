#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Four threads with a lock each.
exec "$ASTERISM_TEST_PROGRAMS/plant-locks" apart 60
