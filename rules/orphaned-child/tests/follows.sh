#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Children that end first, that are waited for, and one that makes a session of its own.
(sleep 0.1)
(sleep 0.1 & wait)
setsid sleep 1.3 &
sleep 0.2
exec sleep 1.1
