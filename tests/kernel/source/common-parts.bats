#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Conditions and fields whose paths have parts in common, which are computed once: their values are those of each path
# alone. Needs root.

bats_require_minimum_version 1.5.0

setup() {
	: "${ASTERISM:=$BATS_TEST_DIRNAME/../../../build/src/cmd/asterism}"
	[ "$(id -u)" = 0 ] || skip "needs root"
	cd "$BATS_TEST_TMPDIR"
}

# matches PROGRAM: what the rules of the catalog return of the Python program, and what that says itself.
matches() {
	run --separate-stderr "$ASTERISM" run -f json common.rule -- python3 -c "$1"
	echo "$stderr"
	grep -o '"return":{.*}' <<<"$output" | sed 's/,"tainted.*//' | tr -d '"{}' | sed 's/^return://' >seen
	sort -o seen seen
}

@test "pointers that several paths follow, and one on the way that is null" {
	cat >common.events <<-'EOF'
		EVENT asked { sum: i64, least: i64, threads: i64, beyond: i64 }
		FROM raw_syscalls:sys_enter
		WHEN id == 110 AND cast(task_struct, current->real_parent)->tgid > 0 AND
			cast(task_struct, current->real_parent)->real_parent->tgid - cast(task_struct, current->real_parent)->tgid != 0 AND
			cast(task_struct, current->real_parent)->signal->tty->count == 0 AND
			cast(task_struct, current->real_parent)->signal->nr_threads == 1 {
			sum = cast(task_struct, current->real_parent)->tgid + (cast(task_struct, current->real_parent)->real_parent->tgid * 3) +
				(cast(task_struct, current->real_parent)->real_parent->real_parent->tgid * 5) + (cast(task_struct, current->real_parent)->tgid * 7),
			least = cast(task_struct, current->real_parent)->real_parent->real_parent->tgid,
			threads = cast(signal_struct, current->signal)->tty->count + (cast(signal_struct, current->signal)->nr_threads * 1000) +
				cast(signal_struct, current->signal)->tty->count,
			beyond = cast(task_struct, current->real_parent)->signal->nr_threads + cast(task_struct, current->real_parent)->signal->tty->link->count +
				cast(task_struct, current->real_parent)->signal->tty->link->index + cast(task_struct, current->real_parent)->signal->tty->link->flags,
		}
	EOF
	cat >common.rule <<-'EOF'
		EVENTS "common.events"
		RULE asked PATTERN { asked:a } RETURN { a.sum AS sum, a.least AS least, a.threads AS threads, a.beyond AS beyond }
	EOF
	# The program has no terminal: its tty is null, and what comes behind it in the sum is not.
	matches '
import os
os.setsid() if os.getpid() != os.getsid(0) else None
grand = os.getpid()
if os.fork() == 0:
	parent = os.getpid()
	if os.fork() == 0:
		os.getppid()
		with open("expected", "w") as file:
			up = int(open(f"/proc/{grand}/stat").read().rpartition(")")[2].split()[1])
			print(f"sum:{parent + 3 * grand + 5 * up + 7 * parent},least:{up},threads:1000,beyond:1", file=file)
		os._exit(0)
	os.wait()
	os._exit(0)
os.wait()'
	cat seen expected
	[ "$(cat seen)" = "$(cat expected)" ]
}

@test "memory of the user in products, of which one factor is 0" {
	cat >common.events <<-'EOF'
		EVENT written { sum: i64, word: i64 }
		FROM raw_syscalls:sys_enter
		WHEN id == 1 AND (((syscall_arg(0) == 77) * user_word(syscall_arg(1))) + ((syscall_arg(0) == 78) * user_word(syscall_arg(1)))) & 0xffffff == 0x636261 {
			sum = ((syscall_arg(0) == 77) * user_word(syscall_arg(1))) + ((syscall_arg(0) == 78) * user_word(syscall_arg(1)) * 3) + user_word(syscall_arg(1)) + user_word(syscall_arg(1)),
			word = user_word(syscall_arg(1)),
		}
	EOF
	cat >common.rule <<-'EOF'
		EVENTS "common.events"
		RULE written PATTERN { written:w } RETURN { w.sum AS sum, w.word AS word }
	EOF
	matches '
import os
null = os.open("/dev/null", os.O_WRONLY)
for number in 77, 78, 79:
	os.dup2(null, number)
	os.write(number, b"abc\0\0\0\0\0")
	os.write(number, b"abd\0\0\0\0\0")
with open("expected", "w") as file:
	print(f"sum:{0x636261 * 3},word:{0x636261}", file=file)
	print(f"sum:{0x636261 * 5},word:{0x636261}", file=file)'
	cat seen expected
	[ "$(cat seen)" = "$(cat expected)" ]
}

