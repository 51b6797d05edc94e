#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Waiting for time and for children is no fault.
sleep 1.2
