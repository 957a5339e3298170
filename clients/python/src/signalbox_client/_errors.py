"""The errors of the client."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


class SignalboxError(Exception):
    """
    An error response of the service (an RFC 9457 problem), or an error of this library. `code` is stable: a code of
    the service, or `unreachable` (no response), `unexpected_answer` (a response of another server),
    `output_required`, `invalid_query` or `closed` (the client was closed first).
    """

    def __init__(
        self,
        status: int,
        code: str,
        detail: str,
        errors: Sequence[Mapping[str, Any]] = (),
        retry_after: float = 0.0,
    ) -> None:
        super().__init__(status, code, detail)
        #: The HTTP status, or 0 without a response.
        self.status = status
        self.code = code
        #: A description for people.
        self.detail = detail
        #: The validation errors, each with `detail` and `pointer` or `parameter`.
        self.errors = errors
        #: The delay in seconds that the service asks for in `Retry-After`.
        self.retry_after = retry_after

    def __str__(self) -> str:
        return f"{self.detail} ({self.code})"

    @property
    def is_transient(self) -> bool:
        """Whether the same request may succeed later."""
        return self.status in (0, 408, 425, 429) or self.status >= 500


class Cancelled(Exception):
    """
    Cancellation of the job was requested. Raised by a reporter's start, progress, message, update, flush, gate and
    raise_if_cancelled, so that the work ends. A `with` block then reports its step and the job as failed.
    """

    def __init__(self, reason: str | None) -> None:
        super().__init__(reason)
        #: Why the result is no longer wanted; None without a reason.
        self.reason = reason

    def __str__(self) -> str:
        return f"Cancelled: {self.reason}" if self.reason else "Cancelled"


def is_transient(error: BaseException | None) -> bool:
    return isinstance(error, SignalboxError) and error.is_transient


def closed_error() -> SignalboxError:
    return SignalboxError(0, "closed", "The client was closed.")
