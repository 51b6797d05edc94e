# SPDX-License-Identifier: BSD-2-Clause
# What the tests of recordings share: where they run, and how they count.

# In a folder of the test's own, as root, in a kernel that can be recorded; $plant is the process to record.
recording_setup() {
	: "${ASTERISM:=$BATS_TEST_DIRNAME/../../../build/src/cmd/asterism}"
	[ "$(id -u)" = 0 ] || skip "needs root"
	plant="${ASTERISM_TEST_PROGRAMS:-$(dirname "$ASTERISM")/../../tests/kernel}/plant"
	cd "$BATS_TEST_TMPDIR"
	"$ASTERISM" record -q -o probe -e sys_enter -- true || skip "nothing can be recorded in this kernel"
	rm -r probe
}

# `count TRACE [EVENT]`: its events, or those of one type; "lost" counts what it lacks.
count() {
	"$ASTERISM" stat -f json "$1" 2>/dev/null | python3 -c 'import json, sys
said = json.load(sys.stdin)
types = {row["event"]: row["events"] for row in said["types"]}
assert said["events"] == sum(types.values())
print(said[sys.argv[1]] if sys.argv[1] in ("events", "lost") else types.get(sys.argv[1], 0))' "${2:-events}"
}

load ../../wait

# Whether the process has got as far as to decide what becomes of SIGUSR1, SIGUSR2 and SIGALRM.
has_decided() {
	local name mask all=0
	while read -r name mask; do
		case $name in Sig[BIC]*:) all=$((all | 0x$mask)) ;; esac
	done <"/proc/$1/status"
	(((all & 0x2a00) == 0x2a00))
}
