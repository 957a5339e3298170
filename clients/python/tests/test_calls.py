"""The calls of the API and the live events, against the real service."""

import datetime
import threading
import uuid
from contextlib import suppress

import pytest
from conftest import eventually
from faults import Fault

from signalbox_client import Client, SignalboxError
from signalbox_client._watch import read_events, watch


@pytest.fixture
def team(client):
    """A value of the metadata, of five jobs."""
    team = f"team {uuid.uuid4()}"
    for i in range(5):
        client.job(f"{team}/{i}").create(name=f"Job {i}", metadata={"team": team, "at": {"i": str(i)}})
    return team


def test_list_yields_the_jobs_of_all_pages(client, service, team):
    service.requests.clear()

    rows = list(client.jobs.list(metadata={"team": team}, status=["running", "failed"], page_size=2))

    assert sorted(row["name"] for row in rows) == [f"Job {i}" for i in range(5)]
    assert len(service.requests) == 3


def test_list_takes_every_filter_and_the_fields(client, team):
    hour = datetime.timedelta(hours=1)
    now = datetime.datetime.now(datetime.timezone.utc)
    options = {"created_from": now - hour, "created_before": now + hour, "updated_from": now - hour, "stale": False}

    rows = list(client.jobs.list(**options, job_id=team, name="job 3", fields=["jobId", "name"]))

    assert rows == [{"jobId": f"{team}/3", "name": "Job 3"}]
    assert [row["name"] for row in client.jobs.list(metadata={"team": team, "at.i": ["1"]})] == ["Job 1"]


def test_get_and_delete_one_job(client, team):
    client.job(f"{team}/1").step("s", name="S").complete()

    job = client.jobs.get(f"{team}/1", include_steps=True)
    client.jobs.delete(f"{team}/1")

    assert [step["stepKey"] for step in job["steps"]] == ["s"]
    with pytest.raises(SignalboxError) as caught:
        client.jobs.get(f"{team}/1")
    assert caught.value.code == "job_not_found"


def test_create_changes_only_the_fields_that_are_given(client, team):
    job = client.job(f"{team}/1")

    job.create(description="new", stale_after_seconds=60)
    changed = job.create(name=None)

    assert (changed["name"], changed["description"], changed["staleAfterSeconds"]) == (None, "new", 60)


def test_create_sends_the_callback_url_which_the_service_checks(client, team):
    with pytest.raises(SignalboxError) as caught:
        client.job(f"{team}/1").create(callback_url="https://elsewhere.example/in")

    assert caught.value.code == "invalid_body"
    assert "callbackUrl" in str(caught.value)


@pytest.mark.parametrize(
    ("filter", "words"),
    [
        ({}, "needs either a filter, or all=True"),
        ({"all": True, "status": "failed"}, "needs either a filter, or all=True"),
        ({"metadata": {}}, "`metadata` has no value"),
        ({"metadata": {"team": None}}, "`metadata.team` has no value"),
        ({"name": "Job", "status": None}, "`status` has no value"),
        ({"status": []}, "`status` has no value"),
        ({"job_id": ""}, "has no value"),
    ],
)
def test_delete_all_refuses_a_filter_that_is_empty_or_undefined(client, service, team, filter, words):
    service.requests.clear()

    with pytest.raises(ValueError, match=words):
        client.jobs.delete_all(**filter)

    assert service.requests == []


def test_delete_all_deletes_what_matches_and_everything_only_with_all(client, service, team):
    deleted = client.jobs.delete_all(metadata={"team": team, "at.i": "2"})
    left = len(list(client.jobs.list(metadata={"team": team})))
    service.faults = [Fault(200, body=b'{"ok": true, "deleted": 4}')]
    rest = client.jobs.delete_all(all=True)

    assert (deleted, left, rest) == (1, 4, 4)
    assert (service.requests[-1].method, service.requests[-1].path) == ("DELETE", "/api/jobs?all=true")


def test_hooks_have_one_effect_for_one_idempotency_key(client, service):
    key = str(uuid.uuid4())

    first, second = (client.hooks.agent("Hello", name="A", deliver=False, idempotency_key=key) for _ in range(2))
    wake = client.hooks.wake("The build is green", mode="next-heartbeat")

    assert first["runId"] == second["runId"]
    assert wake["eventId"]
    assert client.call("GET", f"/api/runs/{first['runId']}")["name"] == "A"
    with pytest.raises(SignalboxError) as caught:
        client.hooks.agent("Other words", idempotency_key=key)
    assert caught.value.status == 409
    with pytest.raises(SignalboxError) as caught:
        client.hooks.send("no/such hook", {})
    assert service.requests[-1].path == "/hooks/no/such%20hook"


def test_a_wrong_token_is_refused(service):
    with pytest.raises(SignalboxError) as caught:
        Client(service.url, "a-wrong-token-of-length").jobs.get("j")

    assert (caught.value.status, caught.value.code) == (401, "unauthorized")


def test_watch_job_yields_the_states_until_the_end(errors):
    with Client(on_error=errors.append) as client:
        job = client.job(f"watched {uuid.uuid4()}")
        job.create(name="Watched")
        states = []
        for state in client.watch_job(job.job_id):
            states.append(state)
            if len(states) == 1:
                with job.step("s", name="S", start=0, end=100) as step:
                    step.output = {"ok": True}

    assert (states[0]["status"], states[0]["steps"]) == ("running", [])
    assert (states[-1]["status"], states[-1]["output"]) == ("completed", {"ok": True})
    assert states[-1]["steps"][0]["output"] == {"ok": True}
    assert errors == []


