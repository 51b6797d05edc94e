#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""A build asks for something on the net, and then runs a compiler, which makes what is executed; as its own child, and a shell's."""
import os
import shutil
import socket
import subprocess
import tempfile

listening = socket.create_server(("127.0.0.1", 0))
folder = tempfile.mkdtemp(dir="/tmp")
path = os.path.join(folder, "made")
socket.create_connection(listening.getsockname())
subprocess.run(["cp", "/bin/true", path], check=True)
subprocess.run([path], check=True)
subprocess.run(["sh", "-c", f"cp /bin/true {path}.2; (cat {path}.2 >{path}.3; chmod 700 {path}.3); {path}.2; {path}.3"], check=True)
shutil.rmtree(folder)
