#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# One table feeds parser, help, manual page and completion of every program and command: an option stands in all four.

bats_require_minimum_version 1.5.0

setup() {
	: "${ASTERISM:=$BATS_TEST_DIRNAME/../../build/src/cmd/asterism}"
	build=$(cd "$(dirname "$ASTERISM")/../.." && pwd)
	asterismd=$build/src/daemon/asterismd
	[ -x "$ASTERISM-docs" ] && [ -x "$asterismd-docs" ] || skip "the generators of pages are not built"
	cd "$BATS_TEST_TMPDIR"
	: >file
}

# `complete_words PROGRAM WORD...`: what bash offers for the last word, a line each.
complete_words() {
	bash -c '
		compopt() { :; }
		eval "$("$1" completion)"
		shift
		COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE="$*"
		"_$1"
		printf "%s\n" "${COMPREPLY[@]}"' - "$@"
}

# `program_of COMMAND`: how it is called, in the array called.
program_of() {
	called=("$program")
	[ "$1" = - ] || called+=("$1")
}

# `is_known OPTION VALUE`: whether the parser knows an option. Nothing is done: what follows it is wrong, or missing.
is_known() {
	if [ "$2" != - ]; then
		run -2 "${called[@]}" "$1"
		[[ ${lines[0]} == *": error: $name needs a value: $2" ]]
	elif [[ $name == --help || $name == --version ]]; then
		run -0 "${called[@]}" "$1"
	else
		run -2 "${called[@]}" "$1" --nonsense
		[[ ${lines[0]} == *"has no option --nonsense" ]]
	fi
}

each_option() {
	local count=0 program=$1 docs=$1-docs command name letter value
	while read -r command name letter value; do
		count=$((count + 1))
		program_of "$command"
		page=$command
		[ "$command" = - ] && page=
		pattern="^  $letter, $name"
		[ "$letter" = - ] && pattern="^      $name"
		[ "$value" = - ] || pattern+=" $value"
		"${called[@]}" --help | grep -qE -- "$pattern " || { echo "help of ${called[*]}: no $name"; return 1; }
		# shellcheck disable=SC2086
		"$docs" man $page | sed 's/\\-/-/g' | grep -qE -- "^\\\\fB(${letter}\\\\fR, \\\\fB)?$name\\\\fR" ||
			{ echo "page of ${called[*]}: no $name"; return 1; }
		# shellcheck disable=SC2086
		complete_words "$docs" "${program##*/}" $page "${name%?}" | grep -qx -- "$name" ||
			{ echo "completion of ${called[*]}: no $name"; return 1; }
		is_known "$name" "$value" || { echo "${called[*]}: $name is not known"; return 1; }
		[ "$letter" = - ] || is_known "$letter" "$value" || { echo "${called[*]}: $letter is not known"; return 1; }
	done < <("$docs" options)
	[ "$count" -ge "$2" ]
}

@test "asterism and its commands: every option in help, manual page, completion and parser" {
	each_option "$ASTERISM" 120
}

@test "asterismd: every option in help, manual page, completion and parser" {
	each_option "$asterismd" 17
}

@test "help names no option that is not in the table" {
	for program in "$ASTERISM" "$asterismd"; do
		"$program-docs" options >options
		while read -r command; do
			program_of "$command"
			"${called[@]}" --help | sed -nE 's/^  (-[a-zA-Z], |    )(--[a-z-]*) .*/\2/p' | sort >shown
			awk -v command="$command" '$1 == command { print $2 }' options | sort >listed
			[ -s listed ]
			diff listed shown
		done < <(awk '{ print $1 }' options | sort -u)
	done
}

