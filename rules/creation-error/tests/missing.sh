#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
cat not-there 2>/dev/null
exit 0
