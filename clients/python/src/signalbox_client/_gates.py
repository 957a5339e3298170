"""The calls for those who answer questions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from . import _requests
from ._records import GateAction, GateRecord, GateStatus

if TYPE_CHECKING:
    from ._client import Client


class Gates:
    """The calls for those who answer questions. The code that asks uses `job.gate`."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def list(
        self, *, status: GateStatus | Sequence[GateStatus] | None = None, page_size: int | None = None
    ) -> Iterator[GateRecord]:
        """Yields the gates of all jobs, newest first, page by page; those that wait for a person with `status="open"`."""
        return self._client._rows(_requests.list_gates(status, page_size), "gates")

    def get(self, job_id: str, key: str) -> GateRecord:
        """Returns a gate. Raises SignalboxError `gate_not_found`."""
        gate: GateRecord = self._client._call(_requests.gate_of(job_id, key))
        return gate

    def answer(
        self,
        job_id: str,
        key: str,
        action: GateAction,
        *,
        content: Mapping[str, Any] | None = None,
        answered_by: str | None = None,
        revision: int | None = None,
    ) -> GateRecord:
        """
        Answers an open gate; `content` has the values of its form, with the action `accept`. `revision` is that of the gate
        that was shown to the person. Raises SignalboxError `gate_answered`, `gate_closed`, `gate_changed` for another
        `revision`, and `invalid_body` for content that does not fit.
        """
        request = _requests.answer_gate(
            job_id, key, action, content=content, answered_by=answered_by, revision=revision
        )
        gate: GateRecord = self._client._call(request)
        return gate

    def withdraw(self, job_id: str, key: str) -> GateRecord:
        """Withdraws an open gate. Raises SignalboxError `gate_answered`, `gate_closed`."""
        gate: GateRecord = self._client._call(_requests.withdraw_gate(job_id, key))
        return gate
