"""Reports of jobs and steps, against the real service."""

import json
import threading

import pytest
from conftest import QUICK, eventually
from faults import Fault

from signalbox_client import Client, SignalboxError


def test_with_completes_the_step_and_its_job_with_the_output(job, service, read):
    with job.step("collect", name="Collect", start=0, end=60) as step:
        step.progress(50, "half")
        step.flush()
        assert read(job)["progress"] == 30
    with job.step("write", name="Write", start=60, end=100) as step:
        step.output = {"url": "x"}

    assert read(job)["status"] == "completed"
    assert read(job)["output"] == {"url": "x"}
    assert [body.get("status") for body in service.bodies] == ["running", None, "completed", "running", "completed"]


def test_with_reports_the_error_without_its_traceback_and_raises_it_again(job, read):
    step = job.step("s", name="S", start=0, end=100)

    with pytest.raises(ZeroDivisionError), step:
        step.progress(30, "row 6")
        1 / 0  # noqa: B018

    assert read(step)["status"] == "failed"
    assert read(step)["message"] == "division by zero"
    assert read(step)["progress"] == 30
    assert read(job)["status"] == "running"


@pytest.mark.parametrize(
    ("error", "message"),
    [(KeyError("date"), "KeyError: 'date'"), (ValueError(), "ValueError"), (ValueError("x" * 2_000), "x" * 1_000)],
)
def test_with_gives_every_failure_a_message_of_limited_length(job, read, error, message):
    step = job.step("s", name="S")
    step.fail_job = True

    with pytest.raises(type(error)), step:
        raise error

    assert read(step)["message"] == message
    assert read(job)["status"] == "failed"


@pytest.mark.parametrize("status", ["completed", "failed"])
def test_with_reports_nothing_more_after_an_explicit_end(job, service, read, status):
    with job.step("s", name="S") as step:
        step.complete({"rows": 3}) if status == "completed" else step.fail("no rows")

    assert read(step)["status"] == status
    assert len(service.requests) == 2


def test_with_reports_a_failure_when_the_service_rejects_the_completion(job, read):
    step = job.step("s", name="S", start=0, end=100)

    with pytest.raises(SignalboxError) as caught, step:
        pass

    assert caught.value.code == "output_required"
    assert read(step)["status"] == "failed"
    assert read(step)["message"].startswith("`output` is required")


def test_with_on_a_job_without_steps_completes_it(job, read):
    with job:
        job.progress(40, "almost half")
        job.flush()
        assert read(job)["progress"] == 40
        job.output = {"ok": True}

    assert read(job)["status"] == "completed"


def test_with_raises_and_skips_the_block_when_there_is_no_such_job(client):
    with pytest.raises(SignalboxError) as caught, client.job("no such job").step("s", name="S"):
        pytest.fail("the block was run")

    assert (caught.value.status, caught.value.code) == (404, "job_not_found")


def test_progress_is_sent_at_every_five_points_with_the_matching_message(job, service, read):
    step = job.step("s", name="S", start=0, end=50)

    for i in range(1001):
        step.progress(i / 10, f"{i} of 1000")
        step.progress(i / 10, f"{i} of 1000")
    step.flush()

    sent = [(body["progress"], body["message"]) for body in service.bodies]
    assert 2 <= len(sent) <= 22
    assert sent == sorted(set(sent))
    assert all(message == f"{progress * 10:.0f} of 1000" for progress, message in sent)
    assert read(step)["progress"] == 100


def test_completion_of_the_last_step_needs_an_output_and_alone_brings_the_job_to_100(job, service, read):
    step = job.step("s", name="S", start=33.3, end=100)

    step.progress(100, "nearly")
    step.flush()
    before = read(job)
    with pytest.raises(SignalboxError) as caught:
        step.complete()
    requests = len(service.requests)
    step.complete({"url": "x"})

    assert before["status"] == "running"
    assert before["progress"] < 100
    assert (caught.value.status, caught.value.code) == (400, "output_required")
    assert requests == 1
    assert read(job)["status"] == "completed"


def test_ends_are_sent_each_time_and_never_merged(job, service):
    step = job.step("s", name="S")
    release = threading.Event()
    service.faults = [None, Fault(200, body=b"{}", until=release)]
    step.start("begun")

    step.progress(50, "half")
    eventually(lambda: len(service.requests) == 2, "the progress")
    step.progress(60, "more")
    ends = [threading.Thread(target=end, daemon=True) for end in (step.complete, lambda: step.fail("no"))]
    for end, count in zip(ends, (1, 2)):
        end.start()
        eventually(lambda count=count: len(step._queue._queue) == count, "the end in the queue")
    release.set()
    for end in ends:
        end.join(20)

    assert [body.get("status") for body in service.bodies][-2:] == ["completed", "failed"]
    assert service.bodies[-2]["progress"] == 100


