"""Reports while the service is away, busy or wrong, and at the end of a process."""

import contextlib
import email.utils
import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import pytest
from conftest import QUICK, eventually
from faults import Fault, FaultServer

from signalbox_client import Client, Pace, SignalboxError
from signalbox_client._retry import Tries

BUSY = Fault(503, {"Retry-After": "0"})


@pytest.fixture
def server():
    """A server that accepts everything."""
    with FaultServer() as server:
        yield server


@pytest.fixture
def open_client(server, errors):
    clients = []

    def make(**options):
        clients.append(Client(server.url, on_error=errors.append, **{"pace": QUICK, **options}))
        return clients[-1]

    yield make
    for client in clients:
        with contextlib.suppress(SignalboxError):
            client.close(timeout=0)


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


def test_a_rejected_report_does_not_discard_the_completion_behind_it(job, service, errors, read):
    step = job.step("s", name="S", start=0, end=100)
    release = threading.Event()
    service.faults = [Fault(400, body=b'{"code": "invalid_body"}', until=release)]

    step.progress(10, "refused")
    eventually(lambda: service.requests, "the report")
    threading.Timer(0.01, release.set).start()
    step.complete({"ok": True})

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


def test_close_sends_throttled_reports_at_once(server, open_client):
    with open_client() as client:
        step = client.job("j").step("s", name="S")
        step.start()
        step.progress(1, "a little")

    assert server.bodies[-1]["message"] == "a little"


def test_close_gives_up_after_its_timeout_and_nothing_is_sent_afterwards(server, open_client, errors):
    client = open_client()
    step, other = (client.job("j").step(key, name="S") for key in "so")
    server.usual = BUSY
    step.progress(10)
    other.progress(10)
    eventually(lambda: errors, "a try in vain")

    with pytest.raises(SignalboxError) as caught:
        client.close(timeout=0.05)
    count = len(server.requests)
    for call in (step.complete, other.flush, client.job("j").step("n", name="S").start):
        with pytest.raises(SignalboxError, match="closed"):
            call()
    step.progress(90)
    client.close()

    assert caught.value.code == "closed"
    assert len(server.requests) - count <= 1  # the one that was under way


def test_close_raises_the_rejection_of_a_report_that_nobody_waited_for(server, open_client):
    server.usual = Fault(404, body=b'{"code": "job_not_found"}')
    client = open_client()
    client.job("j").step("s", name="S").progress(10)

    with pytest.raises(SignalboxError, match="job_not_found"):
        client.close()


def test_the_error_of_a_block_is_not_replaced_by_that_of_close(server, open_client):
    server.usual = BUSY

    with pytest.raises(KeyError), open_client(pace=Pace(close_wait=0.05)) as client:
        client.job("j").step("s", name="S").progress(10)
        raise KeyError("of the block")


def test_an_idle_thread_ends_and_the_next_report_starts_another(server, open_client, monkeypatch):
    monkeypatch.setattr("signalbox_client._sender._IDLE_SECONDS", 0.01)
    client = open_client()
    step = client.job("j").step("s", name="S")
    step.start()
    thread = client._sender._thread
    eventually(lambda: client._sender._thread is None, "the end of the thread")
    thread.join(20)

    step.complete()

    assert not thread.is_alive()
    assert server.bodies[-1]["status"] == "completed"


def test_reports_are_sent_where_no_thread_can_be_started(server, open_client, monkeypatch):
    start = threading.Thread.start

    def refuse(thread):
        if thread.name == "signalbox-client":
            raise RuntimeError("can't create new thread at interpreter shutdown")
        start(thread)

    client = open_client()
    monkeypatch.setattr(threading.Thread, "start", refuse)
    server.faults = [BUSY]
    with client.job("j").step("s", name="S") as step:
        step.progress(50, "half")
    client.close()

    assert server.bodies[-1]["status"] == "completed"


def run_program(text, *args, **options):
    """Runs a program with `client`, `job` and `step` until it ends."""
    head = "from signalbox_client import Client, Pace\nimport atexit, os, signal, sys, time\n"
    head += "client = Client(sys.argv[1], on_error=lambda error: None, pace=Pace(first_backoff=0.02))\n"
    head += "step = client.job('j').step('s', name='S')\n"
    return subprocess.Popen(
        [sys.executable, "-c", head + textwrap.dedent(text), *args], stderr=subprocess.PIPE, text=True, **options
    )


def test_exit_sends_an_end_that_is_still_unsent(server):
    server.faults = [BUSY] * 4

    program = run_program(
        """
        try:
            step.complete({"n": 1}, timeout=0.001)
        except TimeoutError:
            sys.exit(3)
        """,
        server.url,
    )
    _, stderr = program.communicate(timeout=30)

    assert program.returncode == 3, stderr
    assert server.bodies[-1] == {"stepName": "S", "status": "completed", "progress": 100, "output": {"n": 1}}


