#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Nothing fails: children that find no program to run, as those of useradd, which would tell nscd and sssd.
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
cp /bin/bash "$folder/useradd"
"$folder/useradd" -c 'for i in 1 2 3 4 5 6; do (exec ./absent) 2>/dev/null; done; exit 0'
