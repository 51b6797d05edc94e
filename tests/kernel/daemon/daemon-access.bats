#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# asterismd does nothing for its clients that they could not do themselves, and does not stay up for nothing. Needs root.

bats_require_minimum_version 1.5.0
load daemon

setup() {
	daemon_setup
	echo 'SECRETWORD of nobody but root' >secret
	chmod 600 secret
	cat >spy.events <<-'END'
		EVENT spied { stack: addr, comm2: string }
		FROM sched:sched_switch { stack = prev->stack, comm2 = prev->comm }
	END
	chmod 644 spy.events
}

teardown() {
	daemon_teardown
}

nobody() {
	as_nobody "$ASTERISM" ctl --socket ctl.sock "$@"
}

# `naming CATALOG`: a rule file that names the catalog.
naming() {
	printf 'EVENTS "%s"\nRULE r PATTERN { sys_enter_getppid:a }\n' "$1" >named.rule
}

# `refused CLIENT CATALOG`: the client's rule is not loaded, for the one reason that there is.
refused() {
	naming "$2"
	run --separate-stderr -2 "$1" load named.rule
	[ "$stderr" = "asterism: error: named:1:8: catalog not found: '$2' (only installed catalogs can be named here, by name without a directory)" ]
}

@test "rules of clients name installed catalogs only" {
	start --group nogroup
	for client in nobody ctl; do
		for name in "$PWD/secret" /etc/shadow /etc/passwd "$PWD/spy.events" spy.events ./spy.events ../secret \
			../../etc/shadow "$ASTERISM_CATALOGS/tcp.events" ../catalogs/tcp.events // /nowhere . .. /dev/zero /proc/self/mem; do
			refused $client "$name"
		done
		naming tcp.events
		$client load named.rule
		$client unload named
	done
	! grep -rq SECRETWORD log out
	[ "$(asked 'list(u)')" = "[]" ]
}

@test "an image cannot bring what a text may not" {
	printf 'EVENTS "%s" RULE spy PATTERN { spied:a } RETURN { a.stack }\n' "$PWD/spy.events" >spy.rule
	"$ASTERISM" compile spy.rule -o spy.astc
	chmod 644 spy.astc
	start --group nogroup
	run --separate-stderr -2 nobody load spy.astc
	[[ $stderr == "asterism: error: rule spy waits for spied, which is only declared: the kernel does not raise it"* ]]
}

