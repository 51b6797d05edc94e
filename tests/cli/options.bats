#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# One table feeds parser, help, manual page and completion of every program and command: an option stands in all four.

bats_require_minimum_version 1.5.0

setup() {
	: "${ASTERISM:=$BATS_TEST_DIRNAME/../../build/src/cmd/asterism}"
	build=$(cd "$(dirname "$ASTERISM")/../.." && pwd)
	[ -x "$ASTERISM-docs" ] && [ -x "$build/src/daemon/asterismd-docs" ] || skip "the generators of pages are not built"
	cd "$BATS_TEST_TMPDIR"
	# each program beside its generator
	mkdir bin
	ln -s "$build"/src/cmd/asterism{,-docs,d} "$build/src/daemon/asterismd-docs" bin
	ASTERISM=$PWD/bin/asterism asterismd=$PWD/bin/asterismd
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

# `each_option PROGRAM LEAST`: every option of the table stands in help, page, completion and parser. One process writes each help and
# page, and one bash completes all options. The parser does nothing: what follows an option is wrong, or missing.
each_option() {
	python3 - "$1" "$2" <<-'END'
		import collections, os, re, subprocess, sys
		program, docs, base = sys.argv[1], sys.argv[1] + "-docs", os.path.basename(sys.argv[1])
		def run(*command, **more):
		    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300, **more)
		rows = [line.split(" ", 3) for line in run(docs, "options").stdout.splitlines()]
		assert len(rows) >= int(sys.argv[2]), len(rows)
		completing = """
		compopt() { :; }
		eval "$("$1" completion)"
		while read -r -a COMP_WORDS; do
		    COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMP_LINE=${COMP_WORDS[*]} COMPREPLY=()
		    "_${COMP_WORDS[0]}"
		    echo "${COMPREPLY[*]}"
		done"""
		asked = [" ".join([base, *([] if command == "-" else [command]), name[:-1]]) for command, name, *_ in rows]
		done = run("bash", "-c", completing, "-", docs, input="".join(line + "\n" for line in asked))
		offered = done.stdout.splitlines()
		assert len(offered) == len(rows), done.stdout
		commands = collections.defaultdict(list)
		for row, words in zip(rows, offered):
		    assert row[1] in words.split(), f"completion of {base} {row[0]}: no {row[1]}: {words}"
		    commands[row[0]].append(row[1:])
		for command, options in commands.items():
		    words = [] if command == "-" else [command]
		    called, flags = [program, *words], []
		    help, page = run(*called, "--help").stdout, run(docs, "man", *words).stdout.replace("\\-", "-")
		    def told(*arguments):
		        done = run(*called, *arguments)
		        return done.returncode, (done.stdout.splitlines() or [""])[0]
		    for name, letter, value in options:
		        start = f"      {name}" if letter == "-" else f"  {letter}, {name}"
		        shown = start + ("" if value == "-" else f" {value}") + " "
		        assert re.search("^" + re.escape(shown), help, re.M), f"help of {called}: no {name}"
		        letters = "" if letter == "-" else re.escape(f"\\fB{letter}\\fR, ")
		        assert re.search("^" + letters + re.escape(f"\\fB{name}\\fR"), page, re.M), f"page of {called}: no {name}"
		        for option in (name, letter):
		            if option == "-":
		                pass
		            elif value != "-":
		                status, line = told(option)
		                assert status == 2 and line.endswith(f": error: {name} needs a value: {value}"), (called, option, line)
		            elif name in ("--help", "--version"):
		                assert told(option)[0] == 0, f"{called}: {option} is not known"
		            else:
		                flags.append(option)
		    # The first that is not known is the one that is named.
		    status, line = told(*flags, "--nonsense") if flags else (2, "has no option --nonsense")
		    assert status == 2 and line.endswith("has no option --nonsense"), (called, flags, line)
	END
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
	refused "'asterismd' has no option -Z"$'\n'"help: try 'asterismd --help'" -Z
	refused "--scope cannot be 'al'"$'\n'"help: did you mean 'all'?" --scope al
	refused "--scope cannot be 'nowhere'"$'\n'"help: use one of: tree, pids or all" --scope nowhere
	refused "--pid: 'x' is not a PID"$'\n'"help: use the number of a process, as 'pidof NAME' shows it" --pid x
	refused "--units-max: '4097' is too large"$'\n'"help: use at most 4096" --units-max 4097
	refused "--memory-max: invalid size '5Q'"$'\n'"help: use a number of bytes, or a number with a unit: 64K, 500M, 2G" \
		--memory-max 5Q
	refused "--mode: invalid file mode '777'"$'\n'"help: use octal digits: 600 for yourself, 640 to let your group read, 644 to let everyone read" --mode=777
	refused "--rules needs a value: DIR"$'\n'"help: try 'asterismd --help'" --rules
	refused "--measure takes no value"$'\n'"help: try 'asterismd --help'" --measure=1
	refused "'asterismd' takes no arguments, but got 'more'"$'\n'"help: try 'asterismd --help'" more
	refused "--scope all and --pid exclude each other" --scope all --pid 1
	refused "--scope tree needs --pid" --scope tree
	refused "--pid may be given at most 64 times, not 65" $(printf -- '--pid %d ' $(seq 65))
	refused "--allow-actions and --policy exclude each other"$'\n'"help: --allow-actions allows all actions, --policy those that the file lists" \
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
		[[ $output != *"has no operation"* ]]
	done
	[ "$(complete_words "$ASTERISM-docs" asterism ctl load fi)" = file ]
	[ "$("$ASTERISM" ctl --help | sed -n '/^Operations:/,/^$/p' | grep -c '^  [a-z]')" = 16 ]
	for operation in start stop mask flush snapshot status; do
		"$ASTERISM" ctl --help | grep -qE "^  record $operation "
		"$ASTERISM-docs" man ctl | grep -qE "^\\.B record $operation( |\$)"
		run -2 "$ASTERISM" ctl --socket none record "$operation" -e x
		[[ $output != *"has no operation"* ]]
	done
	run --separate-stderr -2 "$ASTERISM" ctl --socket none record begin
	[[ $stderr == *"asterism ctl has no operation 'record begin'"* ]]
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
