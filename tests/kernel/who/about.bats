#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# What an event is about: in which container or unit its process is, and sessions that observe a part of the machine alone.
# Needs root; cgroups are the tests' own.

bats_require_minimum_version 1.5.0
load ../../wait

setup() {
	: "${ASTERISM:=$BATS_TEST_DIRNAME/../../../build/src/cmd/asterism}"
	[ "$(id -u)" = 0 ] || skip "needs root"
	cgroups=$(findmnt -n -t cgroup2 -o TARGET | head -n 1)
	own=$cgroups/asterism-test-$$
	session= others=() shared=
	python=$(readlink -f /usr/bin/python3) # one that every user may run
	cd "$BATS_TEST_TMPDIR"
	echo 'RULE every PATTERN { sys_enter_getpgid:a } WHERE { a.target_pid >= 1000000, a.target_pid < 1001000 } RETURN { a.target_pid AS p }' >every.rule
	# Calls when it is told to, has a child that does, and stays until the end: `mark.py NUMBER`.
	cat >mark.py <<-'END'
		import os, sys, time
		def mark(number):
		    try:
		        os.getpgid(1000000 + number)
		    except OSError:
		        pass
		number = int(sys.argv[1])
		if len(sys.argv) > 2:
		    os.setuid(int(sys.argv[2]))
		else:
		    open("ready.%03d" % number, "w").close()
		while not os.path.exists("go"):
		    time.sleep(0.02)
		mark(number)
		if os.fork() == 0:
		    mark(number + 1)
		    os._exit(0)
		os.wait()
		if len(sys.argv) == 2:
		    open("done.%03d" % number, "w").close()
		while not os.path.exists("end"):
		    time.sleep(0.02)
	END
	needs_asterism run -q --for 1ms -a every.rule
}

teardown() {
	[ -d "$BATS_TEST_TMPDIR" ] || return 0
	: >go
	: >end
	[ -z "$session" ] || kill "$session" 2>/dev/null || true
	for pid in "${others[@]}"; do
		wait "$pid" || true
	done
	[ -z "$shared" ] || rm -r "$shared"
	# A cgroup is empty a moment after its last process has ended.
	[ ! -d "$own" ] || wait_for remove_own
}

remove_own() {
	find "$own" -depth -type d -exec rmdir {} + 2>/dev/null
	[ ! -d "$own" ]
}

needs_cgroups() {
	[ -n "$cgroups" ] || skip "needs a mount of cgroups of version 2"
	mkdir "$own" || skip "needs to make cgroups"
}

# `marker CGROUP NUMBER [PROGRAM]`: mark.py in a cgroup below our own ("": in none of them).
marker() {
	[ -z "$1" ] || mkdir -p "$own/$1"
	bash -c '[ -z "$0" ] || echo $$ >"$0/cgroup.procs"; exec "$2" mark.py "$1"' "${1:+$own/$1}" "$2" "${3:-$python}" 3>&- &
	others+=($!)
	wait_for [ -e ready.$2 ]
}

# `observe ARG...`: asterism, with its matches in ./out.
observe() {
	: >said # of an earlier one
	"$ASTERISM" "$@" -v -f json every.rule >out 2>said 3>&- &
	session=$!
	wait_for grep -q observing said
}

# Lets them call, and prints the numbers that were seen, in order.
seen() {
	: >go
	wait_for is_over "$@"
	kill -INT $session
	wait $session || true
	session=
	sed -n 's/.*"return":{"p":1000\([0-9]*\)}.*/\1/p' out | sort | tr '\n' ' '
}

# What is to be seen was, and what is not had the time to be.
is_over() {
	for number; do
		grep -q '"p":1000'$number out || return
	done
}

@test "--cgroup: what is in it or below it, what comes into it, and their children" {
	needs_cgroups
	marker a/b 010
	marker other 020
	marker '' 030
	observe run --cgroup "$own/a"
	echo ${others[2]} >"$own/a/cgroup.procs"
	[ "$(seen 010 011 030 031)" = "010 011 030 031 " ]
}

