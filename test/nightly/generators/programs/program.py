import json
import os

from generated import AuthenticatedClient
from generated.api.hooks import run_agent
from generated.api.jobs import get_job, list_jobs, put_job
from generated.api.steps import report_step
from generated.models import (
    AgentHook,
    GetJobInclude,
    JobChange,
    JobList,
    JobWithSteps,
    JsonObject,
    ListJobsFieldsItem,
    MetadataFilter,
    Problem,
    Status,
    StepReport,
)

job_id = os.environ["JOB"]
client = AuthenticatedClient(base_url=os.environ["URL"], token=os.environ["API_TOKEN"])
hooks = AuthenticatedClient(base_url=os.environ["URL"], token=os.environ["HOOK_TOKEN"])


def has(**values: str) -> MetadataFilter:
    # The generator does not know deep objects: it sends the keys as they are.
    return MetadataFilter.from_dict({f"metadata[{key}]": value for key, value in values.items()})


metadata = JsonObject.from_dict({"team": "sales", "build": {"branch": "main"}})
created = put_job.sync(job_id, client=client, body=JobChange(name="Report", metadata=metadata))
reported = report_step.sync(job_id, "load", client=client, body=StepReport(step_name="Load", progress=50))
found = list_jobs.sync(
    client=client,
    metadata=has(**{"team": "sales", "build.branch": "main"}),
    status=[Status.RUNNING, Status.FAILED],
    fields=[ListJobsFieldsItem.JOBID, ListJobsFieldsItem.STATUS],
)
others = list_jobs.sync(client=client, metadata=has(team="research"))
plain = get_job.sync(job_id, client=client)
with_steps = get_job.sync(job_id, client=client, include=GetJobInclude.STEPS)
missing = get_job.sync("nobody", client=client)
run = run_agent.sync(client=hooks, body=AgentHook(message="Look into it."))

assert isinstance(found, JobList) and isinstance(others, JobList), (found, others)
assert isinstance(plain, JobWithSteps) and isinstance(with_steps, JobWithSteps)
assert isinstance(missing, Problem)
print(
    json.dumps(
        {
            "created": str(created.status),
            "reported": reported.progress,
            "found": [job.job_id for job in found.jobs],
            "fields": sorted(found.jobs[0].to_dict()),
            "others": len(others.jobs),
            "plain": len(plain.steps) if plain.steps else None,
            "steps": [step.step_key for step in with_steps.steps],
            "missing": [missing.status, str(missing.code)],
            "run": "string" if isinstance(run.run_id, str) else None,
        }
    )
)
