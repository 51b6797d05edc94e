#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
true >file
exec "$(command -v true)" <file