@test "--cgroup: by its path in the hierarchy; several are alternatives" {
	needs_cgroups
	marker a 010
	marker b 020
	marker c 030
	observe run --cgroup "$(basename "$own")/a" --cgroup "/$(basename "$own")/b"
	[ "$(seen 010 011 020 021)" = "010 011 020 021 " ]
}

@test "--unit and --container: found by how cgroups are called" {
	needs_cgroups
	id=5ca1ab1e$(printf '%056x' $$)
	marker test-web$$.service/worker 010
	marker system.slice/docker-$id.scope/init 020
	marker machine-test$$.scope 030
	marker other 040
	observe run --unit test-web$$
	[ "$(seen 010 011)" = "010 011 " ]
	rm go
	for pid in "${others[@]}"; do kill $pid; done
	others=()
	for name in 5ca1ab1e docker:5ca1ab1e test$$ machine:test$$; do
		rm -f ready.* go end
		marker system.slice/docker-$id.scope/init 020
		marker machine-test$$.scope 030
		marker other 040
		observe run --container $name
		case $name in
		*5ca*) [ "$(seen 020 021)" = "020 021 " ] ;;
		*) [ "$(seen 030 031)" = "030 031 " ] ;;
		esac
		: >end
		wait "${others[@]}" || true
		others=()
	done
}

@test "--comm: who is called so, who comes to be called so, and their children" {
	cp "$python" marker1
	cp marker1 marker2
	marker '' 010 ./marker1
	marker '' 020 ./marker2
	marker '' 030
	observe run --comm marker1
	marker '' 040 ./marker1
	[ "$(seen 010 011 040 041)" = "010 011 040 041 " ]
}

@test "--comm: of a longer name the kernel keeps fifteen bytes" {
	cp "$python" a-name-of-twenty-by
	marker '' 010 ./a-name-of-twenty-by
	marker '' 020
	observe run --comm a-name-of-twenty-by
	[ "$(seen 010 011)" = "010 011 " ]
}

@test "--user: whose they are, who becomes the user without another program, and their children" {
	command -v setpriv >/dev/null || skip "needs setpriv"
	# The test's own folder is closed to others.
	shared=$(mktemp -d)
	chmod 777 "$shared"
	cp mark.py every.rule "$shared"
	cd "$shared"
	setpriv --reuid=65534 --clear-groups "$python" mark.py 010 3>&- &
	others+=($!)
	wait_for [ -e ready.010 ]
	marker '' 020
	observe run --user nobody
	"$python" mark.py 030 65534 3>&- &
	others+=($!)
	[ "$(seen 010 011 030 031)" = "010 011 030 031 " ]
}

@test "filters of several kinds hold at once, also with a command and with -p" {
	needs_cgroups
	cp "$python" marker1
	marker a 010 ./marker1
	marker a 020
	marker '' 030 ./marker1
	observe run --cgroup "$own/a" --comm marker1 --comm no-such
	[ "$(seen 010 011)" = "010 011 " ]
	: >end
	wait "${others[@]}" || true
	others=()
	rm -f go end ready.*
	marker '' 040 ./marker1
	marker '' 050 ./marker1
	observe run --comm marker1 -p ${others[0]}
	[ "$(seen 040 041)" = "040 041 " ]
	: >go
	: >end
	run --separate-stderr -0 "$ASTERISM" run -f json --comm marker1 every.rule -- bash -c '"$0" mark.py 060; ./marker1 mark.py 070' "$python"
	[ "$(grep -o '"p":1000[0-9]*' <<<"$output" | tr '\n' ' ')" = '"p":1000070 "p":1000071 ' ]
	run --separate-stderr -0 "$ASTERISM" run -f json --no-children --comm marker1 -p $$ every.rule --for 100ms
}