# Older kernels (before 6.13) give a program and all functions that it calls 512 bytes of stack together.
@test "conditions with much in common, of an event that rules raise others from: what is kept leaves those their stack" {
	cat >common.events <<-'EOF'
		EVENT asked { parent: i64, state: i64, start: i64, flags: i64 }
		FROM raw_syscalls:sys_enter
		WHEN id == 110 AND
			(cast(task_struct, current->real_parent)->tgid + cast(task_struct, current->real_parent)->tgid) != -77 AND
			(cast(task_struct, current->real_parent)->pid + cast(task_struct, current->real_parent)->pid) != -77 AND
			(cast(task_struct, current->real_parent)->static_prio + cast(task_struct, current->real_parent)->static_prio) != -77 AND
			(cast(task_struct, current->real_parent)->normal_prio + cast(task_struct, current->real_parent)->normal_prio) != -77 AND
			(cast(task_struct, current->real_parent)->mm->start_code + cast(task_struct, current->real_parent)->mm->start_code) != -77 AND
			(cast(task_struct, current->real_parent)->exit_signal + cast(task_struct, current->real_parent)->exit_signal) != -77 AND
			(cast(dentry, current->fs->pwd.dentry)->d_parent->d_parent->d_sb->s_dev + cast(dentry, current->fs->pwd.dentry)->d_parent->d_sb->s_magic) != 1 {
			parent = cast(task_struct, current->real_parent)->tgid, state = cast(task_struct, current->real_parent)->exit_state,
			start = cast(task_struct, current->real_parent)->mm->start_code, flags = cast(task_struct, current->real_parent)->flags,
		}

		EVENT asked_itself { who: i64 }
		FROM raw_syscalls:sys_enter WHEN id == 39 { who = current->tgid }
	EOF
	cat >common.rule <<-'EOF'
		EVENTS "common.events"
		EVENT again { parent: i64, state: i64, start: i64, flags: i64 }
		EVENT often { parent: i64 }
		MACHINE asking
		KEY { tid } POOL 16384 REPLACE
		VAR parent: i64;
		STATE None { ON asked:a -> Asked { parent = a.parent } }
		STATE Asked {
			ON asked:a -> Asked { parent = a.parent; EMIT again(parent = a.parent, state = a.state, start = a.start, flags = a.flags) }
			AFTER 5s -> END
		}
		MACHINE again
		KEY { pid, parent } POOL 32768 PER PROCESS 8192 REPLACE
		VAR count: u64;
		STATE None { ON again -> Asked { count = 1 } }
		STATE Asked {
			ON again:a -> Asked { count = count + 1; EMIT often(parent = a.parent) }
			AFTER 5s -> END { EMIT often(parent = 1) }
		}
		RULE often PATTERN { often:o } RETURN { o.parent AS parent }
		RULE itself PATTERN { asked_itself:a } RETURN { a.who AS who }
	EOF
	matches '
import os
for _ in range(3):
	parent = os.getppid()
with open("expected", "w") as file:
	print(f"parent:{parent}", file=file)'
	cat seen expected
	[ "$(grep parent seen)" = "$(cat expected)" ]
}

@test "random catalogs give what their parts give alone" {
	local count=8
	[ -z "${ASTERISM_TEST_LONG:-}" ] || count=60
	run python3 "$BATS_TEST_DIRNAME/common-parts.py" "$ASTERISM" 10 $count
	echo "$output"
	[ "$status" = 0 ]
}
