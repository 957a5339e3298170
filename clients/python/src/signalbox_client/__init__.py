"""
Reports on jobs and steps to Signalbox, and watches them.

    from signalbox_client import Client

    with Client("http://127.0.0.1:3000") as client:
        job = client.job("report-8")
        job.create(name="Monthly report")
        with job.step("collect", name="Collect", start=0, end=100) as step:
            step.progress(50, "120 of 240 rows")
            step.output = {"rows": 240}
"""

from ._async_client import AsyncClient
from ._async_reporter import AsyncJob, AsyncStep
from ._client import Client
from ._errors import Cancelled, SignalboxError
from ._logging import StepLogHandler
from ._options import AgentRequest, Assignment, Event, GateAnswer, JobFields, JobFilter, Question
from ._queue import Pace
from ._records import CancelRecord, GateRecord, JobRecord, RunRecord, StepRecord, UsageRecord
from ._reporter import Job, Step

__version__ = "0.1.0"

__all__ = [
    "AgentRequest",
    "Assignment",
    "AsyncClient",
    "AsyncJob",
    "AsyncStep",
    "CancelRecord",
    "Cancelled",
    "Client",
    "Event",
    "GateAnswer",
    "GateRecord",
    "Job",
    "JobFields",
    "JobFilter",
    "JobRecord",
    "Pace",
    "Question",
    "RunRecord",
    "SignalboxError",
    "Step",
    "StepLogHandler",
    "StepRecord",
    "UsageRecord",
]