@test "a recording keeps to them as well" {
	needs_cgroups
	marker a 010
	marker '' 020
	"$ASTERISM" record -v -o trace -e sys_enter_getpgid --cgroup "$own/a" 2>said 3>&- &
	session=$!
	wait_for grep -q observing said
	: >go
	wait_for [ -e done.010 ]
	wait_for [ -e done.020 ]
	kill -INT $session
	wait $session || true
	session=
	[ "$("$ASTERISM" dump -f json trace | grep -o '"target_pid":[0-9]*' | tr '\n' ' ')" = '"target_pid":1000010 "target_pid":1000011 ' ]
}

@test "the units of asterismd keep to them as well" {
	needs_cgroups
	asterismd=$(cd "$(dirname "$ASTERISM")/../.." && pwd)/src/cmd/asterismd
	marker a 010
	marker '' 020
	mkdir rules
	cp every.rule rules
	run -2 "$asterismd" --rules rules --socket ctl.sock --unit no-such
	[[ $output == *"the unit 'no-such' is not active"* ]]
	"$asterismd" --rules rules --socket ctl.sock --output out --cgroup "$own/a" 2>said 3>&- &
	session=$!
	wait_for grep -q observing said
	[ "$(seen 010 011)" = "010 011 " ]
	grep -q '^{"unit":"every[.a-z]*","match":"every",.*"host":"'"$(uname -n)"'"}$' out
}

@test "namespaces of their own change nothing" {
	needs_cgroups
	command -v unshare >/dev/null || skip "needs unshare"
	mkdir -p "$own/a"
	bash -c 'echo $$ >"$0/cgroup.procs"; exec unshare --pid --fork --mount-proc --cgroup --ipc --uts "$1" mark.py 010' "$own/a" "$python" 3>&- &
	others+=($!)
	wait_for [ -e ready.010 ]
	marker '' 020
	observe run --cgroup "$own/a"
	[ "$(seen 010 011)" = "010 011 " ]
}

@test "text says the container or unit of a process that is there" {
	needs_cgroups
	id=5ca1ab1e0123$(printf '%052x' $$)
	marker system.slice/docker-$id.scope 010
	marker 'machine-web\x2d7f.scope/payload' 020
	marker nginx.service/worker 030
	"$ASTERISM" run -v --cgroup "$own" every.rule >out 2>said 3>&- &
	session=$!
	wait_for grep -q observing said
	: >go
	wait_for grep -q 'p=1000030' out
	wait_for grep -q 'p=1000020' out
	wait_for grep -q 'p=1000010' out
	grep -q "  python3[.0-9]*\[[0-9]*\] docker:5ca1ab1e0123  *cpu .* p=1000010" out
	grep -q "  python3[.0-9]*\[[0-9]*\] machine:web-7f  *cpu .* p=1000020" out
	grep -q "  python3[.0-9]*\[[0-9]*\] nginx.service  *cpu .* p=1000030" out
}

@test "what is not there: a sentence, status 2, nothing attached" {
	[ -n "$cgroups" ] || skip "needs a mount of cgroups of version 2"
	check() {
		local expected=$1
		shift
		run --separate-stderr -2 "$ASTERISM" run "$@" every.rule
		[ "${stderr_lines[0]}" = "asterism: error: $expected" ]
	}
	check "there is no cgroup 'no/such' in $cgroups" --cgroup no/such
	check "there is no cgroup '/etc' in $cgroups" --cgroup /etc
	check "there is no cgroup '../../../etc' in $cgroups" --cgroup ../../../etc
	check "there is no cgroup '' in $cgroups" --cgroup ''
	check "there is no container 'no-such': no cgroup has that name, or an id that begins with it" --container no-such
	check "the unit 'no-such' is not active: no cgroup has that name, with or without .service" --unit no-such
	check "unknown user 'no-such'" --user no-such
	check "unknown user '-1'" --user -1
	check "a process name must not be empty" --comm ''
	check "--wait needs a command or -p" --wait --comm x
}

