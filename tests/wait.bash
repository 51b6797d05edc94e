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

# `undated`: matches without date and host, as a replay writes them.
undated() {
	sed -E 's/,"time":"[^"]*","host":"[^"]*"\}$/}/'
}
