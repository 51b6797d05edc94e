#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Three real-time threads on one processor.
exec "$ASTERISM_TEST_PROGRAMS/studies" inversion
