"""
Reports each task of Celery as a job whose id is that of the task.

  celery -A tasks worker

SIGNALBOX_URL (default http://127.0.0.1:3000) is the service's URL, SIGNALBOX_API_TOKEN its token if it has one.
"""

import logging
import os
import urllib.error
import urllib.request

from celery import Celery, signals

URL = os.environ.get("SIGNALBOX_URL", "http://127.0.0.1:3000")
HEADERS = {"Authorization": "Bearer " + os.environ.get("SIGNALBOX_API_TOKEN", ""), "Content-Type": "text/plain"}

app = Celery("tasks", broker=os.environ.get("BROKER_URL", "redis://127.0.0.1:6379"))


def ping(path, message=""):
    """Sends one ping. A task never fails because of its reports."""
    request = urllib.request.Request(f"{URL}/api/ping/{path}", str(message).encode(), HEADERS, method="POST")
    try:
        urllib.request.urlopen(request, timeout=5).close()
    except (urllib.error.URLError, OSError) as error:
        logging.warning("The report to Signalbox failed: %s", error)


@signals.task_prerun.connect
def on_start(task_id=None, task=None, **_):
    ping(task_id, task.name)


@signals.task_success.connect
def on_success(sender=None, result=None, **_):
    ping(f"{sender.request.id}/done", result)


@signals.task_failure.connect  # Not sent for an attempt that another one follows.
def on_failure(task_id=None, exception=None, **_):
    ping(f"{task_id}/fail", exception)


@app.task(bind=True)
def resize(self, images):
    for number, image in enumerate(images):
        ping(f"{self.request.id}/{100 * number // len(images)}", image)
    return f"{len(images)} images"
