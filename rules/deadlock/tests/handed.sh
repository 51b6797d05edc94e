#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# A thread gives a lock back, for which another waits, and then waits for one that this one has.
exec "$ASTERISM_TEST_PROGRAMS/plant-locks" handed
