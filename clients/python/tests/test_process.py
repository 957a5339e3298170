"""Reports at the end of a process, after Ctrl-C, and in forked children."""

import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import pytest
from conftest import BUSY, eventually
from faults import Fault


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