@test "asterismd: what is wrong is said as asterism says it" {
	refused() {
		run -2 "$asterismd" "${@:2}"
		[ "$output" = "asterismd: error: $1" ] || { echo "$output"; false; }
	}
	refused "'asterismd' has no option --scop"$'\n'"help: did you mean --scope?" --scop all
	refused "'asterismd' has no option -Z"$'\n'"help: 'asterismd --help' shows how it is used" -Z
	refused "--scope cannot be 'al'"$'\n'"help: did you mean 'all'?" --scope al
	refused "--scope cannot be 'nowhere'"$'\n'"help: it is one of: tree, pids or all" --scope nowhere
	refused "--pid: 'x' is not a PID" --pid x
	refused "--units-max: '4097' is too much"$'\n'"help: it is 4096 at most" --units-max 4097
	refused "--memory-max: '5Q' is not a size"$'\n'"help: write a number of bytes, or one with a unit: 64K, 500M, 2G" \
		--memory-max 5Q
	refused "--mode: '777' is not a mode for files"$'\n'"help: write octal digits: 600 for yourself, 640 for your group to read, too, 644 for everybody" --mode=777
	refused "--rules needs a value: DIR"$'\n'"help: 'asterismd --help' shows how it is used" --rules
	refused "--measure takes no value"$'\n'"help: 'asterismd --help' shows how it is used" --measure=1
	refused "'asterismd' takes no operands, not 'more'"$'\n'"help: 'asterismd --help' shows how it is used" more
	refused "only one of --scope all and --pid can be given" --scope all --pid 1
	refused "--scope tree is for the processes of --pid" --scope tree
	refused "--pid can be given 64 times, not 65" $(printf -- '--pid %d ' $(seq 65))
	refused "only one of --allow-actions and --policy can be given"$'\n'"help: --allow-actions allows everything, --policy what the file says" \
		--allow-actions --policy x
}

@test "asterismd: --help and --version answer at once" {
	run --separate-stderr -0 "$asterismd" --version --nonsense
	[[ $output =~ ^asterismd\ [0-9]+\.[0-9]+\.[0-9]+$ && -z $stderr ]]
	run --separate-stderr -0 "$asterismd" -h --nonsense
	[[ ${lines[0]} == "Usage: asterismd [OPTION...]" && -z $stderr ]]
}

@test "ctl: every operation in help, manual page, completion and parser" {
	for operation in ping load unload query activate deactivate next continue abort reload; do
		"$ASTERISM" ctl --help | grep -qE "^  $operation( |\$)"
		"$ASTERISM-docs" man ctl | grep -qE "^\\.B $operation( |\$)"
		complete_words "$ASTERISM-docs" asterism ctl --socket file "${operation%?}" | grep -qx "$operation"
		run -2 "$ASTERISM" ctl --socket none "$operation" a b c
		[[ $output != *"cannot be asked to"* ]]
	done
	[ "$(complete_words "$ASTERISM-docs" asterism ctl load fi)" = file ]
	[ "$("$ASTERISM" ctl --help | sed -n '/^Operations:/,/^$/p' | grep -c '^  [a-z]')" = 16 ]
	for operation in start stop mask flush snapshot status; do
		"$ASTERISM" ctl --help | grep -qE "^  record $operation "
		"$ASTERISM-docs" man ctl | grep -qE "^\\.B record $operation( |\$)"
		run -2 "$ASTERISM" ctl --socket none record "$operation" -e x
		[[ $output != *"cannot be asked to"* ]]
	done
	run --separate-stderr -2 "$ASTERISM" ctl --socket none record begin
	[[ $stderr == *"asterismd cannot be asked to 'record begin'"* ]]
}

@test "completion: of options that share a name, what the command takes" {
	[ "$(complete_words "$ASTERISM-docs" asterism run --format '' | tr '\n' ' ')" = "text json " ]
	[ "$(complete_words "$ASTERISM-docs" asterism explain -f '' | tr '\n' ' ')" = "text dot json " ]
	[ "$(complete_words "$ASTERISM-docs" asterism test -f '' | tr '\n' ' ')" = "text tap json " ]
	[ "$(complete_words "$asterismd-docs" asterismd --scope t)" = tree ]
	mkdir folder
	[ "$(complete_words "$ASTERISM-docs" asterism record -o f)" = folder ]
	[ "$(complete_words "$ASTERISM-docs" asterism run -o f | sort | tr '\n' ' ')" = "file folder " ]
	[ -z "$(complete_words "$asterismd-docs" asterismd f)" ]
}
