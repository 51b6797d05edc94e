#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Nothing is wrong: bash closes the ends of pipes again in its subshells; shells look whether a descriptor is there to be
# kept, before another file takes its number; git looks whether its output is still there.
text=$(echo one | cat; echo two | cat)
exec 3>kept
exec 3>&-
for name in a b; do
	echo "$text" 3>"$name"
	(echo "$text" 3>>"$name") | cat
done >all
bash --norc -ic 'exec 5>kept; exec 5>&-; bash --norc -ic "echo x"' >all 2>&1
/bin/dash -c 'exec 4>kept; exec 4>&-; echo x 4>a; (echo y 4>b); echo | { cat; echo z 4>>b; } >all'
/usr/bin/python3 -SE -c '
import os
os.close(1)
try:
    os.fstat(1)
except OSError:
    pass
'
