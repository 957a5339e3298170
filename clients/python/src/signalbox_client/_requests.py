"""Builds the requests that the clients with and without asyncio have in common."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ._http import Request, path_segment

JOBS = "/api/jobs"


def wire(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Converts the names of fields from snake_case to the service's camelCase; values stay as they are."""
    return {re.sub(r"_(\w)", lambda match: match[1].upper(), name): value for name, value in fields.items()}


def filter_query(filter: Mapping[str, Any]) -> dict[str, Any]:
    """Converts a filter to query parameters."""
    query = wire(filter)
    metadata = query.pop("metadata", None) or {}
    return {**query, **{f"metadata.{key}": value for key, value in metadata.items()}}


def get_job(job_id: str, include_steps: bool) -> Request:
    return Request("GET", JOBS + path_segment(job_id), {"include": "steps" if include_steps else None})


def get_step(job_id: str, step_key: str) -> Request:
    return Request("GET", f"{JOBS}{path_segment(job_id)}/steps{path_segment(step_key)}")


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
    return Request("DELETE", JOBS, query)


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
