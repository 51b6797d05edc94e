#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# A queue, but not a long one.
exec "$ASTERISM_TEST_PROGRAMS/plant-locks" convoy 8
