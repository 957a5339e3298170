"""
Tests of the installed package against a real service: SIGNALBOX_URL, SIGNALBOX_API_TOKEN, SIGNALBOX_HOOKS_TOKEN and, for
a token with the scope `jobs:write` alone, SIGNALBOX_WRITER_TOKEN say which. `npm test` starts one and runs them.
"""

import contextlib
import logging
import os
import time
import uuid

import pytest
from faults import Fault, FaultServer

from signalbox_client import Client, Pace, SignalboxError

#: A tenth of the usual backoff; the intervals stay as they are.
QUICK = Pace(first_backoff=0.02, close_wait=5.0)
BUSY = Fault(503, {"Retry-After": "0"})


@pytest.fixture
def service():
    """The real service behind a proxy that records requests and makes faults."""
    with FaultServer(os.environ["SIGNALBOX_URL"]) as server:
        yield server


@pytest.fixture
def errors():
    return []


@pytest.fixture
def client(service, errors):
    client = Client(service.url, on_error=errors.append, pace=QUICK)
    yield client
    try:
        client.close()
    except Exception:
        logging.debug("a test left reports", exc_info=True)


@pytest.fixture
def job(client, service):
    job = client.job(f"a job/{uuid.uuid4()}")
    job.create(name="A job", metadata={"team": "a"})
    service.requests.clear()
    return job


@pytest.fixture
def read():
    """Reads a job from the service itself, or one of its steps."""
    client = Client(timeout=10)

    def read_one(reporter):
        if hasattr(reporter, "assignment"):
            return client.jobs.step(reporter.job_id, reporter.assignment["stepKey"])
        return client.jobs.get(reporter.job_id)

    return read_one


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


def eventually(look, what, within=20.0):
    """Returns the first truthy value of `look`."""
    deadline = time.monotonic() + within
    while time.monotonic() < deadline:
        seen = look()
        if seen:
            return seen
        time.sleep(0.005)
    raise AssertionError(f"waited in vain for {what}")
