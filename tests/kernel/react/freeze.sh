#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Freezes a process of its own in a cgroup of its own; in a mount namespace of its own.
#
#   freeze.sh ASTERISM TARGET v1|v2 FOLDER
set -eu
asterism=$1 target=$2 folder=$4
mkdir -p "$folder"
if [ "$3" = v2 ]; then
	mount -t cgroup2 none "$folder"
	file=cgroup.freeze frozen=1 thawed=0
else
	mount -t cgroup -o freezer none "$folder"
	file=freezer.state frozen=FROZEN thawed=THAWED
fi
group=$folder/asterism-test-$$
sleeper=
session=
leave() {
	[ -z "$session" ] || kill -TERM "$session" 2>/dev/null || true
	[ -z "$session" ] || kill -TERM "$session" 2>/dev/null || true
	[ -z "$sleeper" ] || kill -9 "$sleeper" || true
	for pid in $(cat "$group/cgroup.procs"); do
		kill -9 "$pid" 2>/dev/null || true
	done
	echo "$thawed" >"$group/$file"
	for _ in $(seq 40); do
		! rmdir "$group" || return 0
		sleep 0.05
	done
}
mkdir "$group"
trap leave EXIT

until_true() {
	for _ in $(seq 400); do
		! "$@" || return 0
		sleep 0.02
	done
	echo "never true: $*"
	exit 1
}

says() {
	[ "$(cat "$group/$file")" = "$1" ]
}

passed() {
	od -A n -j 8 -N 8 -t d8 p
}

stands_still() {
	local at
	at=$(passed)
	sleep 0.1
	[ "$at" = "$(passed)" ]
}

goes_on() {
	! stands_still
}

cat >freeze.rule <<-'END'
	RULE freeze PATTERN { sys_enter_getpgid:a } WHERE { a.target_pid == 4000001 } DO { CALL Freeze(a#TID) }
	RULE thaw PATTERN { sys_enter_getpgid:a } WHERE { a.target_pid < 4000000 } DO { CALL Thaw(a.target_pid) }
END
# A session over a shell that waits for a file, and what it starts: a target that asks once and then counts.
cat >scene <<-'END'
	echo $BASHPID >"$2/cgroup.procs"
	exec "$1" freeze p 4000001
END
begin() {
	rm -f p go
	"$asterism" run -q -f json -o out --allow-actions freeze.rule -- "$BASH" -c '
		"$BASH" scene "$0" "$1" & echo $! >pid; until [ -e go ]; do sleep 0.02; done; [ ! -s go ] || "$0" calls $!
		until [ -e done ]; do sleep 0.02; done' "$target" "$group" &
	session=$!
	until_true says "$frozen"
	until_true stands_still
}

echo "thawed by another rule"
rm -f done
begin
echo yes >go
until_true says "$thawed"
until_true goes_on
kill -9 "$(cat pid)"
: >done
wait $session
grep -q '"function":"Freeze".*"done":true,"by":"asterism"' out
grep -q '"function":"Thaw".*"done":true,"by":"asterism"' out

echo "thawed by the end of the session"
rm -f done
begin
: >go
kill -TERM $session
: >done
wait $session || true
says "$thawed"
until_true goes_on
kill -9 "$(cat pid)"

echo "not while somebody out of scope is there"
sleep 60 &
sleeper=$!
echo $sleeper >"$group/cgroup.procs"
rm -f p out
"$asterism" run -q -f json -o out --allow-actions freeze.rule -- "$BASH" -c '"$BASH" scene "$0" "$1" & until [ -s out ]; do sleep 0.02; done; kill -9 $!' "$target" "$group"
grep -q "\"done\":false,\"why\":\"process $sleeper in the same cgroup is out of scope\"" out
says "$thawed"
# but it may be, where the policy says so
printf 'allow Freeze\noutside-scope\n' >policy
sed -i 2d freeze.rule
rm -f p
"$asterism" run -q -f json -o out --policy policy freeze.rule -- "$BASH" -c '"$BASH" scene "$0" "$1" & until [ "$(cat "$2")" = "$3" ]; do sleep 0.02; done' \
	"$target" "$group" "$group/$file" "$frozen"
says "$thawed"
kill -9 "$(cat "$group/cgroup.procs" | grep -v "^$sleeper$")"

echo "never the one that asterism is in"
rm -f p out
"$BASH" -c 'echo $BASHPID >"$1/cgroup.procs"; exec "$0" run -q -f json -o out --policy policy freeze.rule -- "$BASH" -c "
	\"\$0\" freeze p 4000001 & until [ -s out ]; do sleep 0.02; done; kill -9 \$!" "$2"' \
	"$asterism" "$group" "$target"
grep -q '"done":false,"why":"asterism is in the same cgroup"' out
says "$thawed"
