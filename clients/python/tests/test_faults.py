"""Reports while the service is unavailable, busy or wrong."""

import email.utils
import threading
import time

import pytest
from conftest import BUSY, QUICK, eventually
from faults import Fault, FaultServer

from signalbox_client import AsyncClient, Client, Pace, SignalboxError
from signalbox_client._retry import Tries


@pytest.mark.parametrize(
    "fault",
    [
        BUSY,
        Fault(429, {"Retry-After": email.utils.formatdate(0, usegmt=True)}),
        Fault(429, {"Retry-After": "soon"}),
        Fault(408),
        Fault(425),
        Fault(500, body=b'{"code": "internal"}'),
        Fault(502, body=b"<h1>Bad gateway</h1>"),
        Fault(0),
        Fault(200, body=b'{"ok": true}', truncate=True),
        Fault(0, until=threading.Event()),
    ],
    ids=["503", "429 date", "429 wrong", "408", "425", "500", "502", "breaks", "truncates", "hangs"],
)
def test_a_transient_error_is_retried(server, open_client, errors, fault):
    client = open_client(timeout=1.0 if fault.until else 30.0)
    server.faults = [fault, fault]

    client.job("j").step("s", name="S").complete(message="done")

    assert [body["message"] for body in server.bodies] == ["done"] * 3
    assert [error.is_transient for error in errors] == [True, True]


@pytest.mark.parametrize("status", [301, 308, 400, 401, 403, 404, 409, 413])
def test_a_permanent_error_is_raised_at_once(server, open_client, status):
    server.faults = [Fault(status, {"Location": server.url}, b'{"code": "c", "detail": "Why.", "errors": [{"x": 1}]}')]

    with pytest.raises(SignalboxError) as caught:
        open_client().job("j").step("s", name="S").start()

    assert (caught.value.status, caught.value.code, caught.value.detail) == (status, "c", "Why.")
    assert caught.value.errors == [{"x": 1}]
    assert len(server.requests) == 1


def test_a_redirect_does_not_carry_the_token_to_another_server(server, open_client):
    with FaultServer() as other:
        server.faults = [Fault(302, {"Location": other.url + "/api/jobs/j"})]

        with pytest.raises(SignalboxError, match="check the URL"):
            open_client(token="secret").jobs.get("j")

        assert other.requests == []


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize(
    "call",
    [
        lambda client: client.jobs.get("j"),
        lambda client: client.job("j").create(name="J"),
        lambda client: client.job("j").step("s", name="S").start(),
        lambda client: client.hooks.send("github", {"a": 1}),
    ],
)
def test_a_redirect_is_not_followed_or_retried_and_its_error_names_the_new_address(server, open_client, status, call):
    server.faults = [Fault(status, {"Location": f"{server.url.replace('//', '//user:secret@')}/new?token=secret#x"})]

    with pytest.raises(SignalboxError) as caught:
        call(open_client())

    assert str(caught.value) == f"The response redirects to {server.url}/new: check the URL. (unexpected_answer)"
    assert caught.value.status == status
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "url",
    [
        "127.0.0.1:3000",
        "ftp://host",
        "http://",
        "http://user:secret@host",
        "http://:secret@host",
        "http://user:se/cret@host",
        "http://host?token=secret",
        "http://host?",
        "http://host/#",
        "http://host:port",
        "http://host:0",
        "http://host:65536",
        "http://ho st",
        "http://host\n",
        "http://host\\path",
        "http://[::1",
        "http://a..b",
        f"http://{'a' * 64}",
    ],
)
def test_a_url_that_can_never_work_is_refused_at_once_without_its_secrets(url):
    for open_one in (Client, AsyncClient):
        with pytest.raises(ValueError, match="^url must ") as caught:
            open_one(url)

        assert "cret" not in str(caught.value)
        assert caught.value.__context__ is None or caught.value.__suppress_context__


def test_the_delay_doubles_up_to_its_limit(open_client, monkeypatch):
    monkeypatch.setattr("random.uniform", lambda low, high: high)
    tries = Tries(open_client(pace=Pace(first_backoff=1, max_backoff=5))._sender, retry_for=1_000)

    delays = [tries.delay_after(SignalboxError(503, "c", "d", retry_after=after)) for after in (0, 0, 0, 0, 30)]

    assert delays == [1, 2, 4, 5, 35]


def test_an_answer_of_another_server_says_to_check_the_url(server, open_client):
    server.usual = Fault(200, body=b"<h1>Welcome</h1>")

    with pytest.raises(SignalboxError, match="check the URL") as caught:
        open_client().jobs.get("j")

    assert caught.value.code == "unexpected_answer"


def test_retry_after_delays_the_next_try(server, open_client):
    server.faults = [Fault(503, {"Retry-After": "1"})]
    started_at = time.monotonic()

    open_client().job("j").create()

    assert time.monotonic() - started_at >= 1


