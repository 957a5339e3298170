"""Reports on the steps of a job as docs/how-to/report-from-any-language.md describes. Uses only the standard library; copy and adapt it."""

import json
import math
import random
import threading
import time
import urllib.error
import urllib.request
from email.utils import parsedate_to_datetime
from http.client import HTTPException
from urllib.parse import quote

VISIBLE_POINTS = 5
MAX_BACKOFF_S = 10.0
TIMEOUT_S = 30.0
TRANSIENT = {408, 425, 429}


class Refused(Exception):
    """A response that a retry of the same request would not change. `code` is stable."""

    def __init__(self, status, problem):
        super().__init__(problem.get("detail") or problem.get("title") or f"The answer was {status}.")
        self.status = status
        self.code = problem.get("code", "unexpected_answer")


class Signalbox:
    def __init__(self, url, token=None):
        self._url = url.rstrip("/")
        self._headers = {"Content-Type": "application/json"}
        if token:
            self._headers["Authorization"] = f"Bearer {token}"

    def create_job(self, job_id, **fields):
        """Creates the job, or updates the given fields (name, description, input, metadata)."""
        self.put(["jobs", job_id], fields)

    def put(self, path, body):
        """Retries until the service accepts the request: a PUT is idempotent. Raises Refused."""
        address = f"{self._url}/api/{'/'.join(quote(part, safe='') for part in path)}"
        request = urllib.request.Request(address, json.dumps(body).encode(), self._headers, method="PUT")
        tries = 0
        while True:
            try:
                with urllib.request.urlopen(request, timeout=TIMEOUT_S) as answer:
                    answer.read()
                return
            except urllib.error.HTTPError as error:
                if error.code not in TRANSIENT and error.code < 500:
                    raise Refused(error.code, _problem(error)) from None
                retry_after = _retry_after(error.headers.get("Retry-After"))
            except (OSError, HTTPException):  # no response, or a truncated one
                retry_after = 0.0
            time.sleep(retry_after + random.uniform(0, min(MAX_BACKOFF_S, 0.2 * 2**tries)))
            tries = min(tries + 1, 16)


def _problem(error):
    try:
        problem = json.load(error)
        return problem if isinstance(problem, dict) else {}
    except ValueError:
        return {}


def _retry_after(value):
    """Returns the delay in seconds; the header holds seconds or a date."""
    if not value:
        return 0.0
    try:
        return max(0.0, float(value))
    except ValueError:
        try:
            return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
        except (TypeError, ValueError):
            return 0.0


class Step:
    """
    Reports on one step. start, complete and fail return once the service has accepted the report. progress returns at
    once: a thread sends the latest state when it has changed by five points and the previous report is accepted.

    `assignment` comes from the orchestrator: jobId, stepKey, stepName, jobProgressStart, jobProgressEnd.
    """

    def __init__(self, signalbox, assignment):
        self._signalbox = signalbox
        self._path = ["jobs", assignment["jobId"], "steps", assignment["stepKey"]]
        self._name = {"stepName": assignment["stepName"]}
        self._range = {key: assignment[key] for key in ("jobProgressStart", "jobProgressEnd") if key in assignment}
        self._change = threading.Condition()
        self._waiting = None
        self._sending = False
        self._sent = 0.0

    def start(self, message):
        self._send({"status": "running", "progress": 0, "message": message})

    def progress(self, progress, message):
        """Reports the progress, 0 to 100. Call it for every item."""
        if not math.isfinite(progress):
            return  # NaN, such as for 0 of 0 items
        with self._change:
            if abs(progress - self._sent) < VISIBLE_POINTS:
                return
            self._waiting = {"progress": min(max(progress, 0), 100), "message": message}
            if not self._sending:
                self._sending = True
                threading.Thread(target=self._send_waiting, daemon=True).start()

    def complete(self, message, output):
        """Completes the step. A step whose range ends at 100 also completes the job and needs an output, a dict."""
        self._send({"status": "completed", "progress": 100, "message": message, "output": output})

    def fail(self, message, fail_job=False):
        self._send({"status": "failed", "message": str(message)[:1000], "failJob": fail_job})

    def _send(self, report):
        """Sends a report merged with the waiting one, after the pending one has been accepted."""
        with self._change:
            report, self._waiting = {**(self._waiting or {}), **report}, None
            self._change.wait_for(lambda: not self._sending)
            self._report(report)

    def _send_waiting(self):
        while True:
            with self._change:
                report, self._waiting = self._waiting, None
                if report is None:
                    self._sending = False
                    self._change.notify_all()
                    return
            try:
                self._report(report)
            except (Refused, TypeError, ValueError):
                pass  # a permanent error, even invalid JSON, is raised by the next start, complete or fail

    def _report(self, report):
        progress = report.get("progress", 0)
        self._sent = progress
        # Only a completion may bring the job to 100: it carries the output.
        ends = report.get("status") is None and progress == 100
        self._signalbox.put(self._path, {**self._name, **({} if ends else self._range), **report})