def test_watch_job_raises_when_there_is_no_such_job_or_it_is_deleted():
    with Client() as client:
        with pytest.raises(SignalboxError, match="job_not_found"):
            next(client.watch_job("no such job"))
        job = client.job(f"deleted {uuid.uuid4()}")
        job.create()
        states = client.watch_job(job.job_id)
        next(states)
        client.jobs.delete(job.job_id)
        with pytest.raises(SignalboxError, match="job_not_found"):
            list(states)


def test_watch_yields_the_events_of_jobs_that_match():
    team = str(uuid.uuid4())
    with Client() as client:
        events = client.watch(topics=["jobs"], metadata={"team": team})
        assert next(events).type == "state"
        threading.Thread(target=client.job(f"seen {team}").create, kwargs={"metadata": {"team": team}}).start()
        event = next(event for event in events if event.type == "job")

    assert event.data["jobId"] == f"seen {team}"


def test_watch_yields_a_state_when_it_is_disconnected_and_reconnects(service, errors, client):
    stream = b"retry: 1\n\nid: 7\nevent: state\ndata: {}\n\n"
    service.faults = [
        Fault(200, {"Content-Type": "text/event-stream"}, stream),
        Fault(503),
        Fault(200, {"Content-Type": "text/event-stream"}, b"event: job\ndata: {}\n\n"),
        Fault(403, body=b'{"code": "forbidden"}'),
    ]
    seen = []

    with pytest.raises(SignalboxError, match="forbidden"):
        for event in client.watch():
            seen.append((event.type, event.data.get("reason")))

    assert seen == [("state", None), ("state", "disconnected"), ("job", None), ("state", "disconnected")]
    assert [request.headers.get("Last-Event-Id") for request in service.requests] == [None, "7", "7", "7"]
    assert all(error.is_transient for error in errors)


def test_watch_ends_when_the_client_is_closed(service, client, errors):
    service.usual = Fault(503, {"Retry-After": "3600"})
    watching = threading.Thread(target=lambda: list(client.watch()), daemon=True)
    watching.start()
    eventually(lambda: errors, "the first try")

    client.close()
    watching.join(20)

    assert not watching.is_alive()


def test_watch_looks_for_its_end_with_each_keep_alive(service, client):
    service.usual = Fault(200, {"Content-Type": "text/event-stream"}, b": keep-alive\n\nevent: job\ndata: {}\n\n")
    answers = iter([False, True])

    events = list(watch(client._connection, client._sender, None, None, {}, lambda: next(answers)))

    assert events == []
    assert len(service.requests) == 1


def test_events_are_parsed_by_the_standard():
    lines = [b": hello\n", b"id:1\r\n", b"event: job\n", b"data: a\n", b"data:  b\n", b"data\n", b"\n", b"data: c\n"]

    assert list(read_events(lines)) == [("message", None, None), ("job", "a\n b\n", "1")]


def test_an_agent_run_gives_the_client_its_token_and_its_job(service, monkeypatch):
    monkeypatch.delenv("SIGNALBOX_API_TOKEN", raising=False)
    monkeypatch.setenv("SIGNALBOX_URL", service.url)
    monkeypatch.setenv("SIGNALBOX_TOKEN", "sbj_of-the-run")
    monkeypatch.setenv("SIGNALBOX_JOB_ID", "run-1")

    with Client(retry_for=0.0) as client, pytest.raises(SignalboxError) as refused:
        client.job(f"{client.job().job_id}/build").create(return_to="self")

    assert refused.value.code == "unauthorized"  # the service did not make this token
    request = service.requests[-1]
    assert request.path == "/api/jobs/run-1%2Fbuild"
    assert request.body == {"returnTo": "self"}  # no session is known: the service knows that of its own run
    with Client("http://127.0.0.1:9") as other:
        assert other._connection._headers["Authorization"] is None


@pytest.mark.parametrize(
    ("return_to", "sent"),
    [
        ("self", "agent:7"),
        ({"sessionKey": "self", "on": ["stale"]}, {"sessionKey": "agent:7", "on": ["stale"]}),
        ("other", "other"),
        ({"sessionKey": "other"}, {"sessionKey": "other"}),
        (None, None),
    ],
)
def test_self_is_the_session_of_the_agent_run(service, monkeypatch, return_to, sent):
    monkeypatch.setenv("SIGNALBOX_SESSION", "agent:7")

    with Client(service.url, retry_for=0.0) as client, suppress(SignalboxError):  # the service has no such session
        client.job("a/build").create(name="Build", return_to=return_to)

    assert service.requests[-1].body == {"name": "Build", "returnTo": sent}


def test_a_job_has_links_and_a_parent(client, job):
    links = [{"title": "Log", "url": "https://ci.example.com/7"}]

    part = client.job(f"{job.job_id}/part").create(links=links, parent_job_id=job.job_id)

    assert (part["links"], part["parentJobId"]) == (links, job.job_id)
    assert [one["jobId"] for one in client.jobs.list(parent_job_id=job.job_id)] == [part["jobId"]]
