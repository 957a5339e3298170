"""Cancellation of jobs, against the real service."""

import asyncio
import json
import subprocess
import sys
import threading
import uuid

import pytest
from conftest import QUICK
from faults import Fault

from signalbox_client import AsyncClient, Cancelled, Client, SignalboxError


def cancel(job, **request):
    with Client() as client:
        return client.jobs.cancel(job.job_id, **request)


def test_cancel_requests_it_once_and_force_fails_the_job(client, job, read):
    requested = client.jobs.cancel(job.job_id, reason="Not needed")
    repeated = client.jobs.cancel(job.job_id, reason="Other")
    forced = client.jobs.cancel(job.job_id, force=True)

    assert requested["status"] == "running"
    assert requested["cancel"]["reason"] == "Not needed"
    assert repeated["cancel"] == requested["cancel"]
    assert (forced["status"], forced["message"]) == ("failed", "Cancelled: Not needed")
    assert [row["jobId"] for row in client.jobs.list(cancelled=True, job_id=job.job_id)] == [job.job_id]
    with pytest.raises(SignalboxError) as caught:
        client.jobs.cancel(job.job_id)
    assert caught.value.code == "job_ended"


def test_the_next_call_after_a_report_raises_and_with_fails_step_and_job(job, read):
    step = job.step("s", name="S", start=0, end=100)

    with pytest.raises(Cancelled) as caught, step:
        cancel(job, reason="Not needed")
        step.progress(50)  # Its answer is the first that says so.
        step.flush()

    assert caught.value.reason == "Not needed"
    assert str(caught.value) == "Cancelled: Not needed"
    assert (read(step)["status"], read(step)["message"]) == ("failed", "Cancelled: Not needed")
    assert (read(job)["status"], read(job)["message"]) == ("failed", "Cancelled: Not needed")
    assert read(step)["progress"] == 50


@pytest.mark.parametrize("call", ["progress", "message", "update", "flush", "start"])
def test_every_call_but_the_end_raises(job, call):
    step = job.step("s", name="S")
    step.start()
    cancel(job)
    with pytest.raises(Cancelled):
        step.update(progress=50)
        step.flush()

    with pytest.raises(Cancelled) as caught:
        {
            "progress": lambda: step.progress(60),
            "message": lambda: step.message("x"),
            "update": lambda: step.update(progress=60),
            "flush": step.flush,
            "start": step.start,
        }[call]()

    assert (caught.value.reason, str(caught.value)) == (None, "Cancelled")


def test_a_completion_still_wins(job, read):
    with job.step("s", name="S", start=0, end=100) as step:
        cancel(job)
        with pytest.raises(Cancelled):
            step.progress(50)
            step.flush()
        step.output = {"rows": 1}

    assert read(job)["status"] == "completed"
    assert read(job)["output"] == {"rows": 1}


def test_another_error_after_the_request_is_reported_as_the_cancellation_and_raised(job, read):
    step = job.step("s", name="S")

    with pytest.raises(ValueError, match="closed"), step:
        cancel(job, reason="x")
        try:
            step.progress(50)
            step.flush()
        except Cancelled:
            raise ValueError("closed") from None

    assert (read(job)["status"], read(job)["message"]) == ("failed", "Cancelled: x")


def test_with_does_not_run_its_block_if_the_job_is_cancelled_before(job, read):
    cancel(job, reason="Too late")

    with pytest.raises(Cancelled), job.step("s", name="S"):
        pytest.fail("the block ran")

    assert (read(job)["status"], read(job)["message"]) == ("failed", "Cancelled: Too late")


def test_with_on_a_job_without_steps(job, read):
    with pytest.raises(Cancelled), job:
        cancel(job, reason="x")
        job.progress(50)
        job.flush()

    assert (read(job)["status"], read(job)["message"]) == ("failed", "Cancelled: x")


def test_a_restart_of_the_job_is_not_cancelled(job, read):
    cancel(job, force=True)
    job.start()
    with job.step("s", name="S", start=0, end=100) as step:
        step.progress(50)
        step.flush()
        step.output = {"rows": 1}

    assert (read(job)["status"], read(job)["cancel"]) == ("completed", None)


