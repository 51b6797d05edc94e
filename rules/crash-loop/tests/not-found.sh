#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Shells that find no such command, or none that they may execute: at a prompt, in a script by any name, in a subshell, as a
# command of -c and behind dash.
printf 'x\n' >forbidden
printf '#!/bin/bash\nfor i in 1 2 3 4 5 6; do no-such-command; ./absent; ./forbidden; done; exit 0\n' >named
chmod +x named
for shell in bash dash sh; do
	for i in 1 2 3 4 5 6; do
		"$shell" -c no-such-command
		"$shell" -c './absent'
		"$shell" -c './absent; exit $?'
	done
	"$shell" -c 'for i in 1 2 3 4 5 6; do no-such-command; (./absent); ./forbidden; done; exit 0'
	"$shell" ./named
done 2>/dev/null
./named 2>/dev/null
printf 'no-such-command\n./absent\n%.0s' 1 2 3 4 5 6 | bash --norc -i 2>/dev/null
exit 0
