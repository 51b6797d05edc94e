#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Where programs are attached and why, as `explain --plan` says beforehand and a session then does. Needs root.

bats_require_minimum_version 1.5.0
load ../../wait

setup() {
	: "${ASTERISM:=$BATS_TEST_DIRNAME/../../../build/src/cmd/asterism}"
	[ "$(id -u)" = 0 ] || skip "needs root"
	cd "$BATS_TEST_TMPDIR"
	mkfifo begun over
	for call in connect bind listen accept4 shutdown; do
		echo "RULE on_$call PATTERN { sys_enter_$call:c } RETURN { c.pid }"
	done >five.rule
	head -n 4 five.rule >four.rule
	needs_asterism run -q four.rule -- true
}

# planned FILE...: names of tracepoints and, of a chain, how many programs are in it, of all programs that BTF names.
planned() {
	"$ASTERISM" explain --plan -f json "$@" | python3 -c '
import json, sys
programs = [program for line in sys.stdin for program in (json.loads(line)["attachment"] or {"programs": []})["programs"]]
print(sorted({at.split(":")[1] for program in programs if program["by"] == "btf" for at in program["at"]}),
      len({at for program in programs if program["by"] == "tracefs" for at in program["at"]}),
      {at: program["chain"] for program in programs for at in program["at"] if program["chain"]})'
}

# attached FILE...: the same of a session. What follows births belongs to no rule.
attached() {
	"$ASTERISM" run -q "$@" -- sh -c 'echo >begun; read line <over' >/dev/null &
	read -r <begun
	cat /proc/$!/fdinfo/* 2>/dev/null >info
	ls -l /proc/$!/fd >fds
	echo >over
	wait $!
	python3 - <<-'END'
		names = sorted({line.split()[1] for line in open("info") if line.startswith("tp_name:")} - {"task_newtask"})
		print(names, sum("perf_event" in line for line in open("fds")))
	END
}

# has_calls_alone: whether `features` says that programs may be at the tracepoints of single calls on this kernel.
has_calls_alone() {
	"$ASTERISM" features >features
	grep -q '^  calls alone  *yes' features
}

# needs_single_calls: a kernel on which programs may be at the tracepoints of single calls, unless they count calls of 32-bit
# code, which no such tracepoint has.
needs_single_calls() {
	run "$ASTERISM" explain --plan four.rule
	[[ $output != *"does not count misses"* && $output != *"on x86-64 only"* ]] || skip "not at single calls: $output"
}

# stands_alone CALLS TRACEPOINT: the plan just shown has the programs at their own calls, or where all calls are, with what
# keeps this kernel from it.
stands_alone() {
	if has_calls_alone; then
		[[ $output == *"at $1, by tracefs"* && $output != *"at raw_syscalls:"* ]]
	else
		[[ $output == *"at raw_syscalls:$2, by BTF"*"because it counts calls of 32-bit code, which tracepoints of single calls leave out"* ]]
		[[ $output != *" syscalls:"* ]]
	fi
}

# agrees CHAINS FILE...: what is attached is what the plan says, with these chains.
agrees() {
	local chains=$1 said found
	shift
	said=$(planned "$@") found="$(attached "$@") $chains"
	[ "$said" = "$found" ] || { echo "$*: the plan says $said, attached is $found"; return 1; }
}

@test "a few calls have programs at their own tracepoints, and the plan says so" {
	needs_single_calls
	run -0 "$ASTERISM" explain --plan four.rule
	calls=$(printf 'syscalls:sys_enter_%s, ' connect bind listen accept4)
	stands_alone "${calls%, }" sys_enter
	! has_calls_alone || [[ $output == *"because its calls are 4, at most 4 and none that programs make most: others cost nothing"* ]]
	agrees '{}' four.rule
}

@test "one call more, and they are where all calls begin" {
	needs_single_calls
	run -0 "$ASTERISM" explain --plan five.rule
	[[ $output == *"sys_enter_shutdown: at raw_syscalls:sys_enter, by BTF"* ]]
	[[ $output == *"because its calls are 5, more than 4"* ]]
	[[ $output != *" syscalls:"* ]]
	agrees '{}' five.rule
}

@test "a frequent call, a string and what has to stand beside them have their reasons" {
	needs_single_calls
	echo 'RULE on_read PATTERN { sys_enter_read:r } RETURN { r.pid }' >read.rule
	run -0 "$ASTERISM" explain --plan read.rule
	[[ $output == *"because read, one of its calls, is among those that programs make most"* ]]
	echo 'RULE opened PATTERN { sys_enter_openat:o } WHERE { o.filename == "/x" }' >text.rule
	echo 'RULE ended PATTERN { sys_exit_connect:e } RETURN { e.ret }' >ended.rule
	run -0 "$ASTERISM" explain --plan ended.rule
	stands_alone syscalls:sys_exit_connect sys_exit
	run -0 "$ASTERISM" explain --plan text.rule ended.rule
	[[ $output == *"sys_exit_connect: at raw_syscalls:sys_exit, by BTF, one of a chain of 2 programs"* ]]
	[[ $output == *"because strings of calls that cannot be read where they begin are read where they end"* ]]
	[[ $output == *"because another program has to be there: what could not be read where calls begin is read here"* ]]
	for rules in read.rule ended.rule text.rule; do
		agrees '{}' $rules
	done
	agrees "{'raw_syscalls:sys_exit': 2}" text.rule ended.rule
}

@test "who may not ask the kernel is told so, and what would be chosen" {
	needs_single_calls
	command -v setpriv >/dev/null || skip "setpriv is not installed"
	for form in text json; do
		run -0 setpriv --reuid 65534 --clear-groups "$ASTERISM" explain --plan -f $form -r "$(cat four.rule)"
		[[ $output == *"its calls are 4, at most 4"* ]]
		[[ $output == *"as far as can be known without the privileges"* || $output == *'"asked":false'* ]]
	done
}

@test "what this kernel does not have is attached nowhere, and said" {
	cat >odd.events <<-'END'
		EVENT nothing_raises { x: u64 }
		FROM sched:sched_no_such_thing { x = prev->pid }
	END
	echo 'EVENTS "odd.events" RULE odd PATTERN { nothing_raises:n } RETURN { n.x }' >odd.rule
	for form in text json; do
		run -0 "$ASTERISM" explain --plan -f $form odd.rule
		[[ $output == *"this kernel does not have the event nothing_raises: the kernel has no tracepoint"* ]]
	done
	[[ $output == *'"programs":[]'* ]]
}