def test_a_service_that_is_away_at_the_start_gets_everything_later(service, client, errors, read):
    job = client.job(f"late {time.time_ns()}")
    service.stop()
    work = threading.Thread(target=lambda: run(job), daemon=True)

    def run(job):
        job.create(name="Late")
        with job.step("s", name="S", start=0, end=100) as step:
            step.progress(50)
            step.output = {"ok": True}

    work.start()
    eventually(lambda: len(errors) > 2, "tries in vain")
    service.start()
    work.join(20)

    assert read(job)["status"] == "completed"
    assert {error.code for error in errors} == {"unreachable"}


def test_a_service_that_goes_away_meanwhile_does_not_hold_up_progress(job, service, errors, read):
    with job.step("s", name="S", start=0, end=100) as step:
        service.stop()
        for i in range(20_000):
            step.progress(i % 101, f"item {i}")
        eventually(lambda: errors, "a try in vain")
        service.start()
        step.output = {"ok": True}

    assert read(job)["status"] == "completed"
    assert len(service.requests) <= 3


def test_a_lost_answer_leads_to_one_attempt(job, service, read):
    service.faults = [Fault(pass_on=True), None, Fault(pass_on=True)]

    with job.step("s", name="S", start=0, end=100) as step:
        step.output = {"ok": True}

    assert [body["status"] for body in service.bodies] == ["running", "running", "completed", "completed"]
    assert read(step)["attempts"] == 1


def test_a_rejected_report_does_not_discard_the_completion_behind_it(client, job, service, errors, read):
    step = job.step("s", name="S", start=0, end=100)
    release = threading.Event()
    service.faults = [Fault(400, body=b'{"code": "invalid_body"}', until=release)]

    step.progress(10, "refused")
    eventually(lambda: service.requests, "the report")
    end = client._sender.send(step._queue, {"status": "completed", "progress": 100, "output": {"ok": True}}, True)
    release.set()
    client._sender.wait(end, 20)

    assert [error.code for error in errors] == ["invalid_body"]
    assert read(job)["status"] == "completed"


def test_retries_of_one_step_do_not_hold_up_another(server, open_client):
    client = open_client()
    server.faults = [Fault(503, {"Retry-After": "3600"})]
    client.job("j").step("busy", name="S").progress(10)
    eventually(lambda: server.requests, "the first report")

    client.job("j").step("other", name="S").complete()

    assert server.requests[-1].path.endswith("/other")


def test_the_step_that_waits_longest_is_sent_first(server, open_client):
    client = open_client()
    release = threading.Event()
    server.faults = [Fault(200), Fault(200), Fault(200, until=release)]
    steps = [client.job("j").step(f"s{i}", name="S") for i in range(3)]
    steps[0].start()
    steps[1].start()

    steps[2].progress(10)
    eventually(lambda: len(server.requests) == 3, "the request that waits")
    futures = [client._sender.send(step._queue, {"status": "completed"}, True) for step in steps]
    release.set()
    for future in futures:
        client._sender.wait(future, 20)

    assert [request.path[-2:] for request in server.requests[3:]] == ["s0", "s1", "s2"]


def test_retry_for_ends_the_retries(server, open_client):
    client = open_client(retry_for=0.2)
    server.usual = BUSY

    for call in (client.job("j").create, client.job("j").step("s", name="S").complete, lambda: client.jobs.get("j")):
        with pytest.raises(SignalboxError) as caught:
            call()
        assert caught.value.status == 503


def test_calls_are_tried_once_and_a_post_always_once(server, open_client):
    hasty, patient = open_client(), open_client(retry_for=60)
    counts = []
    for client, method in ((hasty, "GET"), (patient, "GET"), (patient, "POST")):
        server.requests.clear()
        server.faults = [BUSY]
        try:
            client.call(method, "/api/x")
        except SignalboxError as error:
            assert error.status == 503
        counts.append(len(server.requests))
        server.faults = []

    assert counts == [1, 2, 1]


def test_a_timeout_ends_the_wait_and_not_the_report(server, open_client):
    step = open_client().job("j").step("s", name="S")

    with pytest.raises(TimeoutError), step:
        server.usual = BUSY
        step.complete(message="done", timeout=0.05)
    with pytest.raises(TimeoutError):
        step.flush(timeout=0.05)
    server.usual = Fault(200)
    step.flush()

    assert {body["status"] for body in server.bodies[1:]} == {"completed"}


def test_on_error_that_raises_does_not_stop_the_reports(server, caplog):
    def fails(error):
        raise RuntimeError("in on_error")

    client = Client(server.url, on_error=fails, pace=QUICK)
    server.faults = [BUSY]

    client.job("j").step("s", name="S").complete()

    assert "on_error failed" in caplog.text


def test_on_error_may_report_itself(server):
    def fail(error):
        step.fail(error, timeout=20)
        failed.set()

    failed = threading.Event()
    step = Client(server.url, on_error=fail, pace=QUICK).job("j").step("s", name="S")
    server.faults = [Fault(400, body=b'{"code": "invalid_body", "detail": "No."}')]

    step.progress(10)

    assert failed.wait(20)
    assert server.bodies[-1]["message"] == "No. (invalid_body)"


def test_errors_are_logged_by_default(server, caplog):
    server.faults = [BUSY]

    Client(server.url, pace=QUICK).job("j").create()

    assert [record.name for record in caplog.records] == ["signalbox_client"]
