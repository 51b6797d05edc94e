#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Twenty times /bin/true, ten times a shell in parentheses; a sleep of two seconds is not short.
for i in 1 2 3 4 5 6 7 8 9 10; do
	/bin/true
	/bin/true
	(: "$i")
done
sleep 2
