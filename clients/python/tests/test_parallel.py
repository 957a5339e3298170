"""Log lines, and steps that run at the same time, against the real service."""

import json
import logging
import os
import urllib.request
from urllib.parse import quote

from signalbox_client import StepLogHandler


def lines_of(service, reporter):
    key = reporter.assignment["stepKey"]
    url = f"{service.url}/api/jobs/{quote(reporter.job_id, safe='')}/steps/{key}/log"
    headers = {"Authorization": f"Bearer {os.environ['SIGNALBOX_API_TOKEN']}"}
    with urllib.request.urlopen(urllib.request.Request(url, headers=headers)) as response:
        return [line["text"] for line in json.load(response)["lines"]]


def test_log_keeps_lines_in_their_order_also_just_before_the_end(job, service):
    with job.step("s", name="S", start=0, end=100) as step:
        for i in range(50):
            step.log(f"line {i}")
        step.log("two\nlines\n")
        step.output = {}

    assert lines_of(service, step) == [*[f"line {i}" for i in range(50)], "two", "lines"]
    assert len([body for body in service.bodies if body and "log" in body]) <= 3


def test_the_logging_handler_adds_each_record(job, service):
    logger = logging.getLogger("etl")
    logger.propagate = False
    with job.step("s", name="S") as step:
        handler = StepLogHandler(step)
        logger.addHandler(handler)
        logger.warning("row %d has no price", 3)
        logger.removeHandler(handler)

    assert lines_of(service, step) == ["WARNING etl: row 3 has no price"]


def test_parallel_brings_the_job_to_the_mean_and_only_the_last_step_to_the_end(job, read):
    with job.parallel([("a", "A"), ("b", "B")], start=0, end=80) as (a, b):
        a.complete()
        assert read(job)["progress"] == 40
        b.start(progress=50)
        assert read(job)["progress"] == 60
        b.complete()

    assert read(job)["progress"] == 80
    assert read(job)["stepCounts"] == {"running": 0, "completed": 2, "failed": 0}


def test_parallel_completes_the_job_with_the_last_step(job, read):
    with job.parallel([("a", "A"), ("b", "B")], start=0, end=100) as (a, b):
        a.complete({"part": 1})
        assert read(job)["status"] == "running"
        b.complete({"part": 2})

    assert read(job)["output"] == {"part": 2}
