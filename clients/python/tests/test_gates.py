"""Asking a person, against the real service."""

import asyncio
import datetime
import threading

import pytest
from conftest import QUICK, eventually

from signalbox_client import AsyncClient, Cancelled, SignalboxError

SCHEMA = {"type": "object", "properties": {"batch": {"type": "integer"}}, "required": ["batch"]}


@pytest.fixture
def ask(job):
    """Asks in a thread. Returns a function that returns the result."""

    def start(key="publish", **question):
        results = []

        def run():
            try:
                results.append(job.gate(key, **{"title": "Publish?", **question}))
            except Exception as error:
                results.append(error)

        threading.Thread(target=run, daemon=True).start()
        return lambda: eventually(lambda: results, "the answer")[0]

    return start


@pytest.fixture
def gate(client, job):
    def read(key="publish"):
        return client.call("GET", f"{job._path}/gates/{key}")

    return read


@pytest.fixture
def answer(client, job):
    def send(action, key="publish", **more):
        return client.call("POST", f"{job._path}/gates/{key}/answer", body={"action": action, **more})

    return send


def is_open(client, job, key="publish"):
    return key in client.jobs.get(job.job_id)["waitingFor"]


def test_gate_opens_and_waits_and_returns_the_answer(client, job, ask, gate, answer):
    result = ask(schema=SCHEMA, expires_in=3600, message="12 prices differ.")
    eventually(lambda: is_open(client, job), "the gate")
    opened = gate()
    expires_at = datetime.datetime.fromisoformat(opened["expiresAt"].replace("Z", "+00:00"))
    answer("accept", content={"batch": 5})

    assert opened["requestedSchema"] == SCHEMA
    assert opened["message"] == "12 prices differ."
    assert 3500 < (expires_at - datetime.datetime.now(datetime.timezone.utc)).total_seconds() <= 3600
    assert result() == ("accept", {"batch": 5})


def test_gate_called_again_waits_for_the_same_answer_and_keeps_the_time(client, job, ask, gate, answer):
    with pytest.raises(TimeoutError):
        job.gate("publish", title="Publish?", expires_in=3600, timeout=0.5)
    first = gate()
    result = ask(title="Publish all?", expires_in=9000)
    eventually(lambda: gate()["title"] == "Publish all?", "the change")
    answer("decline")

    assert result().action == "decline"
    assert gate()["expiresAt"] == first["expiresAt"]
    assert job.gate("publish", title="Publish?").action == "decline"


def test_gate_returns_the_action_of_an_expired_and_of_a_withdrawn_gate(client, job, ask):
    assert job.gate("soon", title="Publish?", expires_in=0.3, on_expiry="accept") == ("accept", None)
    result = ask("withdrawn")
    eventually(lambda: is_open(client, job, "withdrawn"), "the gate")
    client.call("DELETE", f"{job._path}/gates/withdrawn")
    assert result() == ("cancel", None)


def test_gate_raises_the_error_of_a_bad_question(client, job):
    with pytest.raises(SignalboxError) as raised:
        job.gate("publish", title="")
    assert raised.value.code == "invalid_body"
    with pytest.raises(SignalboxError) as raised:
        client.job("missing").gate("publish", title="Publish?", expires_in=5)
    assert raised.value.code == "job_not_found"


def test_gate_raises_once_cancellation_of_the_job_is_requested(client, job, ask):
    result = ask()
    eventually(lambda: is_open(client, job), "the gate")
    client.jobs.cancel(job.job_id, reason="Not needed")

    assert (type(result()), str(result())) == (Cancelled, "Cancelled: Not needed")
    with pytest.raises(Cancelled):
        job.progress(50)


def test_gate_raises_once_the_job_has_ended(client, job, ask):
    result = ask()
    eventually(lambda: is_open(client, job), "the gate")
    client.job(job.job_id).fail("no more rows")

    assert result().code == "job_ended"
    with pytest.raises(SignalboxError, match="job_ended"):
        job.gate("another", title="Publish?")


def test_gate_in_the_block_of_a_step_fails_step_and_job_when_the_job_is_cancelled(client, job, read, gate):
    step = job.step("publish", name="Publish")

    def cancel():
        eventually(lambda: is_open(client, job), "the gate")
        client.jobs.cancel(job.job_id, reason="Not needed")

    threading.Thread(target=cancel, daemon=True).start()
    with pytest.raises(Cancelled), step:
        job.gate("publish", title="Publish?")

    assert (read(step)["status"], read(step)["message"]) == ("failed", "Cancelled: Not needed")
    assert (read(job)["status"], read(job)["message"]) == ("failed", "Cancelled: Not needed")
    assert gate()["status"] == "withdrawn"


