#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# 16 wait, one is woken. At the end all are, and find that they may go.
exec "$ASTERISM_TEST_PROGRAMS/plant-locks" one 16
