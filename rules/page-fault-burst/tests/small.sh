#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
exec sleep 0.1
