#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
exec "$ASTERISM_TEST_PROGRAMS/locks" circle-after-exec
