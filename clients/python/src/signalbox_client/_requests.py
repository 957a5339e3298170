"""Builds the requests that the clients with and without asyncio have in common."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta, timezone
from typing import Any

from ._http import Request, path_segment
from ._options import GateAnswer, Question

JOBS = "/api/jobs"
RUNS = "/api/runs"

#: Below 30 s, after which some hosts cut a request that has no response yet.
_WAIT_SECONDS = 25
#: Minimum interval of waiting requests: a service may answer at once, because too many requests wait already.
MIN_WAIT_INTERVAL = 1.0


def wire(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Converts the names of fields from snake_case to the service's camelCase; values stay as they are."""
    return {re.sub(r"_(\w)", lambda match: match[1].upper(), name): value for name, value in fields.items()}


def job_fields(fields: Mapping[str, Any]) -> dict[str, Any]:
    """
    Converts the fields of a job. In an agent run `self` becomes the key of its session (SIGNALBOX_SESSION), so that any token
    that may name a session can be used.
    """
    body = wire(fields)
    target = body.get("returnTo")
    own = os.environ.get("SIGNALBOX_SESSION")
    if own and target == "self":
        body["returnTo"] = own
    elif own and isinstance(target, Mapping) and target.get("sessionKey") == "self":
        body["returnTo"] = {**target, "sessionKey": own}
    return body


def filter_query(filter: Mapping[str, Any]) -> dict[str, Any]:
    """Converts a filter to query parameters."""
    query = wire(filter)
    metadata = query.pop("metadata", None) or {}
    return {**query, **{f"metadata.{key}": value for key, value in metadata.items()}}


def get_job(job_id: str, include_steps: bool) -> Request:
    return Request("GET", JOBS + path_segment(job_id), {"include": "steps" if include_steps else None})


def get_run(run_id: str) -> Request:
    return Request("GET", RUNS + path_segment(run_id))


def waiting(request: Request, left: float) -> Request:
    """Builds the same request with a wait at the service, of at most `left` seconds."""
    seconds = max(1, math.ceil(min(_WAIT_SECONDS, left)))
    return Request(request.method, request.path, headers={"Prefer": f"wait={seconds}"}, wait=seconds)


def has_ended(record: Mapping[str, Any]) -> bool:
    """Returns whether a job or a run has ended, or nobody needs to wait for a gate any more."""
    return record["status"] not in ("queued", "running", "open") or record.get("cancelRequested") is True


def get_gate(job_path: str, key: str) -> Request:
    return Request("GET", f"{job_path}/gates{path_segment(key)}")


def put_gate(gate: Request, title: str, question: Question, is_new: bool) -> Request:
    """Builds the request that opens a gate, or changes the question of an open one, whose time stays as it is."""
    body = {"title": title, **wire(question)}
    if "schema" in body:
        body["requestedSchema"] = body.pop("schema")
    seconds = body.pop("expiresIn", None)
    if is_new and seconds is not None:
        expires_at = datetime.now(timezone.utc) + timedelta(seconds=seconds)
        body["expiresAt"] = expires_at.isoformat(timespec="milliseconds")
    return Request("PUT", gate.path, body=body)


def answer_of(gate: Mapping[str, Any]) -> GateAnswer:
    return GateAnswer(gate["action"] or "cancel", gate["content"])


def gate_of(job_id: str, key: str) -> Request:
    return get_gate(JOBS + path_segment(job_id), key)


def answer_gate(
    job_id: str,
    key: str,
    action: str,
    *,
    content: Mapping[str, Any] | None,
    answered_by: str | None,
    revision: int | None,
) -> Request:
    body = {"action": action, "content": content, "answeredBy": answered_by, "revision": revision}
    given = {name: value for name, value in body.items() if value is not None}
    return Request("POST", f"{gate_of(job_id, key).path}/answer", body=given)


def withdraw_gate(job_id: str, key: str) -> Request:
    return Request("DELETE", gate_of(job_id, key).path)


def list_gates(status: str | Sequence[str] | None, page_size: int | None) -> Request:
    """Builds the request for the first page."""
    return Request("GET", "/api/gates", {"status": status, "limit": page_size})


def get_step(job_id: str, step_key: str) -> Request:
    return Request("GET", f"{JOBS}{path_segment(job_id)}/steps{path_segment(step_key)}")


def cancel_job(job_id: str, reason: str | None, force: bool) -> Request:
    return Request("POST", f"{JOBS}{path_segment(job_id)}/cancel", body={"reason": reason, "force": force})


def delete_job(job_id: str) -> Request:
    return Request("DELETE", JOBS + path_segment(job_id))


def delete_jobs(all: bool, filter: Mapping[str, Any]) -> Request:
    """Raises ValueError for a filter with an empty value, which would match more jobs than the caller expects."""
    query = filter_query(filter)
    empty = sorted(name for name, value in {**filter, **query}.items() if value is None or value in ("", [], (), {}))
    if empty:
        raise ValueError(f"`{empty[0]}` has no value: give it one, or leave it out to delete more jobs.")
    if bool(query) == all:
        raise ValueError("delete_all needs either a filter, or all=True to delete every job.")
    return Request("DELETE", JOBS, {"all": True} if all else query)


def list_jobs(filter: Mapping[str, Any], fields: Sequence[str] | None, page_size: int | None) -> Request:
    """Builds the request for the first page."""
    return Request("GET", JOBS, {**filter_query(filter), **_page_query(fields, page_size)})


def list_steps(job_id: str, fields: Sequence[str] | None, page_size: int | None) -> Request:
    """Builds the request for the first page."""
    return Request("GET", f"{JOBS}{path_segment(job_id)}/steps", _page_query(fields, page_size))


def _page_query(fields: Sequence[str] | None, page_size: int | None) -> dict[str, Any]:
    return {"fields": None if fields is None else ",".join(fields), "limit": page_size}


def next_page(request: Request, page: Mapping[str, Any]) -> Request | None:
    """Builds the request for the page that follows, or returns None after the last one."""
    cursor = page["nextCursor"]
    return Request("GET", request.path, {**request.query, "cursor": cursor}) if cursor else None


def hook(
    hooks_path: str, name: str, body: Mapping[str, Any], authorization: str | None, idempotency_key: str | None
) -> Request:
    headers: dict[str, str | None] = {"Idempotency-Key": idempotency_key}
    if authorization:
        headers["Authorization"] = authorization
    path = hooks_path + "".join(path_segment(part) for part in name.split("/"))
    return Request("POST", path, body=body, headers=headers)
