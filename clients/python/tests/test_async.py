"""The client for asyncio, against the real service."""

import asyncio
import contextlib
import threading
import time
import uuid

import pytest
from conftest import QUICK, eventually
from faults import Fault

from signalbox_client import AsyncClient, Pace, SignalboxError

BUSY = Fault(503, {"Retry-After": "0"})


@pytest.fixture
def run(service, errors):
    """Runs a coroutine function with a client and a new job."""

    def run_one(work, pace=QUICK, **options):
        async def with_client():
            async with AsyncClient(service.url, on_error=errors.append, pace=pace, **options) as client:
                job = client.job(f"a job/{uuid.uuid4()}")
                await job.create(name="A job")
                service.requests.clear()
                return await work(client, job)

        return asyncio.run(asyncio.wait_for(with_client(), 30))

    return run_one


def test_async_with_completes_the_step_and_its_job_with_the_output(run, read):
    async def work(client, job):
        async with job.step("s", name="S", start=0, end=100) as step:
            for i in range(100):
                step.progress(i, f"{i} rows")
            step.output = {"rows": 100}
        return job

    job = run(work)

    assert read(job)["status"] == "completed"
    assert read(job)["output"] == {"rows": 100}


def test_async_with_reports_the_error_and_raises_it_again(run, read):
    async def work(client, job):
        step = job.step("s", name="S")
        with pytest.raises(ZeroDivisionError):
            async with step:
                1 / 0  # noqa: B018
        return step

    assert read(run(work))["message"] == "division by zero"


def test_async_with_reports_a_cancelled_task(run, read):
    async def work(client, job):
        step = job.step("s", name="S")
        begun = asyncio.Event()

        async def wait_for_ever():
            async with step:
                begun.set()
                await asyncio.Event().wait()

        task = asyncio.create_task(wait_for_ever())
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return step

    step = run(work)

    assert read(step)["status"] == "failed"
    assert read(step)["message"] == "Aborted: CancelledError"


def test_a_cancelled_task_is_not_held_up_by_a_service_that_is_away(run, service, errors):
    async def work(client, job):
        step = job.step("s", name="S")

        async def fail_while_away():
            async with step:
                service.stop()
                raise asyncio.CancelledError

        with pytest.raises(asyncio.CancelledError):
            await fail_while_away()
        service.start()
        await step.flush()

    run(work, pace=Pace(first_backoff=0.02, close_wait=0.05))

    assert service.bodies[-1]["message"] == "Aborted: CancelledError"
    assert any(isinstance(error, (TimeoutError, asyncio.TimeoutError)) for error in errors)


def test_a_cancelled_start_leaves_a_failure_behind_it(run, service):
    async def work(client, job):
        step = job.step("s", name="S")
        service.usual = BUSY
        task = asyncio.create_task(step.__aenter__())
        while len(service.requests) < 2:
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        service.usual = None
        await step.flush()

    run(work)

    assert [body["status"] for body in service.bodies[-2:]] == ["running", "failed"]


def test_a_wait_that_times_out_does_not_withdraw_the_report(run, service, read):
    async def work(client, job):
        step = job.step("s", name="S")
        service.usual = BUSY
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(step.complete(message="done"), 0.05)
        service.usual = None
        await step.flush()
        return step

    assert read(run(work))["message"] == "done"


def test_a_busy_loop_delays_no_report(run, service):
    async def work(client, job):
        job.step("s", name="S").progress(50)
        eventually(lambda: service.requests, "a request while the loop is blocked")

    run(work)


def test_many_steps_at_once(run, read):
    async def work(client, job):
        async def one(i):
            async with job.step(f"s{i}", name="S") as step:
                for percent in range(0, 100, 10):
                    step.progress(percent)
                    await asyncio.sleep(0)

        await asyncio.gather(*[one(i) for i in range(20)])
        return [step async for step in client.jobs.steps(job.job_id, page_size=7)]

    assert [step["status"] for step in run(work)] == ["completed"] * 20


