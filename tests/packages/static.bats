#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# The program STATIC (`make static`): small, and at home where there is nothing else. `make check-static`; needs root.

bats_require_minimum_version 1.5.0

setup() {
	[ "$(id -u)" = 0 ] || skip "needs root"
	[ -e "$STATIC" ] || { echo "STATIC names no program: make check-static" >&2; return 1; }
	root=$BATS_TEST_TMPDIR/root
	mkdir "$root"
	cp "$STATIC" "$root/asterism"
	ln -s asterism "$root/asterismd"
	cp "$BATS_TEST_DIRNAME"/../../examples/slow-syscall.* "$root"
}

inside() {
	env -i /usr/sbin/chroot "$root" "$@"
}

@test "at most 8 MiB, without symbols, and no loader is asked for" {
	[ "$(stat -c %s "$STATIC")" -le $((8 << 20)) ]
	run -0 readelf -lS "$STATIC"
	[[ $output != *INTERP* ]]
	[[ $output != *.symtab* ]]
}

@test "in an empty folder: version, check, replay, rules, catalogs, report" {
	[[ "$(inside /asterism --version)" == "asterism "* ]]
	[[ "$(inside /asterismd --version)" == "asterismd "* ]]
	run -0 --separate-stderr inside /asterism check /slow-syscall.rule
	[ "$output" = "/slow-syscall.rule:3: rule slow_syscall: OK (in the kernel)" ]
	run -0 --separate-stderr inside /asterism check -r 'RULE r PATTERN { [sys_enter:a, sys_exit:b] } WHERE { [tid], b.ts - a.ts > 5ms }'
	[ "$output" = "-r:1: rule r: OK (in the kernel)" ]
	run -0 --separate-stderr inside /asterism replay -f json /slow-syscall.rule /slow-syscall.jsonl
	[ "$(grep -c '"match":"slow_syscall"' <<<"$output")" = 1 ]
	run -0 --separate-stderr inside /asterism check @default
	run -0 inside /asterism events sched_switch
	run -0 inside /asterism report -o /page.html /slow-syscall.jsonl
	[ -s "$root/page.html" ]
}

@test "what needs a library says that it is not there" {
	chmod 755 "$BATS_TEST_TMPDIR"
	mkdir "$root/foreign" "$root/dev" "$root/rules"
	mknod "$root/dev/null" c 1 3
	printf '/* CTF 1.8 */\n\ntrace {\n\tmajor = 1;\n\tminor = 8;\n\tbyte_order = le;\n};\n' >"$root/foreign/metadata"
	run -2 --separate-stderr inside /asterism dump /foreign
	[[ $stderr == *"this program is linked statically, and loads no libraries"* ]]
	# The daemon looks into the kernel first, which it sees from out here.
	run -1 --separate-stderr "$root/asterismd" --rules "$root/rules" --metrics 127.0.0.1:0 --socket "$root/s"
	[[ $stderr == *"this program was built without libmicrohttpd"* ]]
}

@test "users have the names that /etc/passwd gives, whatever else /etc/nsswitch.conf names" {
	mkdir "$root/etc"
	echo 'someone:x:4711:4711::/:/' >"$root/etc/passwd"
	printf 'passwd: files systemd sss\ngroup: files systemd\n' >"$root/etc/nsswitch.conf"
	run --separate-stderr inside /asterism run --user someone -r 'RULE r PATTERN { [sys_enter:a] }' --for 1ms
	[[ $stderr != *"no user"* ]]
	run --separate-stderr inside /asterism run --user nobody-known -r 'RULE r PATTERN { [sys_enter:a] }' --for 1ms
	[[ $stderr == *"nobody-known"* ]]
}
