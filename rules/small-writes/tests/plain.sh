#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A shell that writes a line with each echo; a process that appends by opening anew; one that uses pwrite; a pipe is none.
for i in {1..120}; do echo "line $i"; done >lines
/usr/bin/python3 -SEc 'if True:
	import os
	for i in range(60):
		with open("log", "ab", 0) as log:
			log.write(b"one\n")
			log.write(b"two\n")
	file, r, w = os.open("file", os.O_WRONLY | os.O_CREAT), *os.pipe()
	for i in range(120):
		os.pwrite(file, b"x", i)
		os.write(w, b"x")'
