#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# The packages in the folder PACKAGES (`make deb`): in a new Debian 12 they are installed, used, removed and purged, and what
# was there before is what is there then. `make check-deb`; needs root and Debian's packages; cases build on one another.

bats_require_minimum_version 1.5.0

setup_file() {
	[ "$(id -u)" = 0 ] || skip "needs root"
	[ -d "$PACKAGES" ] || { echo "PACKAGES names no folder: make check-deb" >&2; return 1; }
	export root=$BATS_FILE_TMPDIR/root
	sources=/etc/apt/sources.list.d/debian.sources
	[ -e "$sources" ] || sources=/etc/apt/sources.list
	mmdebstrap --quiet --variant=minbase --dpkgopt=force-unsafe-io --skip=cleanup/apt bookworm "$root" "$sources" 3>&-
	mkdir "$root/packages"
	cp "$PACKAGES"/*.deb "$root/packages"
	# Debian's packages that ours need are no part of what is compared.
	needed=$(inside sh -c 'apt-get install -s --no-install-recommends /packages/*.deb' | sed -n 's/^Inst \([^ ]*\) .*/\1/p' | grep -v asterism)
	inside apt-get install -q -y --no-install-recommends $needed </dev/null >"$BATS_FILE_TMPDIR/needed" 2>&1 3>&-
	files >"$BATS_FILE_TMPDIR/before"
}

# With /proc and /sys, mounted for the command alone: nothing is left to unmount.
inside() {
	env -u ASTERISM_CATALOGS -u ASTERISM_RULES DEBIAN_FRONTEND=noninteractive LC_ALL=C PATH=/usr/sbin:/usr/bin:/sbin:/bin \
		unshare --mount sh -c 'mount -t proc proc "$0/proc" && mount --rbind /sys "$0/sys" && exec chroot "$0" "$@"' "$root" "$@"
}

# All files with type, mode, owner and target, and what is in those of /etc; not what apt and dpkg write of their own work.
files() {
	(cd "$root" && find . -xdev \( -path ./proc -o -path ./sys -o -path ./packages -o -path ./var/cache -o -path ./var/lib/apt \
		-o -path ./var/lib/dpkg -o -path ./var/log/apt -o -path ./var/log/dpkg.log -o -path ./run/adduser \) -prune \
		-o ! -path './etc/*-' ! -name ld.so.cache -printf '%p %y %m %u %g %l\n' | sort
	find etc -type f ! -name '*-' ! -name ld.so.cache -exec sha256sum {} + | sort
	ls var/lib/dpkg/info | sort)
}

