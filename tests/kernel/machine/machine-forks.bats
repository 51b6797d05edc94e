#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Very many instances are made, most of them as copies of others, and ended: every place comes back, and no memory stays.

bats_require_minimum_version 1.5.0

setup() {
	: "${ASTERISM:=$BATS_TEST_DIRNAME/../../../build/src/cmd/asterism}"
	cd "$BATS_TEST_TMPDIR"
	# As many places as there are instances at once: one place that does not come back is a refusal.
	cat >forks.rule <<-'END'
		EVENT made { n: u64 }
		EVENT forked { parent: u64, child: u64 }
		EVENT gone { n: u64 }
		MACHINE followed
		  KEY { n }
		  POOL 64
		  VAR depth: u32;
		  STATE None { ON made -> Followed }
		  STATE Followed {
		    ON forked BY { parent } COPY BY { child } { depth = depth + 1 }
		    ON gone -> END
		  }
	END
	cat >forks.py <<-'END'
		# usage: forks.py ENGINE FORKS: replays 63 families that fork and end; prints the counts and the peak of memory
		import json, os, subprocess, sys
		engine, forks, families, places = sys.argv[1], int(sys.argv[2]), 63, 64
		reader, writer = os.pipe()
		tool = subprocess.Popen([os.environ["ASTERISM"], "replay", "-q", "--jobs", "1", "--engine", engine, "-f", "json", "-o",
		                         "out.jsonl", "forks.rule", "-"], stdin=reader)
		os.close(reader)
		with open(writer, "w", buffering=1 << 20) as out:
		    ts = 0
		    def tell(event, fields):
		        global ts
		        ts += 1
		        out.write('{"event":"%s","ts":%d,"cpu":%d,"pid":1,"tid":1,%s}\n' % (event, ts, ts % 4, fields))
		    for n in range(families):
		        tell("made", '"n":%d' % n)
		    for n in range(forks):
		        tell("forked", '"parent":%d,"child":%d' % (n, n + families))
		        tell("gone", '"n":%d' % n)
		    for n in range(forks, forks + families):
		        tell("gone", '"n":%d' % n)
		    # All places are free: so many fit, and one more does not.
		    for n in range(places + 1):
		        tell("made", '"n":%d' % n)
		_, status, usage = os.wait4(tool.pid, 0)
		with open("out.jsonl") as file:
		    found = json.loads(file.readlines()[-1])["stats"]["rules"]["followed"]
		print(os.waitstatus_to_exitcode(status), found["runs_opened"], found["runs_live_max"], found["pool_exhausted"],
		      usage.ru_maxrss)
	END
}

# check_forks ENGINE: status (3: there was a loss), instances without the refused one, most at once, refused; and the peak is
# that of far fewer forks
check_forks() {
	export ASTERISM
	read -r status made most refused few_kib < <(python3 forks.py "$1" 10000)
	echo "$status $made $most $refused $few_kib"
	[ "$status $made $most $refused" = "3 10127 64 1" ]
	local many=100000
	[ -z "$ASTERISM_TEST_LONG" ] || many=1000000
	read -r status made most refused many_kib < <(python3 forks.py "$1" $many)
	echo "$status $made $most $refused $many_kib"
	[ "$status $made $most $refused" = "3 $((many + 127)) 64 1" ]
	[ "$many_kib" -le $((few_kib + 1024)) ]
}

@test "100,000 forks, or a million, of instances leave nothing behind in the engine" {
	check_forks user
}

@test "100,000 forks, or a million, of instances leave nothing behind in the kernel" {
	[ "$(id -u)" = 0 ] || skip "needs root"
	check_forks kernel
}
