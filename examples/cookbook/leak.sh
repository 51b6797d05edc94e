#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Three programs: one reads the secret, one connects, one does both.
at=http://127.0.0.1:${PORT:-8099}
echo 'a key' >secret.txt
/usr/bin/python3 shop.py 2 &
cat secret.txt >/dev/null
curl -s --retry 20 --retry-connrefused --retry-delay 1 "$at/safe?word" >/dev/null
curl -s --data-binary @secret.txt "$at/safe?word" >/dev/null
wait
