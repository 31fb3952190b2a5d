"""A registry of images for tests: sends the SHA-256 of `NAME:TAG` as the digest, to clients with its token.

python3 registry.py PORT-FILE
"""

import hashlib
import http.server
import json
import sys


class Registry(http.server.BaseHTTPRequestHandler):
    """Answers as Docker's registry does: a challenge, a token, a digest."""

    def answer(self, status, headers=(), body=b""):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.answer(200, body=json.dumps({"token": "of-" + self.path.split("scope=")[1]}).encode())

    def do_HEAD(self):
        name, tag = self.path.removeprefix("/v2/").split("/manifests/")
        realm = f"http://127.0.0.1:{self.server.server_port}/token"
        if self.headers["Authorization"] != f"Bearer of-repository%3A{name.replace('/', '%2F')}%3Apull":
            challenge = f'Bearer realm="{realm}",service="test",scope="repository:{name}:pull"'
            return self.answer(401, [("WWW-Authenticate", challenge)])
        if "application/vnd.oci.image.index.v1+json" not in self.headers["Accept"]:
            return self.answer(404)
        digest = hashlib.sha256(f"{name.removeprefix('library/')}:{tag}".encode()).hexdigest()
        return self.answer(200, [("Docker-Content-Digest", f"sha256:{digest}")])


server = http.server.HTTPServer(("127.0.0.1", 0), Registry)
with open(sys.argv[1], "w", encoding="utf-8") as file:
    file.write(str(server.server_port))
server.serve_forever()
