#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Two requests to shop.py: an ordinary one, and one that makes it run id.
at=http://127.0.0.1:${PORT:-8099}
/usr/bin/python3 "$(dirname "$0")/shop.py" 2 &
curl -s --retry 20 --retry-connrefused --retry-delay 1 "$at/safe?word" >/dev/null
curl -s "$at/run?word;id"
wait
