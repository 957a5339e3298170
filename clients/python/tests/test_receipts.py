"""A token that writes jobs and reads none, against the real service: it gets receipts."""

import asyncio
import os
import uuid

import pytest
from conftest import QUICK

from signalbox_client import AsyncClient, Cancelled, Client, SignalboxError

TOKEN = os.environ["SIGNALBOX_WRITER_TOKEN"]


@pytest.fixture
def writer():
    with Client(token=TOKEN, pace=QUICK) as client:
        yield client


def test_creates_and_reports_a_job_and_stops_when_a_report_says_that_it_is_cancelled(writer, read):
    job = writer.job(str(uuid.uuid4()))
    receipt = job.create(name="Mine", input={"secret": 1})
    step = job.step("s", name="S", start=0, end=100)

    with pytest.raises(Cancelled), step:
        writer.jobs.cancel(job.job_id)
        step.progress(50)
        step.flush()

    assert receipt["status"] == "running"
    assert "input" not in receipt
    assert (read(job)["status"], read(step)["progress"]) == ("failed", 50)


def test_a_question_raises_once_the_job_is_cancelled_and_once_it_has_ended(writer):
    job = writer.job(str(uuid.uuid4()))
    job.create()
    writer.jobs.cancel(job.job_id)

    with pytest.raises(Cancelled):
        job.gate("one", title="Publish?")
    job.fail("Over")
    with pytest.raises(SignalboxError) as caught:
        job.gate("other", title="Publish?")

    assert caught.value.code == "job_ended"


def test_a_question_of_the_async_client_raises_once_the_job_is_cancelled():
    async def ask():
        async with AsyncClient(token=TOKEN, pace=QUICK) as client:
            job = client.job(str(uuid.uuid4()))
            await job.create()
            await client.jobs.cancel(job.job_id)
            await job.gate("one", title="Publish?")

    with pytest.raises(Cancelled):
        asyncio.run(ask())