@test "what an installed catalog holds is not told to clients" {
	mkdir catalogs
	cp "$ASTERISM_CATALOGS"/*.events catalogs/
	echo 'EVENT SECRETWORD x' >catalogs/private.events
	chmod 600 catalogs/private.events
	ASTERISM_CATALOGS=$PWD/catalogs start --group nogroup
	naming private.events
	run --separate-stderr -2 nobody load named.rule
	[ "$stderr" = "asterism: error: named:1:8: the catalog 'private.events' cannot be used" ]
}

@test "clients-define: own files, by their whole path, and nobody else's" {
	echo 'clients-define' >policy
	cp spy.events theirs.events
	cp spy.events open.events
	printf 'EVENTS "%s"\n' "$PWD/secret" >through.events
	printf 'EVENTS "beside.events"\n' >including.events
	cp spy.events beside.events
	chown nobody theirs.events open.events through.events including.events beside.events
	chmod 666 open.events
	ln -s secret link.events
	chown -h nobody link.events
	ln secret hard.events
	start --group nogroup --policy policy
	for name in secret spy.events open.events link.events hard.events theirs.events/ nowhere; do
		naming "$PWD/$name"
		run --separate-stderr -2 nobody load named.rule
		[[ $stderr == "asterism: error: named:1:8: catalog not found: '$PWD/$name' (a catalog is an installed one, or, by its whole path, a file of your own"* ]]
	done
	naming "$PWD/through.events"
	run --separate-stderr -2 nobody load named.rule
	[ "$stderr" = "asterism: error: named:1:8: the catalog '$PWD/through.events' cannot be used" ]
	naming theirs.events # there is no folder that it could be looked for in
	run --separate-stderr -2 nobody load named.rule
	for name in theirs including; do
		printf 'EVENTS "%s" RULE spy PATTERN { spied:a }\n' "$PWD/$name.events" >spy.rule
		nobody load spy.rule
		nobody unload spy
	done
	! grep -q SECRETWORD log
}

@test "clients-define stands in the policy, alone, and is off without" {
	echo 'clients-define Kill' >policy
	run -2 "$asterismd" --rules rules --socket ctl.sock --pid "$puppet" --policy policy
	echo 'clients-defined' >policy
	run -2 "$asterismd" --rules rules --socket ctl.sock --pid "$puppet" --policy policy
	[[ $output == *"unknown statement 'clients-defined'"* ]]
	chown nobody spy.events
	echo 'allow all' >policy
	chmod 664 policy
	run -1 "$asterismd" --rules rules --socket ctl.sock --pid "$puppet" --policy policy
	[[ $output == *"the policy policy is writable by users other than root"* ]]
	chmod 644 policy
	start --group nogroup --policy policy
	refused nobody "$PWD/spy.events"
}

@test "what is wrong with root's files is told to root" {
	cp pair.rule rules/
	echo 'RULE SECRETWORD SECRETWORD' >rules/wrong.rule
	chmod 600 rules/wrong.rule
	start --group nogroup
	[[ $(ctl -f json query wrong.rule) == *"SECRETWORD"* ]]
	run -0 nobody -f json query
	[[ $output == *'"error":"only root may see the error; it is in the log of asterismd"'* ]]
	[[ $output != *SECRETWORD* ]]
	run --separate-stderr -4 nobody activate wrong.rule
	[[ $stderr != *SECRETWORD* ]]
}

@test "root's rules: catalogs are installed, or nobody else can write them" {
	echo 'RULE spy PATTERN { spied:a }' >fine.rule
	for name in mine theirs open; do
		cp spy.events $name.events
		printf 'EVENTS "%s" RULE %s PATTERN { spied:a }\n' "$PWD/$name.events" "$name" >rules/$name.rule
	done
	chown nobody theirs.events
	chmod 666 open.events
	start
	[ "$(asked '[n for n in u if u[n]["error"]]')" = "['open.rule', 'theirs.rule']" ]
	grep -q "error: theirs.rule:1:8: catalog not found: '$PWD/theirs.events'" log
	[ "$(asked 'u["mine.rule"]["state"]')" = active ]
}

# `ends STATUS TEXT [COMMAND...]`: asterismd ends by itself, and its last line says why.
ends() {
	run -"$1" timeout 20 "${@:3}" "$asterismd" --rules rules --socket ctl.sock --pid "$puppet" --output out
	[[ $output == *"asterismd: error: $2"* ]]
	[[ $output != *observing,* && ! -e ctl.sock ]]
}

@test "without privileges: not up, status 4" {
	setpriv --reuid=65534 --regid=65534 --clear-groups test -r "$asterismd" || skip "asterismd itself may not be read by others here"
	chmod 777 .
	ends 4 "rules cannot run on this machine: observing the kernel needs the capabilities CAP_BPF and CAP_PERFMON (or root)" \
		setpriv --reuid=65534 --regid=65534 --clear-groups
	[ ! -e out ]
	cp pair.rule rules/
	ends 4 "rules cannot run on this machine: " setpriv --reuid=65534 --regid=65534 --clear-groups
	ends 4 "rules cannot run on this machine: " setpriv --bounding-set=-all,+kill --no-new-privs
}

@test "without catalogs, or a folder of rules, or a rule that is right: not up, status 2" {
	mkdir catalogs
	echo 'EVENT wrong' >catalogs/linux.events
	ends 2 "rules cannot run on this machine: $PWD/catalogs/linux.events:2:1: " env ASTERISM_CATALOGS="$PWD/catalogs"
	echo nonsense >rules/wrong.rule
	cp pair.rule rules/theirs.rule
	chmod 666 rules/theirs.rule
	ends 2 "no rule file in rules could be loaded"
	cp pair.rule rules/pair.rule
	start
	grep -q 'asterismd: warning: 2 of 3 rule files in rules could not be loaded' log
	stop
	chmod 777 rules
	ends 2 "cannot use the rules directory rules: it is writable by users other than root"
	rm -r rules
	ends 2 "cannot use the rules directory rules: No such file or directory"
	mkdir rules
	start
	grep -q 'asterismd: warning: rules has no rule files: ' log
}

@test "a folder that cannot be used any more leaves all units as they are" {
	cp pair.rule rules/
	start
	mv rules away
	run --separate-stderr -2 ctl reload
	[ "$stderr" = "asterism: error: cannot use the rules directory; all units stay as they are, see the daemon's log" ]
	call 1
	await '"match":"pair"' out 1
}

@test "matches are for root's eyes, and no link is followed" {
	umask 0
	start
	[ "$(stat -c %a out)" = 600 ]
	stop
	rm out
	start --mode 640
	[ "$(stat -c %a out)" = 640 ]
	stop
	chmod 644 out # as logrotate may have made it
	start
	[ "$(stat -c %a out)" = 644 ]
	stop
	: >target
	ln -sf target out
	run -1 "$asterismd" --rules rules --socket ctl.sock --pid "$puppet" --output out
	[[ $output == *"cannot write matches to out: it is a symbolic link, and links are not followed: name its target"* ]]
	chown nobody target
	run -1 "$asterismd" --rules rules --socket ctl.sock --pid "$puppet" --output target
	[[ $output == *"cannot write matches to target: it belongs to another user and will not be overwritten"* ]]
	run -2 "$asterismd" --mode 777
}

@test "log, query and metrics: nothing that a terminal obeys" {
	odd=$'\033[2J\302\233\342\200\256\233é'
	cp pair.rule "rules/odd$odd.rule"
	echo nonsense >"rules/wrong$odd.rule"
	port=$((21000 + $$ % 20000))
	start --metrics 127.0.0.1:$port
	call 1
	await '"match":"pair"' out 1
	ctl query >query
	ctl -f json query >json
	curl -sf http://127.0.0.1:$port/metrics >metrics
	python3 - <<'END'
import json
for name in "log", "query", "json", "metrics", "out":
    text = open(name, encoding="utf-8").read()
    bad = [c for c in text if (ord(c) < 32 and c not in "\n\t") or 0x7f <= ord(c) < 0xa0 or c == "\u202e"]
    assert "é" in text and not bad, (name, bad, text)
json.load(open("json"))
json.loads(open("out").readline())
END
	python3 "$BATS_TEST_DIRNAME/../rig/exposition.py" metrics >parsed
	grep -qF '{unit="odd\\033[2J\\302\\233\\342\\200\\256\\233é.rule",rule="pair"} 1' metrics
}
