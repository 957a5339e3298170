"""The end of a client and of its thread."""

import threading

import pytest
from conftest import BUSY, eventually
from faults import Fault

from signalbox_client import Pace, SignalboxError


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
