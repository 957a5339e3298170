import { access, hasScope } from "../../data/access.ts";
import { service } from "../../data/service.ts";
import { useMutation } from "../../data/useMutation.ts";
import { address, navigate } from "../../router.ts";
import { showError } from "../frame/toasts.tsx";

/**
 * A button that starts a run with a test message and opens it, if hooks are on and the login may call the agent hook.
 * @param isPrimary whether it is what the page suggests first
 */
export function TestHook({ isPrimary = false }: { isPrimary?: boolean }) {
  const currentAccess = access.value;
  const { isPending, mutate } = useMutation("");
  const canRead = hasScope(currentAccess, "runs:read");
  if (!currentAccess?.hooksUrl || !canRead || !hasScope(currentAccess, "hooks:agent")) return null;
  const send = async () => navigate(address("/runs/:runId", (await service.testHook()).runId));
  return (
    <p>
      <button
        type="button"
        class={isPrimary ? "primary" : undefined}
        disabled={isPending}
        onClick={() => mutate(send, "Test hook sent")}
      >
        Send a test hook
      </button>{" "}
      starts a run of the agent and opens it.
    </p>
  );
}

/** Time between two reports of the sample. */
const EVERY_MS = 1_500;

/** The steps of the sample: the share of its job at which each one ends, and its messages. */
const STEPS = [
  ["Fetch the feed", 30, ["Connecting", "48,212 items fetched"]],
  ["Convert the items", 80, ["9,000 of 48,212 items", "31,500 of 48,212 items", "48,212 items converted"]],
  ["Publish", 100, ["Publishing", "1,204 items changed"]],
] as const;

/** A button that creates a job, opens its page, and reports its steps for ten seconds, if the access may create jobs. */
export function SampleJob() {
  const { isPending, mutate } = useMutation("");
  const currentAccess = access.value;
  if (!["jobs:create", "jobs:write"].some((scope) => hasScope(currentAccess, scope))) return null;
  const create = async () => {
    const jobId = `${currentAccess?.jobIdPrefixes?.[0] ?? ""}sample-${Date.now().toString(36)}`;
    await service.jobs.put(jobId, { name: "Sample job", metadata: { sample: true } });
    report(jobId).catch(showError);
    navigate(address("/jobs/:jobId", jobId));
  };
  return (
    <p>
      <button type="button" class="primary" disabled={isPending} onClick={() => mutate(create, "Sample job created")}>
        Create a sample job
      </button>{" "}
      shows the page of a job while this browser reports its steps for ten seconds.
    </p>
  );
}

async function report(jobId: string): Promise<void> {
  let jobProgressStart = 0;
  for (const [stepName, jobProgressEnd, messages] of STEPS) {
    const path = `/api/jobs/${encodeURIComponent(jobId)}/steps/${encodeURIComponent(stepName)}`;
    const range = { stepName, jobProgressStart, jobProgressEnd };
    for (const [at, message] of messages.entries()) {
      const isLast = at === messages.length - 1;
      const body = isLast
        ? { message, status: "completed", progress: 100, output: { message } }
        : { message, progress: (100 * (at + 1)) / messages.length };
      await service.call("PUT", path, { body: { ...range, ...body } });
      await new Promise((end) => setTimeout(end, EVERY_MS));
    }
    jobProgressStart = jobProgressEnd;
  }
}