def test_creation_is_retried_and_its_cancellation_ends_it(run, service, errors):
    async def work(client, job):
        service.faults = [BUSY, BUSY]
        await client.job(job.job_id).create(description="tried three times")
        tries = len(service.requests)
        service.usual = BUSY
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(client.job("never").create(), 0.1)
        service.usual = None
        with pytest.raises(SignalboxError, match="job_not_found"):
            await client.jobs.get("never")
        return tries

    assert run(work) == 3


def test_a_hanging_request_holds_up_neither_cancellation_nor_the_end(run, service):
    release = threading.Event()

    async def work(client, job):
        service.faults = [Fault(200, until=release)]
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(client.jobs.get("j"), 0.05)

    started_at = time.monotonic()
    run(work)
    taken = time.monotonic() - started_at
    release.set()

    assert taken < 10


def test_the_calls_of_the_api(run):
    async def work(client, job):
        await job.step("s", name="S").complete()
        assert (await client.jobs.get(job.job_id, include_steps=True))["steps"][0]["stepKey"] == "s"
        assert (await client.jobs.step(job.job_id, "s"))["status"] == "completed"
        assert [one["jobId"] async for one in client.jobs.list(job_id=job.job_id)] == [job.job_id]
        assert "jobs" in await client.call("GET", "/api/jobs", query={"limit": 1})
        assert (await client.hooks.wake("Hello"))["eventId"]
        assert (await client.hooks.agent("Hello", session_key="async"))["sessionKey"] == "async"
        with pytest.raises(ValueError, match="needs either a filter"):
            await client.jobs.delete_all()
        assert await client.jobs.delete_all(job_id=job.job_id) == 1
        await client.job(job.job_id).create()
        await client.jobs.delete(job.job_id)

    run(work)


def test_watch_job_yields_the_states_until_the_end(run):
    async def work(client, job):
        states = []
        async with AsyncClient() as direct:
            async for state in direct.watch_job(job.job_id):
                states.append(state)
                if len(states) == 1:
                    await job.step("s", name="S", start=0, end=100).complete({"ok": True})
        return states

    states = run(work)

    assert states[0]["status"] == "running"
    assert states[-1]["output"] == {"ok": True}


def test_a_watch_that_is_cancelled_ends_its_thread_with_the_next_event(run):
    def threads():
        return {thread for thread in threading.enumerate() if thread.name == "signalbox-call"}

    async def work(client, job):
        live = asyncio.Event()

        async def consume():
            async for event in direct.watch(topics=["jobs"]):
                if event.type == "state":
                    live.set()

        async with AsyncClient() as direct:
            before = threads()
            watching = asyncio.create_task(consume())
            await live.wait()
            watching.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await watching
            await job.create(description="an event")
            while threads() - before:
                await asyncio.sleep(0)

    run(work)


def test_parallel_brings_the_job_to_the_mean_and_only_the_last_step_to_the_end(run, service):
    async def work(client, job):
        async def progress():
            return (await client.jobs.get(job.job_id))["progress"]

        async with job.parallel([("a", "A"), ("b", "B")], start=0, end=100) as (a, b):
            await b.start(progress=50)
            seen = [await progress()]
            await a.complete({"part": 1})
            seen.append(await progress())
            a.log("late")
            await b.complete({"part": 2})
        return seen, await client.jobs.get(job.job_id, include_steps=True)

    seen, record = run(work)

    assert seen == [25, 75]
    assert (record["status"], record["progress"], record["output"]) == ("completed", 100, {"part": 2})
    assert record["stepCounts"] == {"running": 0, "completed": 2, "failed": 0}
    assert [step["progress"] for step in record["steps"]] == [100, 100]


def test_parallel_runs_steps_as_tasks_and_keeps_the_failure_of_one(run):
    async def work(client, job):
        async def part(step, fails):
            async with step:
                for i in range(5):
                    step.progress(i * 20)
                    await asyncio.sleep(0)
                if fails:
                    raise ValueError("no rows")

        async with job.parallel([("a", "A"), ("b", "B"), ("c", "C")], start=0, end=90) as steps:
            await asyncio.gather(*[part(step, i == 1) for i, step in enumerate(steps)], return_exceptions=True)
        return await client.jobs.get(job.job_id)

    record = run(work)

    assert record["stepCounts"] == {"running": 0, "completed": 2, "failed": 1}
    assert record["status"] == "running"
    assert 60 <= record["progress"] < 90
