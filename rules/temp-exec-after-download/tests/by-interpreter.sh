#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""What is downloaded is given to an interpreter that is no shell, by any path, and behind an option; then what has code or a module
given, and only reads it."""
import os
import shutil
import socket
import subprocess
import tempfile

listening = socket.create_server(("127.0.0.1", 0))
folder = tempfile.mkdtemp(dir="/tmp")
if not shutil.which("perl"):
    print("no perl")
    raise SystemExit(77)


def download():
    path = tempfile.mktemp(dir=folder)
    downloader = os.fork()
    if not downloader:
        with socket.create_connection(listening.getsockname()) as connection:
            with open(path, "wb") as file:
                shutil.copyfileobj(connection.makefile("rb"), file)
        os._exit(0)
    with listening.accept()[0] as there:
        there.sendall(b"1\n")
    os.waitpid(downloader, 0)
    return path


def run(*command):
    subprocess.run(command, cwd=folder, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)


os.mkdir(folder + "/bin")
os.symlink(os.path.realpath("/usr/bin/python3"), folder + "/bin/called-otherwise")
for way in (["/usr/bin/python3"], ["python3", "-u"], ["env", "python3", "-B"], [folder + "/bin/called-otherwise"], ["perl", "-w"]):
    run(*way, download())
run("perl", "-T", os.path.basename(download()))

data = download()
run("python3", "-m", "json.tool", data)
run("python3", "-c", "import sys; open(sys.argv[1]).read()", data)
run("perl", "-ne", "1", data)
run("perl", "-e", "open(my $file, '<', $ARGV[0])", data)
with open("reader.py", "w", encoding="ascii") as file:
    file.write("import sys\nopen(sys.argv[1]).read()\n")
run("python3", os.path.abspath("reader.py"), data)
run("python3", "-u", os.path.abspath("reader.py"), data)
shutil.rmtree(folder)
