#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Tracepoints of modules: ext4 is one in Debian's kernels, whose types only its own BTF has. Where it is a part of the
# kernel the events are the same. Needs root.

bats_require_minimum_version 1.5.0

setup() {
	[ "$(id -u)" = 0 ] || skip "needs root"
	: "${ASTERISM:=$BATS_TEST_DIRNAME/../../../build/src/cmd/asterism}"
	cd "$BATS_TEST_TMPDIR"
	grep -qw ext4 /proc/filesystems || busybox modprobe ext4 || skip "this kernel has no ext4"
	truncate -s 16M image
	mkdir disk
	mkfs.ext4 -q -F image && mount -o loop image disk || skip "no file system can be mounted"
	mounted=1
	echo text >disk/file
	inode=$(stat -c %i disk/file)
}

teardown() {
	[ -z "${mounted-}" ] || umount disk
}

@test "events of ext4 are listed, match and are recorded, with what is in its own structs" {
	run -0 "$ASTERISM" events -v ext4_sync_file_enter
	[[ $output == *ext4_sync_file_enter* && $output != *"not "*available* ]]
	cat >synced.rule <<-'END'
		RULE synced PATTERN { [ext4_sync_file_enter:a, ext4_sync_file_exit:b] } WHERE { [tid], a.ino == b.ino } RETURN { a.ino, a.parent, b.ret }
	END
	run -0 --separate-stderr timeout 60 "$ASTERISM" run -q -f json synced.rule -- sync disk/file
	[ "$(grep -c '"match":"synced"' <<<"$output")" = 1 ]
	[[ $output == *"$inode"* && $output == *"$(stat -c %i disk)"* ]]
	timeout 60 "$ASTERISM" record -q -e 'ext4_unlink_*,ext4_sync_file_enter' -o trace -- sh -c 'sync disk/file; rm disk/file'
	run -0 "$ASTERISM" dump trace
	for event in sync_file_enter unlink_enter unlink_exit; do
		[ "$(grep -c "ext4_$event .*ino=$inode" <<<"$output")" = 1 ]
	done
	grep -q "unlink_enter .* size=5" <<<"$output"
}
