#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
exec "$ASTERISM_TEST_PROGRAMS/plant-locks" circle 1
