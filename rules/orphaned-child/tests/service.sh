#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Two services, each in a session of its own, are killed; their two workers go on. One has made the session itself."""
import os
import subprocess
import sys
import time

if len(sys.argv) > 1:
    if sys.argv[1] == "apart":
        os.setsid()
    for _ in range(2):
        if not os.fork():
            time.sleep(4)
            os._exit(0)
    time.sleep(10)
services = [subprocess.Popen([sys.executable, __file__, "service"], start_new_session=True),
            subprocess.Popen([sys.executable, __file__, "apart"])]
time.sleep(1.8)
for service in services:
    service.kill()
    service.wait()
time.sleep(1.4)
