#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Twelve generations, but each is a program of its own, as in a recursive make; and 200 children of one process.
depth=${1:-0}
[ "$depth" -lt 12 ] && sh "$0" $((depth + 1))
[ "$depth" -eq 0 ] && for i in $(seq 200); do true & done
wait