def test_exit_sends_progress_and_reports_of_exit_handlers(server):
    program = run_program(
        """
        other = client.job('j').step('o', name='O')
        atexit.register(lambda: other.complete({"late": True}))
        step.start()
        step.progress(1, "a little")
        """,
        server.url,
    )
    _, stderr = program.communicate(timeout=30)

    assert (program.returncode, stderr) == (0, "")
    assert {"a little"} < {body.get("message") for body in server.bodies}
    assert {"late": True} in [body.get("output") for body in server.bodies]


def test_exit_is_not_held_up_by_progress_while_the_service_is_away(server):
    server.stop()
    program = run_program("client._sender.pace = Pace(progress_wait=0.1)\nstep.progress(10)", server.url)
    started_at = time.monotonic()
    program.communicate(timeout=30)
    server.start()

    assert program.returncode == 0
    assert time.monotonic() - started_at < 8


def test_ctrl_c_in_a_with_block_reports_the_abort_and_ends_the_program(server):
    program = run_program(
        """
        with step:
            step.progress(50, "half")
            time.sleep(60)
        """,
        server.url,
    )
    eventually(lambda: any(body.get("message") == "half" for body in server.bodies), "the progress")

    program.send_signal(signal.SIGINT)
    _, stderr = program.communicate(timeout=30)

    assert program.returncode in (-signal.SIGINT, 130)
    assert "KeyboardInterrupt" in stderr
    assert server.bodies[-1] == {"stepName": "S", "status": "failed", "message": "Aborted: KeyboardInterrupt"}


def test_ctrl_c_during_the_start_leaves_a_failure_behind_it(server):
    server.usual = BUSY
    program = run_program(
        """
        with step:
            pass
        """,
        server.url,
    )
    eventually(lambda: len(server.requests) > 1, "tries in vain")

    program.send_signal(signal.SIGINT)
    eventually(lambda: len(server.requests) > 2, "a further try")
    server.usual = Fault(200)
    program.communicate(timeout=30)

    assert [body["status"] for body in server.bodies[-2:]] == ["running", "failed"]


def test_ctrl_c_in_an_async_with_block_reports_the_abort(server):
    program = run_program(
        """
        import asyncio
        from signalbox_client import AsyncClient

        async def main():
            async with AsyncClient(sys.argv[1]) as client, client.job("j").step("s", name="S") as step:
                step.progress(50, "half")
                await asyncio.sleep(60)

        asyncio.run(main())
        """,
        server.url,
    )
    eventually(lambda: any(body.get("message") == "half" for body in server.bodies), "the progress")

    program.send_signal(signal.SIGINT)
    _, stderr = program.communicate(timeout=30)

    assert "KeyboardInterrupt" in stderr
    assert "never retrieved" not in stderr
    assert server.bodies[-1] == {"stepName": "S", "status": "failed", "message": "Aborted: CancelledError"}


def test_sys_exit_in_a_with_block_is_a_failure(server):
    program = run_program(
        """
        with step:
            sys.exit(4)
        """,
        server.url,
    )
    program.communicate(timeout=30)

    assert program.returncode == 4
    assert server.bodies[-1]["message"] == "Aborted: SystemExit"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_child_sends_its_own_reports_and_not_the_parents(server, open_client):
    client = open_client()
    job = client.job("j")
    parents = job.step("parent", name="P")
    parents.start()
    server.faults = [Fault(503, {"Retry-After": "3600"})]
    parents.progress(50, "of the parent")
    eventually(lambda: len(server.requests) == 2, "the try in vain")
    parents.message("newest of the parent")

    def work(i):
        with job.step(f"child {i}", name="C") as step:
            step.progress(50, "of the child")
        client.close()

    context = multiprocessing.get_context("fork")
    children = [context.Process(target=work, args=(i,)) for i in range(3)]
    for child in children:
        child.start()
    for child in children:
        child.join(20)

    assert [child.exitcode for child in children] == [0, 0, 0]
    of_parent = [body for body in server.bodies if body["stepName"] == "P"]
    assert [body.get("status", body.get("message")) for body in of_parent] == ["running", "of the parent"]
    for i in range(3):
        paths = [request.path for request in server.requests]
        assert 2 <= paths.count(f"/api/jobs/j/steps/child%20{i}") <= 3


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_forks_while_threads_report_never_hang_a_child(server, open_client):
    client = open_client()
    step = client.job("j").step("s", name="S")
    stop = threading.Event()

    def report():
        i = 0
        while not stop.is_set():
            i += 1
            step.progress(i % 101, f"{i}")

    threads = [threading.Thread(target=report, daemon=True) for _ in range(2)]
    for thread in threads:
        thread.start()
    codes = []
    for i in range(20):
        child = os.fork()
        if child == 0:
            client.job("j").step(f"c{i}", name="C").complete(timeout=20)
            os._exit(0)
        codes.append(os.waitpid(child, 0)[1])
    stop.set()
    for thread in threads:
        thread.join(20)

    assert codes == [0] * 20
