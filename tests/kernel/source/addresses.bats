#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# IP addresses as text: as another program writes them, Python. Needs root.

bats_require_minimum_version 1.5.0

setup() {
	: "${ASTERISM:=$BATS_TEST_DIRNAME/../../../build/src/cmd/asterism}"
	[ "$(id -u)" = 0 ] || skip "needs root"
	cd "$BATS_TEST_TMPDIR"
}

@test "addresses are written as RFC 5952 has them" {
	cat >addresses.events <<-'EOF'
		EVENT shown "getppid, whose arguments it does not have are the halves of an address" { addr: string ip }
		FROM raw_syscalls:sys_enter WHEN id == 110 { addr = ip_text(regs->di, regs->si) }
	EOF
	[ "$(uname -m)" = x86_64 ] || sed -i 's/== 110/== 173/; s/regs->di/regs->user_regs.regs/; s/regs->si/kernel_word(regs->user_regs.regs + 8)/' addresses.events
	cat >addresses.rule <<-'EOF'
		EVENTS "addresses.events"
		RULE addresses PATTERN { shown:s } RETURN { s.addr AS addr }
	EOF
	cat >show.py <<-'EOF'
		import ctypes, ipaddress, os, random
		getppid = {"x86_64": 110}.get(os.uname().machine, 173)
		random.seed(5952)
		groups = [random.choices([0, random.getrandbits(16), random.getrandbits(4)], [3, 2, 1], k=8) for _ in range(300)]
		groups += [[int(i in few) for i in range(8)] for few in ([], [7], [0], [3, 7], [0, 4], [0, 7], range(8), [0, 2, 4, 6])]
		groups += [[0] * 5 + [0xffff, 0x7f00, 1], [0] * 5 + [0xffff, 0xffff, 0xffff], [0] * 5 + [0xffff, 0, 0], [0xffff] * 8]
		numbers = [sum(group << 16 * (7 - i) for i, group in enumerate(all)) for all in groups]
		call = ctypes.CDLL(None).syscall
		for number in numbers:
		    call(getppid, ctypes.c_uint64(number >> 64), ctypes.c_uint64(number & (1 << 64) - 1))
		with open("wanted", "w") as file:
		    for address in map(ipaddress.IPv6Address, numbers):
		        file.write(f"{address.ipv4_mapped or address}\n")
	EOF
	run --separate-stderr -0 "$ASTERISM" run -f json addresses.rule -- python3 show.py
	grep -o '"addr":"[^"]*"' <<<"$output" | cut -d'"' -f4 >seen
	[ "$(wc -l <wanted)" = 312 ]
	diff wanted seen
}
