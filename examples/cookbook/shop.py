#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""A web application with a hole: what /run?... is asked for gets into a command line. /safe?... runs a program without a shell."""
import http.server
import os
import subprocess
import sys
import urllib.parse


class Shop(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        path, _, word = self.path.partition("?")
        word = urllib.parse.unquote(word)
        if path == "/run":
            answer = os.popen("echo " + word).read()
        else:
            answer = subprocess.run(["/bin/echo", word], stdout=subprocess.PIPE, text=True, check=True).stdout
        self.send_response(200)
        self.end_headers()
        self.wfile.write(answer.encode())

    do_POST = do_GET

    def log_message(self, *what):
        pass


server = http.server.HTTPServer(("127.0.0.1", int(os.environ.get("PORT", "8099"))), Shop)
for _ in range(int(sys.argv[1])):
    server.handle_request()
