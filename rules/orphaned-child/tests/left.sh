#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A service dies, its child sleeps on.
(sleep 1.6 & kill -9 $BASHPID)
sleep 1.4
