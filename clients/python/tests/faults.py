"""A proxy before the real service, which records requests and makes faults."""

import json
import threading
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Fault:
    """Answers a request in place of the service; without a status the connection breaks."""

    status: int = 0
    headers: dict = field(default_factory=dict)
    body: bytes = b""
    #: Answers only once this is set.
    until: threading.Event = None
    #: Passes the request on first, so that only the answer is lost.
    pass_on: bool = False
    #: Breaks the connection in the middle of the body.
    truncate: bool = False


@dataclass
class Request:
    method: str
    path: str
    headers: dict
    body: dict


class FaultServer:
    """Passes requests to `target`, after the `faults` that are given, one for each request."""

    def __init__(self, target=None):
        self.requests = []
        self.faults = []
        #: The fault of all requests after the given ones.
        self.usual = None if target else Fault(200, body=b"{}")
        self._target = target
        self._port = 0
        self.start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self._port}"

    @property
    def bodies(self):
        return [request.body for request in self.requests]

    def start(self):
        self._server = ThreadingHTTPServer(("127.0.0.1", self._port), self._handler())
        self._server.daemon_threads = True
        self._port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def stop(self):
        """Refuses connections until the next start."""
        self._server.shutdown()
        self._server.server_close()

    def __enter__(self):
        return self

    def __exit__(self, *_args):
        self.stop()

    def _handler(outer):
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                text = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                body = json.loads(text) if text else None
                outer.requests.append(Request(self.command, self.path, dict(self.headers), body))
                fault = outer.faults.pop(0) if outer.faults else outer.usual
                if fault and fault.until:
                    fault.until.wait(30)
                if not fault or fault.pass_on:
                    status, headers, answer = self.pass_on(text)
                if fault:
                    status, headers, answer = fault.status, fault.headers, fault.body
                if not status:
                    self.close_connection = True
                    return
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(answer) + (10 if fault and fault.truncate else 0)))
                self.end_headers()
                try:
                    self.wfile.write(answer)
                except OSError:
                    pass  # The client has left.

            do_PUT = do_POST = do_DELETE = do_GET

            def pass_on(self, text):
                headers = {n: v for n, v in self.headers.items() if n.lower() not in ("host", "connection")}
                request = urllib.request.Request(outer._target + self.path, text or None, headers, method=self.command)
                try:
                    with urllib.request.urlopen(request, timeout=30) as answer:
                        return answer.status, {"Content-Type": "application/json"}, answer.read()
                except urllib.error.HTTPError as error:
                    with error:
                        return error.code, {"Content-Type": "application/json"}, error.read()

            def log_message(self, *_args):
                pass

        return Handler