def test_the_reason_is_read_once_and_may_be_unreadable(job, service, read):
    step = job.step("s", name="S")
    step.start()
    cancel(job, reason="x")
    service.requests.clear()
    service.faults = [Fault(pass_on=True, status=200, body=b'{"cancelRequested": true}'), Fault(403)]

    with pytest.raises(Cancelled) as caught:
        step.progress(50)
        step.flush()
    step.fail(caught.value, fail_job=True)

    assert caught.value.reason is None
    assert [request.method for request in service.requests] == ["PUT", "GET", "PUT"]
    assert read(job)["message"] == "Cancelled"


def test_reports_of_a_job_that_is_not_cancelled_read_nothing(job, service):
    with job.step("s", name="S") as step:
        step.progress(50)

    assert {request.method for request in service.requests} == {"PUT"}


def test_raise_if_cancelled_reads_the_job_for_work_that_reports_rarely(job, service, errors):
    step = job.step("s", name="S")
    step.start()
    step.raise_if_cancelled()
    service.faults = [Fault(503)]
    step.raise_if_cancelled()
    cancel(job, reason="x")

    with pytest.raises(Cancelled, match="Cancelled: x"):
        step.raise_if_cancelled()

    assert [error.status for error in errors] == [503]


def test_a_worker_in_another_process_ends(job, read):
    step = job.step("s", name="S", start=0, end=100)
    program = """
import json, sys, time
from signalbox_client import Client, Cancelled
with Client() as client:
    try:
        with client.step(json.loads(sys.argv[1])) as step:
            print("working", flush=True)
            for i in range(100000):
                step.progress(i % 90, f"item {i}")
                time.sleep(0.005)
    except Cancelled as cancelled:
        print(cancelled)
"""
    worker = subprocess.Popen(
        [sys.executable, "-c", program, json.dumps(step.assignment)], stdout=subprocess.PIPE, text=True
    )
    assert worker.stdout.readline() == "working\n"

    cancel(job, reason="Not needed")
    output, _ = worker.communicate(timeout=30)

    assert (worker.returncode, output) == (0, "Cancelled: Not needed\n")
    assert (read(job)["status"], read(job)["message"]) == ("failed", "Cancelled: Not needed")


def test_threads_that_share_a_step_all_raise(job):
    step = job.step("s", name="S")
    step.start()
    cancel(job)
    raised = []

    def work():
        try:
            for i in range(1000):
                step.progress(i % 90)
                step.flush()
        except Cancelled as error:
            raised.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)

    assert len(raised) == 4


def test_asyncio_raises_and_async_with_fails_step_and_job(service, errors, read):
    async def work():
        async with AsyncClient(service.url, on_error=errors.append, pace=QUICK) as client:
            job = client.job(f"a job/{uuid.uuid4()}")
            await job.create(name="A job")
            step = job.step("s", name="S", start=0, end=100)
            with pytest.raises(Cancelled) as caught:
                async with step:
                    await step.raise_if_cancelled()
                    await client.jobs.cancel(job.job_id, reason="Not needed")
                    step.progress(50)
                    await step.flush()
            assert caught.value.reason == "Not needed"
            other = client.job(f"a job/{uuid.uuid4()}")
            await other.create(name="Another")
            await client.jobs.cancel(other.job_id, reason="Too late")
            with pytest.raises(Cancelled):
                async with other.step("s", name="S"):
                    pytest.fail("the block ran")
            with pytest.raises(Cancelled):
                await job.raise_if_cancelled()
            return job, other

    job, other = asyncio.run(asyncio.wait_for(work(), 30))

    assert (read(job)["status"], read(job)["message"]) == ("failed", "Cancelled: Not needed")
    assert (read(other)["status"], read(other)["message"]) == ("failed", "Cancelled: Too late")


def test_asyncio_progress_raises_without_a_wait(service, errors):
    async def work():
        async with AsyncClient(service.url, on_error=errors.append, pace=QUICK) as client:
            job = client.job(f"a job/{uuid.uuid4()}")
            await job.create(name="A job")
            step = job.step("s", name="S")
            await step.start()
            await client.jobs.cancel(job.job_id)
            with pytest.raises(Cancelled):
                for i in range(1000):
                    step.progress(i % 90)
                    await asyncio.sleep(0.01)

    asyncio.run(asyncio.wait_for(work(), 30))
