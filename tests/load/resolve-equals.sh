#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Threads of one priority that wait for each other, while somebody with a lower one wants to work.
taskset -c 0 sh -c 'while :; do :; done' &
taskset -c 0 chrt -f 10 "$ASTERISM_TEST_PROGRAMS/plant-locks" convoy 30
kill $!
