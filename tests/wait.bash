# SPDX-License-Identifier: BSD-2-Clause
# Waiting for what is to come: tests that sleep instead are wrong on a slow machine. And what a live match says beyond what
# its replay does.

# `wait_for COMMAND...`: until it succeeds; 10 s at most, more where the machine is known to be slow.
wait_for() {
	for _ in $(seq $((200 * ${ASTERISM_TEST_PATIENCE:-1}))); do
		"$@" && return
		sleep 0.05
	done
	echo "$* never came true"
	false
}

# `not COMMAND...`, for wait_for.
not() {
	! "$@"
}

# `has_taken_signals PID`, for wait_for: two of a kind that wait are one.
has_taken_signals() {
	grep -q '^ShdPnd:[[:space:]]*0*$' "/proc/$1/status"
}

# `undated`: matches without place, date, host and names of users, groups and symbols, as a replay writes them.
undated() {
	sed -E -e 's/(,"(container|systemd_unit)":"[^"]*")?,"time":"[^"]*","host":"[^"]*"\}$/}/' \
		-e 's/,?"[^",{}]*[ug]id[^",{}]*":"[^"]*"//g; s/,?"[^",{}]*":"[^"]*\+0x[0-9a-f]+ \([^"]*"//g' \
		-e 's/"names":\{,/"names":{/; s/,"names":\{\}//'
}

# `needs_asterism ARGUMENTS...`: skips where the system refuses asterism what it asks for, and says what that is. Events that
# were lost are no reason, and whatever else fails is a failure.
needs_asterism() {
	local refusal status=0
	refusal=$("$ASTERISM" "$@" 2>&1 >/dev/null) || status=$?
	[ "$status" != 4 ] || skip "refused here: $refusal"
	[ "$status" = 0 ] || [ "$status" = 3 ] || {
		echo "asterism $*: status $status: $refusal"
		false
	}
}