def test_reports_after_an_end_are_dropped_until_the_next_start(job, service, read):
    step = job.step("s", name="S")

    step.complete()
    step.progress(10, "too late")
    step.flush()
    step.start("again")

    assert len(service.requests) == 2
    assert read(step)["attempts"] == 2


def test_start_can_resume_at_a_progress(job, read):
    step = job.step("s", name="S")

    step.start("going on", progress=40)

    assert read(step)["progress"] == 40


def test_strange_values_never_raise(job, errors, read):
    step = job.step("s", name="S")
    circular = {}
    circular["self"] = circular

    class Hostile(str):
        def __float__(self):
            raise RuntimeError

    for value in (float("nan"), "much", None, object(), [], 10**400, Hostile("x"), -3, 250):
        step.progress(value, "nothing to do")
    for message in (5, None, b"x", object()):
        step.message(message)
    for output in (circular, [1], {"x": object()}, {"x": float("nan")}, "text"):
        step.update(output=output)
    step.update(progress=100, output={"x": 1})
    step.flush()

    assert read(step)["progress"] == 100
    assert read(step)["message"] == "nothing to do"
    assert read(step)["output"] == {"x": 1}
    assert len(errors) == 5


def test_an_output_that_is_changed_later_is_sent_as_it_was(job, read):
    step = job.step("s", name="S")
    rows = {"done": [1]}

    step.update(output=rows)
    rows["done"].append(2)
    step.complete()

    assert read(step)["output"] == {"done": [1]}


@pytest.mark.parametrize("character", ["x", "\N{GRINNING FACE}", "\0", "\ud800"])
def test_a_long_message_is_cut_and_does_not_spoil_the_completion(job, read, character):
    step = job.step("s", name="S")

    step.message(character * 70_000)
    step.complete()

    assert read(step)["status"] == "completed"
    assert len(read(step)["message"]) == 65_536


def test_a_rejection_is_raised_where_somebody_waits_and_otherwise_goes_to_on_error(client, errors):
    step = client.job("no such job").step("s", name="S")

    with pytest.raises(SignalboxError):
        step.start()
    step.progress(10)
    eventually(lambda: errors, "the rejection")
    with pytest.raises(SignalboxError) as caught:
        step.flush()
    step.flush()

    assert [error.code for error in errors] == ["job_not_found"]
    assert "no such job" in caught.value.detail
    assert str(caught.value).endswith("(job_not_found)")


def test_an_assignment_names_the_same_step_in_another_process(client, job, read):
    step = job.step("a step/1", name="A step", start=10, end=60)
    assignment = json.loads(json.dumps(step.assignment))

    step.start("begun")
    client.step(assignment).complete({"rows": 3}, message="done")

    assert assignment == {
        "jobId": job.job_id,
        "stepKey": "a step/1",
        "stepName": "A step",
        "jobProgressStart": 10,
        "jobProgressEnd": 60,
    }
    assert read(step)["attempts"] == 1
    assert read(step)["message"] == "done"
    assert read(job)["progress"] == 60


def test_steps_of_many_threads_share_a_client(client, job, read):
    def work(i):
        with job.step(f"s{i}", name="S") as step:
            for percent in range(100):
                step.progress(percent, f"{percent}")
            step.output = {"i": i}

    threads = [threading.Thread(target=work, args=(i,)) for i in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)

    steps = list(client.jobs.steps(job.job_id, page_size=7))
    assert {(step["status"], step["stepKey"], step["output"]["i"]) for step in steps} == {
        ("completed", f"s{i}", i) for i in range(20)
    }


@pytest.mark.parametrize("identifier", ["", ".", ".."])
def test_an_id_that_cannot_be_part_of_a_url_raises_before_a_request(client, job, identifier):
    for make in (client.job, lambda key: job.step(key, name="S"), client.jobs.get):
        with pytest.raises(SignalboxError, match="No URL can carry"):
            make(identifier)


@pytest.mark.parametrize(
    ("url", "token"),
    [("127.0.0.1:3000", None), ("http://", None), ("http://me:secret@host", None), ("http://host", "secret\n")],
)
def test_a_client_with_a_wrong_address_or_token_raises_without_the_secret(url, token):
    with pytest.raises(ValueError, match="url|token") as caught:
        Client(url, token, pace=QUICK)

    assert "secret" not in str(caught.value)


def test_a_client_without_an_address_names_the_variable(monkeypatch):
    monkeypatch.delenv("SIGNALBOX_URL")

    with pytest.raises(ValueError, match="SIGNALBOX_URL"):
        Client()