def test_gate_of_a_cancelled_job_asks_again_once_the_job_is_started_again(client, job, ask, answer):
    result = ask()
    eventually(lambda: is_open(client, job), "the gate")
    client.jobs.cancel(job.job_id, force=True)
    assert isinstance(result(), Cancelled)

    job.start()
    again = ask()
    answer("accept")
    assert again() == ("accept", None)


def test_gates_lists_reads_answers_and_withdraws(client, job):
    for key in ["first", "second", "third"]:
        client.call("PUT", f"{job._path}/gates/{key}", body={"title": "Publish?", "requestedSchema": SCHEMA})

    answered = client.gates.answer(job.job_id, "first", "accept", content={"batch": 5}, answered_by="Ann")
    withdrawn = client.gates.withdraw(job.job_id, "second")
    listed = [gate["key"] for gate in client.gates.list(status="open") if gate["jobId"] == job.job_id]
    pages = client.gates.list(status=["answered", "withdrawn"], page_size=1)

    assert (answered["status"], answered["content"], answered["answeredBy"]) == ("answered", {"batch": 5}, "Ann")
    assert withdrawn["status"] == "withdrawn"
    assert listed == ["third"]
    assert [gate["key"] for gate in pages if gate["jobId"] == job.job_id] == ["second", "first"]
    assert client.gates.get(job.job_id, "first") == answered
    with pytest.raises(SignalboxError) as raised:
        client.gates.answer(job.job_id, "first", "decline")
    assert raised.value.code == "gate_answered"


def test_gates_refuses_an_answer_to_a_question_that_has_changed(service, client, job):
    path = f"{job._path}/gates/publish"
    shown = client.call("PUT", path, body={"title": "Publish 3 prices?"})
    client.call("PUT", path, body={"title": "Delete everything?"})
    given = {"answered_by": "Ann", "revision": shown["revision"]}

    async def answer():
        async with AsyncClient(service.url, pace=QUICK) as asynchronous:
            await asynchronous.gates.answer(job.job_id, "publish", "accept", **given)

    for refused in [lambda: client.gates.answer(job.job_id, "publish", "accept", **given), lambda: asyncio.run(answer())]:
        with pytest.raises(SignalboxError) as raised:
            refused()
        assert raised.value.code == "gate_changed"
    current = client.gates.get(job.job_id, "publish")
    assert client.gates.answer(job.job_id, "publish", "decline", revision=current["revision"])["status"] == "answered"


def test_gates_with_asyncio(service, job):
    async def main():
        async with AsyncClient(service.url, pace=QUICK) as client:
            asked = asyncio.create_task(client.job(job.job_id).gate("publish", title="Publish?"))
            while not [gate async for gate in client.gates.list(status="open") if gate["jobId"] == job.job_id]:
                await asyncio.sleep(0.01)
            answered = await client.gates.answer(job.job_id, "publish", "decline", answered_by="Ann")
            assert await asked == ("decline", None)
            assert await client.gates.get(job.job_id, "publish") == answered

            cancelled = asyncio.create_task(client.job(job.job_id).gate("other", title="Publish?"))
            while "other" not in (await client.jobs.get(job.job_id))["waitingFor"]:
                await asyncio.sleep(0.01)
            await client.jobs.cancel(job.job_id, reason="Not needed")
            with pytest.raises(Cancelled, match="Not needed"):
                await cancelled
            assert (await client.gates.withdraw(job.job_id, "other"))["status"] == "withdrawn"

    asyncio.run(main())


def test_gate_with_asyncio(service, client, job, answer):
    async def main():
        async with AsyncClient(service.url, pace=QUICK) as asynchronous:
            asked = asyncio.create_task(
                asynchronous.job(job.job_id).gate("publish", title="Publish?", schema=SCHEMA, expires_in=3600)
            )
            while not await asyncio.to_thread(is_open, client, job):
                await asyncio.sleep(0.01)
            await asyncio.to_thread(lambda: answer("accept", content={"batch": 7}))
            assert await asked == ("accept", {"batch": 7})
            assert (await asynchronous.job(job.job_id).gate("publish", title="Publish?")).content == {"batch": 7}

    asyncio.run(main())