@test "lintian finds no errors" {
	lintian --allow-root --fail-on error "$PACKAGES"/*.changes >found 2>&1 || { cat found; false; }
	sed 's/^/# /' found >&3
}

@test "apt installs them, and each file is as it was packed" {
	inside sh -c 'apt-get install -q -y --no-install-recommends /packages/*.deb' </dev/null 3>&-
	run -0 inside dpkg -V asterism asterismd libasterism0 libasterism-dev
	[ -z "$output" ]
	[ "$(inside dpkg-query -W -f '${db:Status-Status} ' asterism asterismd libasterism0 libasterism-dev)" = "installed installed installed installed " ]
}

@test "the command, with a shipped example and the shipped rules" {
	version=$(inside dpkg-query -W -f '${Version}' asterism)
	[ "$(inside asterism --version)" = "asterism $version" ]
	run -0 --separate-stderr inside asterism check /usr/share/doc/asterism/examples/slow-syscall.rule
	[ "$output" = "/usr/share/doc/asterism/examples/slow-syscall.rule:3: rule slow_syscall: OK (in the kernel)" ]
	cd "$BATS_TEST_DIRNAME/../../examples"
	matches=$(inside asterism replay -f json /usr/share/doc/asterism/examples/slow-syscall.rule /usr/share/doc/asterism/examples/slow-syscall.jsonl)
	[ "$(grep -c '"match":"slow_syscall"' <<<"$matches")" = 1 ]
	run -0 --separate-stderr inside asterism check @default
	[ "$(inside asterism rules | grep -c .)" -gt 20 ]
	for folder in catalogs machines metrics rules; do
		diff -r "$BATS_TEST_DIRNAME/../../$folder" "$root/usr/share/asterism/$folder" | grep -v ': meson.build$' | tee differences
		[ ! -s differences ]
	done
}

@test "manual pages of all commands, of the language, the library and the daemon, and the completion" {
	commands=$(sed -n '/^foreach command/,/\]/p' "$BATS_TEST_DIRNAME/../../man/meson.build" | grep -o "'[a-z]*'" | tr -d "'")
	[ "$(wc -w <<<"$commands")" -gt 15 ]
	for page in asterism.1 asterism-rules.5 asterism.3 asterismd.8 $(printf 'asterism-%s.1 ' $commands); do
		gzip -t "$root/usr/share/man/man${page##*.}/$page.gz"
	done
	for program in asterism asterismd; do
		bash -c '. "$1" && complete -p "$2"' - "$root/usr/share/bash-completion/completions/$program" "$program"
	done
}

@test "the daemon: its group, folders for root alone to write, units that know them, and examples" {
	[[ "$(inside getent group asterism)" == asterism:x:* ]]
	[ "$(inside stat -c '%U %a' /etc/asterism /etc/asterism/rules.d | sort -u)" = "root 755" ]
	[ "$(inside asterismd --version)" = "asterismd $(inside dpkg-query -W -f '${Version}' asterismd)" ]
	unit=$root/lib/systemd/system/asterismd.service
	grep -q '^ExecStart=/usr/sbin/asterismd .*--group asterism ' "$unit"
	grep -q '^ExecStart=/usr/bin/asterism ' "$root/lib/systemd/system/asterism-boot.service"
	# asterismd is started with the system, a recording of the boot when somebody wants it.
	[ -L "$root/etc/systemd/system/multi-user.target.wants/asterismd.service" ]
	[ ! -e "$root/etc/systemd/system/sysinit.target.wants/asterism-boot.service" ]
	[ -x "$root/usr/share/doc/asterismd/examples/daemon/alert" ]
}

@test "a program is built with the headers, libraries and descriptions, and runs" {
	export PKG_CONFIG_SYSROOT_DIR=$root PKG_CONFIG_LIBDIR=$root/usr/lib/x86_64-linux-gnu/pkgconfig:$root/usr/share/pkgconfig
	examples=$root/usr/share/doc/libasterism-dev/examples
	cc -o "$root/packages/trace-top" "$examples/trace-top.c" $(pkg-config --cflags --libs asterism)
	readelf -d "$root/packages/trace-top" | grep -q 'libasterism.so.0'
	run inside /packages/trace-top /usr/share/doc/asterism/examples/slow-syscall.jsonl
	[[ $output != *"error while loading"* ]]
	cc -o "$root/packages/sensor-server" "$examples/sensor-server.c" $(pkg-config --cflags --libs asterism-sensor) -pthread
	run -0 inside ldd /packages/sensor-server
	[[ $output != *"not found"* ]]
}

@test "removed and purged they leave nothing but what the administrator has written" {
	mkdir -p "$root/var/lib/asterism/recordings/lunch" "$root/var/log/asterism"
	touch "$root/var/lib/asterism/recordings/lunch/metadata" "$root/var/log/asterism/matches.jsonl" "$root/etc/asterism/rules.d/own.rule"
	inside apt-get remove -q -y asterism asterismd libasterism0 libasterism-dev </dev/null 3>&-
	[ -e "$root/var/lib/asterism/recordings/lunch/metadata" ]
	inside dpkg --purge asterism asterismd libasterism0 libasterism-dev 3>&-
	[ "$(cd "$root/etc/asterism" && find . -type f)" = ./rules.d/own.rule ]
	rm -r "$root/etc/asterism"
	files >"$BATS_FILE_TMPDIR/after"
	diff "$BATS_FILE_TMPDIR/before" "$BATS_FILE_TMPDIR/after"
}
