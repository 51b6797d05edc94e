#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Two threads wait long for two locks that a third one has, which sleeps.
exec "$ASTERISM_TEST_PROGRAMS/plant-locks" behind