@test "--container: files with names that cannot be read are counted" {
	[ -n "$cgroups" ] || skip "needs a mount of cgroups of version 2"
	command -v unshare >/dev/null || skip "needs unshare"
	run --separate-stderr -2 unshare --mount bash -c '
		mount -t tmpfs none /var/lib
		mkdir -p /var/lib/docker/containers/{a,b,c} /var/lib/containers/storage/overlay-containers
		mkfifo /var/lib/docker/containers/a/config.v2.json
		ln -s /dev/zero /var/lib/docker/containers/b/config.v2.json
		echo "{\"ID\":\"$(printf %064d 0)\",\"Name\":\"/db\"}" >/var/lib/docker/containers/c/config.v2.json
		echo secret >/var/lib/containers/storage/overlay-containers/containers.json
		exec "$0" run --container web every.rule' "$ASTERISM"
	[ "${stderr_lines[0]}" = "asterism: warning: cannot read the files in which container runtimes keep names: 2 of docker and 1 of podman" ]
	[[ ${stderr_lines[1]} == "help: they may be unreadable, larger than 16 MiB,"* ]]
	[[ ${stderr_lines[2]} == "asterism: error: there is no container 'web':"* ]]
	[[ $stderr != *secret* ]]
}

@test "two containers whose ids begin alike: both are named" {
	needs_cgroups
	for end in 1 2; do
		id[end]=5ca1ab1e$(printf '%055x%d' $$ $end)
		mkdir "$own/docker-${id[end]}.scope"
	done
	run --separate-stderr -2 "$ASTERISM" run --container 5ca1ab1e every.rule
	[[ ${stderr_lines[0]} == "asterism: error: '5ca1ab1e' is ambiguous: it could be container /"*"/docker-${id[1]}.scope or /"*"/docker-${id[2]}.scope" ||
		${stderr_lines[0]} == "asterism: error: '5ca1ab1e' is ambiguous: it could be container /"*"/docker-${id[2]}.scope or /"*"/docker-${id[1]}.scope" ]]
}

@test "a machine with cgroups of version 1 alone" {
	command -v unshare >/dev/null || skip "needs unshare"
	run --separate-stderr -4 unshare --mount bash -c '
		for mount in $(findmnt -n -t cgroup2 -o TARGET); do umount "$mount"; done
		exec "$0" run --unit x every.rule' "$ASTERISM"
	[ "${stderr_lines[0]}" = "asterism: error: --cgroup, --container and --unit need cgroups of version 2, and none are mounted" ]
	run --separate-stderr -0 unshare --mount bash -c '
		for mount in $(findmnt -n -t cgroup2 -o TARGET); do umount "$mount"; done
		exec "$0" run -q --for 1ms --comm x every.rule' "$ASTERISM"
}

# What /proc/self/cgroup says where version 2 was never mounted, in a mount namespace of its own.
version1() {
	run --separate-stderr -0 unshare --mount bash -c '
		grep -v "^0:" /proc/self/cgroup >cgroup
		mount --bind cgroup "/proc/$$/cgroup" || exit 77
		exec "$@"' - "$ASTERISM" "$@"
}

@test "what events say of cgroups where only version 1 is in use: said at the start" {
	unshare --mount bash -c 'mount --bind every.rule "/proc/$$/cgroup"' 2>/dev/null || skip "files of /proc cannot be covered here"
	for field in container cgroup cgroup_id; do
		rule="[sys_enter_getpid:a] WHERE { a.$field != a.$field }"
		said="asterism: warning: sys_enter_getpid:$field is the root cgroup for every process: cgroup, cgroup_id and container need cgroups of version 2, and none are mounted"
		version1 run --for 1ms -a -r "$rule"
		[ "$(grep -cFx "$said" <<<"$stderr")" = 1 ]
		version1 record -o "trace-$field" -e "sys_enter_getpid:$field" --for 1ms -a
		[ "$(grep -cFx "$said" <<<"$stderr")" = 1 ]
		run --separate-stderr -0 "$ASTERISM" run --for 1ms -a -r "$rule"
		[[ $stderr != *"is the root cgroup"* ]]
	done
	version1 run --for 1ms -a every.rule
	[[ $stderr != *"is the root cgroup"* ]]
	version1 record -o plain -e sys_enter_getpid --about uid --for 1ms -a
	[[ $stderr != *"is the root cgroup"* ]]
}
