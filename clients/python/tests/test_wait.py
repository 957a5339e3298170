"""Waiting for the end of a job or a run, against the real service."""

import asyncio
import threading
import time
import uuid

import pytest
from conftest import QUICK, eventually
from faults import Fault

from signalbox_client import AsyncClient, Client, SignalboxError

BUSY = Fault(503, {"Retry-After": "0"})


@pytest.fixture
def start_run(client):
    def start():
        return client.hooks.agent("How is it?", deliver=False)["runId"]

    return start


@pytest.fixture
def later(service):
    """Waits in a thread: returns when the request has been sent, with a function that returns the result."""

    def start(wait):
        results = []

        def run():
            try:
                results.append(wait())
            except Exception as error:
                results.append(error)

        service.requests.clear()
        threading.Thread(target=run, daemon=True).start()
        eventually(lambda: service.requests, "the request")
        return lambda: eventually(lambda: results, "the result")[0]

    return start


def preferences(service):
    return [request.headers.get("Prefer") for request in service.requests]


def test_jobs_wait_returns_the_ended_job_with_its_output_by_one_request(client, job, service, later):
    result = later(lambda: client.jobs.wait(job.job_id))
    sent = preferences(service)
    job.complete(output={"rows": 7})

    assert result()["output"] == {"rows": 7}
    assert sent == ["wait=25"]
    assert [request.method for request in service.requests if "Prefer" in request.headers] == ["GET"]


def test_runs_wait_returns_the_ended_run(client, service, later, start_run):
    run_id = start_run()
    result = later(lambda: client.runs.wait(run_id))
    client.call("POST", f"/api/runs/{run_id}/cancel")

    assert result()["error"]["code"] == "cancelled"
    assert client.runs.get(run_id)["status"] == "failed"


def test_wait_continues_after_transient_errors(client, job, service, errors, later):
    service.faults = [BUSY, Fault(), BUSY]
    result = later(lambda: client.jobs.wait(job.job_id))
    eventually(lambda: len(service.requests) == 4, "the try that waits")
    job.complete(output={})

    assert result()["status"] == "completed"
    assert [error.is_transient for error in errors] == [True, True, True]


def test_wait_raises_the_error_when_the_service_is_away_for_longer_than_retry_for(service):
    client = Client(service.url, retry_for=0.05, on_error=lambda _error: None, pace=QUICK)
    service.usual = BUSY
    with pytest.raises(SignalboxError) as caught:
        client.jobs.wait("a job")
    client.close()

    assert caught.value.status == 503


def test_wait_raises_when_the_job_is_deleted_meanwhile(client, job, later):
    result = later(lambda: client.jobs.wait(job.job_id))
    client.jobs.delete(job.job_id)

    assert result().code == "job_not_found"


def test_wait_asks_no_more_often_than_once_a_second(client, job, service, later):
    service.faults = [Fault(200, body=b'{"status": "running"}')]
    started_at = time.monotonic()
    result = later(lambda: client.jobs.wait(job.job_id))
    eventually(lambda: len(service.requests) == 2, "the second request")
    second_at = time.monotonic()
    job.complete(output={})

    assert result()["status"] == "completed"
    assert second_at - started_at >= 0.99


def test_wait_raises_timeout_error_when_the_time_is_up(client, job, service):
    service.requests.clear()
    with pytest.raises(TimeoutError):
        client.jobs.wait(job.job_id, timeout=0.5)

    assert preferences(service) == ["wait=1"]


def test_async_waits_return_the_ended_records(service, client, start_run):
    run_id = start_run()

    async def work():
        async with AsyncClient(service.url, pace=QUICK) as waiter:
            job = waiter.job(f"a job/{uuid.uuid4()}")
            await job.create()
            waits = [asyncio.create_task(waiter.jobs.wait(job.job_id)), asyncio.create_task(waiter.runs.wait(run_id))]
            service.requests.clear()
            while len(service.requests) < 2:
                await asyncio.sleep(0.001)
            await waiter.call("POST", f"/api/runs/{run_id}/cancel")
            await job.complete(output={"rows": 7})
            return [*await asyncio.gather(*waits), await waiter.runs.get(run_id)]

    job, run, again = asyncio.run(asyncio.wait_for(work(), 30))

    assert job["output"] == {"rows": 7}
    assert run["status"] == again["status"] == "failed"


def test_an_async_wait_can_be_cancelled_and_does_not_hold_up_the_loop(service):
    async def work():
        async with AsyncClient(service.url, pace=QUICK) as waiter:
            job = waiter.job(f"a job/{uuid.uuid4()}")
            await job.create()
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(waiter.jobs.wait(job.job_id), 0.05)

    started_at = time.monotonic()
    asyncio.run(work())

    assert time.monotonic() - started_at < 20
