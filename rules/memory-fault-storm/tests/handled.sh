#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The handler mends it at the 50th fault.
exec "$ASTERISM_TEST_PROGRAMS/plant-faults" 50
