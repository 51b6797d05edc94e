#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Two locks of which it is unknown who has them.
exec "$ASTERISM_TEST_PROGRAMS/plant-locks" foreign
