#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# data/editors: what tools/make-highlighting writes of the sources, and whether it knows the words of the shipped rules.

bats_require_minimum_version 1.5.0

setup() {
	top=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
	editors=$top/data/editors
	cd "$BATS_TEST_TMPDIR"
}

# The words in capitals of files that are neither in comments nor in texts, nor names of others (TCP_CLOSE, O_RDONLY, F).
words() {
	sed 's,//.*,,; s,^[[:space:]]*#.*,,; s,"[^"]*",,g' "$@" | grep -oE '\b[A-Z][A-Z]+\b' | sort -u
}

@test "the files are what the generator writes" {
	"$top/tools/make-highlighting" made
	diff -r made "$editors"
}

@test "every keyword of the shipped rules, and of the conformance cases, is known" {
	words "$top"/rules/*/*.rule "$top"/examples/*.rule "$top"/tests/golden/conformance/machine-*/*.rule >there
	[ "$(wc -l <there)" -gt 40 ]
	sed -n 's/^syntax keyword asterism[A-Za-z]* //p' "$editors/vim/syntax/asterism.vim" | tr ' ' '\n' | sort -u >known
	grep -vxE 'ACK|RST|SYN|EAGAIN|EINPROGRESS|ENOENT|EOWNERDEAD|EPERM|ETIMEDOUT|SIG[A-Z]+' there | comm -23 - known | tee missing
	[ ! -s missing ]
	for word in $(cat known); do
		grep -q "\b$word\b" "$editors/vscode/asterism.tmLanguage.json"
	done
}

@test "Visual Studio Code: its patterns find what they are for" {
	python3 - "$editors/vscode/asterism.tmLanguage.json" "$top/rules/secret-after-network/secret-after-network.rule" <<-'END'
		import json, re, sys
		found = {}
		text = open(sys.argv[2]).read()
		for part in json.load(open(sys.argv[1]))["patterns"]:
		    expression = part.get("match") or part["begin"]
		    found[part["name"]] = [match.strip() for match in re.findall(expression, text, flags=re.M)]
		assert found["support.function.asterism"] == ["Stop", "Message"], found
		assert found["constant.other.severity.asterism"] == ["high"], found
		assert found["keyword.control.asterism"][-3:] == ["SEVERITY", "TAGS", "DESCRIPTION"], found
		assert found["constant.language.asterism"] == ["TRUE"], found
		assert "008" in found["constant.numeric.asterism"], found
		assert len(found["comment.line.double-slash.asterism"]) == sum("//" in line for line in text.splitlines()), found
	END
}

@test "Vim: what stands where" {
	command -v vim >/dev/null || skip "needs vim"
	printf '// RULE\nRULE call PATTERN { [A:call] } WHERE { call.x > 30ms, call.name == "RULE" }\nEVENT A { x: u32 }\n' >some.rule
	cat >script.vim <<-END
		set nocompatible runtimepath^=$editors/vim
		syntax on
		source $editors/vim/ftdetect/asterism.vim
		edit some.rule
		function! Group(line, column)
		  return synIDattr(synID(a:line, a:column, 1), "name")
		endfunction
		call writefile([&filetype, Group(1, 4), Group(2, 1), Group(2, 6), Group(2, stridx(getline(2), "30ms") + 1),
		      \ Group(2, stridx(getline(2), '"RULE') + 2), Group(3, stridx(getline(3), "u32") + 1)], "groups")
		quit!
	END
	vim -e -s -u script.vim -i NONE </dev/null || true
	[ "$(cat groups)" = "asterism
asterismComment
asterismKeyword

asterismNumber
asterismString
asterismType" ]
}
