"""Reports on the steps of a job, by docs/wire.md. Only the standard library; copy it and change it."""

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
LONGEST_PAUSE_S = 10.0
TIMEOUT_S = 30.0
PASSING = {408, 425, 429}


class Refused(Exception):
    """An answer that sending the same request again would not change. `code` is stable."""

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
        """Makes the job, or changes the fields given (name, description, input, metadata)."""
        self.put(["jobs", job_id], fields)

    def put(self, path, body):
        """Sends it until the service has taken it: every PUT may be sent twice. Raises Refused."""
        address = f"{self._url}/api/{'/'.join(quote(part, safe='') for part in path)}"
        request = urllib.request.Request(address, json.dumps(body).encode(), self._headers, method="PUT")
        tries = 0
        while True:
            try:
                with urllib.request.urlopen(request, timeout=TIMEOUT_S) as answer:
                    answer.read()
                return
            except urllib.error.HTTPError as error:
                if error.code not in PASSING and error.code < 500:
                    raise Refused(error.code, _problem(error)) from None
                asked = _retry_after(error.headers.get("Retry-After"))
            except (OSError, HTTPException):  # no answer, or half of one
                asked = 0.0
            time.sleep(asked + random.uniform(0, min(LONGEST_PAUSE_S, 0.2 * 2**tries)))
            tries = min(tries + 1, 16)


def _problem(error):
    try:
        problem = json.load(error)
        return problem if isinstance(problem, dict) else {}
    except ValueError:
        return {}


def _retry_after(value):
    """Seconds; the header holds seconds or a date."""
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
    Reports on one step. start, complete and fail return once the service has taken the report. progress returns at once: a
    thread sends the newest state, when it has moved by five points and the report before it is through.

    `assignment` is what the orchestrator hands on: jobId, stepKey, stepName, jobProgressStart, jobProgressEnd.
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
        self._settle({"status": "running", "progress": 0, "message": message})

    def progress(self, progress, message):
        """0 to 100. May be called for every item."""
        if not math.isfinite(progress):
            return  # such as 0 of 0 items
        with self._change:
            if abs(progress - self._sent) < VISIBLE_POINTS:
                return
            self._waiting = {"progress": min(max(progress, 0), 100), "message": message}
            if not self._sending:
                self._sending = True
                threading.Thread(target=self._send_waiting, daemon=True).start()

    def complete(self, message, output):
        """The step that ends at 100 % of the job completes it, with this output, a dict."""
        self._settle({"status": "completed", "progress": 100, "message": message, "output": output})

    def fail(self, message, fail_job=False):
        self._settle({"status": "failed", "message": str(message)[:1000], "failJob": fail_job})

    def _settle(self, report):
        """What waits goes along with it, and what is under way must not arrive after it."""
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
                pass  # what is wrong for good, be it no JSON, shows with the next start, complete or fail

    def _report(self, report):
        progress = report.get("progress", 0)
        self._sent = progress
        # Only a completion may bring the job to 100: it carries the output.
        ends = report.get("status") is None and progress == 100
        self._signalbox.put(self._path, {**self._name, **({} if ends else self._range), **report})
