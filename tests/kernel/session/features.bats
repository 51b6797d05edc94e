#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# `asterism features`: what it says of this kernel, to people and to programs. Needs root.

bats_require_minimum_version 1.5.0

setup() {
	: "${ASTERISM:=$BATS_TEST_DIRNAME/../../../build/src/cmd/asterism}"
	[ "$(id -u)" = 0 ] || skip "needs root"
	cd "$BATS_TEST_TMPDIR"
}

@test "a line for each feature, whether it is there, and what that means" {
	run --separate-stderr -0 "$ASTERISM" features
	[ "${lines[0]}" = "Linux $(uname -r)" ]
	[[ $output == *"bpf_loop "*" yes "*"an event visits the runs of its key"* ]]
	[[ $output != *" unknown "* ]]
}

@test "JSON says the same, and where what is missing came from" {
	"$ASTERISM" features >text
	"$ASTERISM" features -f json >json
	python3 - <<-'END'
		import json
		said = json.load(open("json"))
		lines = open("text").read().splitlines()
		assert lines[0] == "Linux " + said["kernel"] and said["runs"] is True
		assert len(lines) - 1 == len(said["features"])
		for line, feature in zip(lines[1:], said["features"]):
		    has = feature["has"]
		    means = feature["purpose"] if has else feature["without"]
		    since = f" (Linux {feature['since']})" if not has and feature["since"] else ""
		    assert line.split()[: len(feature["feature"].split())] == feature["feature"].split(), line
		    assert line.endswith(("yes" if has else "no").ljust(9) + means + since), line
		    assert has or not feature["required"], line
	END
}

@test "what it says is what sessions go by: a kernel without bpf_rdonly_cast has no function of that name" {
	"$ASTERISM" features -f json >json
	names=$(grep -c ' bpf_rdonly_cast$' /proc/kallsyms || true)
	has=$(python3 -c 'import json
print(next(f["has"] for f in json.load(open("json"))["features"] if f["feature"] == "bpf_rdonly_cast"))')
	[ "$has" = "$([ "$names" -gt 0 ] && echo True || echo False)" ]
}

@test "without privileges: said, and status 4" {
	run --separate-stderr -4 setpriv --bounding-set=-all --inh-caps=-all "$ASTERISM" features
	[[ $output == *"privilege "*" no "*"neither rules nor recordings can run in this kernel"* ]]
	[[ $stderr == *"cannot run: required features are missing"* ]]
}

@test "it takes no operands" {
	run --separate-stderr -2 "$ASTERISM" features 6.1
	[[ $stderr == *"takes no arguments, but got '6.1'"* ]]
}
