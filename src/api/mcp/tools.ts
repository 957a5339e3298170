import type { Scope } from "../../shared/access/scopes.ts";
import { JOB_FIELDS } from "../../wire/job.ts";
import type { AnyRoute } from "../routing/route.ts";

/** A tool: what a model reads about it, and the route that it calls. */
export interface ToolDefinition {
  readonly name: string;
  readonly title: string;
  /** Describes the tool and when to use it, for a model. */
  readonly description: string;
  readonly operationId: string;
  /** The scopes of which a caller needs one; those of the route by default. */
  readonly scopes?: readonly Scope[];
  /** Set when the tool waits until this is over, for at most `WAIT_SECONDS`. */
  readonly waitsFor?: "job" | "gate";
  /**
   * Set when the result says whether the job wakes the session of the run that calls the tool; `sets`: it does so unless the call
   * says otherwise.
   */
  readonly returns?: "sets" | "shows";
  /** Arguments of a call that does not give them. */
  readonly defaults?: Readonly<Record<string, unknown>>;
  /** Says, to a model, how to get the rest of a result that was shortened. */
  readonly rest?: string;
  readonly annotations: {
    readonly readOnlyHint: boolean;
    readonly destructiveHint?: boolean;
    readonly idempotentHint?: boolean;
    readonly openWorldHint: boolean;
  };
}

/** Limits how long a tool waits, in seconds. Clients give up on a tool that takes a minute. */
export const WAIT_SECONDS = 50;

/** The fields of a row of `job_list`: not what a program needs and a model would have to read. */
const ROW_FIELDS = JOB_FIELDS.filter((field) => !["input", "metadata", "output"].includes(field));

const JOB_REST = "Read one step with stepKey. A program reads everything with GET /api/jobs/{jobId}?include=steps.";

const READS = { readOnlyHint: true, openWorldHint: false } as const;
const WRITES = { readOnlyHint: false, destructiveHint: false, openWorldHint: false } as const;

/** All tools, in the order in which they are listed. */
const TOOLS: readonly ToolDefinition[] = [
  {
    name: "job_create",
    title: "Create or update a job",
    description:
      "Creates a job for a piece of work that people want to follow, or changes its name, description or metadata. Call it once at the beginning, with a jobId of your choice, then report each step with step_report. In an agent run of this service the jobId begins with the id of the job of your run and a slash, and your session is woken when the job ends, unless returnTo is null.",
    operationId: "putJob",
    returns: "sets",
    annotations: { ...WRITES, idempotentHint: true },
  },
  {
    name: "step_report",
    title: "Report a step",
    description:
      "Reports that a step of a job starts, how far it is, or that it has completed or failed. Use it whenever you begin or finish a part of your work, so that people can see your progress. The first report of a step needs stepName. To move the bar of the job, send progress, jobProgressStart and jobProgressEnd; the report that brings the job to 100 must include output. If the result has cancelRequested, somebody wants you to stop: finish what must not be left half done, then report status failed with failJob true.",
    operationId: "reportStep",
    returns: "shows",
    annotations: { ...WRITES, idempotentHint: true },
  },
  {
    name: "job_get",
    title: "Get a job",
    description:
      "Returns the status, progress, message and output of a job. With include: steps it also returns all steps, and with stepKey one. Use job_wait instead of calling this repeatedly.",
    operationId: "getJob",
    rest: JOB_REST,
    annotations: READS,
  },
  {
    name: "job_list",
    title: "List jobs",
    description:
      "Returns jobs, newest first, 20 at a time. Use the filters to find a job by its name, its status or its metadata, or those that have fallen silent (stale: true). The rows have input, metadata and output only if fields names them. For the next page, send nextCursor as cursor.",
    operationId: "listJobs",
    defaults: { limit: 20, fields: ROW_FIELDS },
    rest: "Send nextCursor as cursor for the next rows, name fewer fields, or read one job with job_get.",
    annotations: READS,
  },
  {
    name: "job_wait",
    title: "Wait for the end of a job",
    description: `Waits until a job has completed or failed, for at most ${WAIT_SECONDS} seconds, and returns it. If its status is still running, call it again.`,
    operationId: "getJob",
    waitsFor: "job",
    rest: JOB_REST,
    annotations: READS,
  },
  {
    name: "job_cancel",
    title: "Cancel a job",
    description:
      "Asks the program or agent that works on a job to stop. It learns of it with its next report. With force: true the job fails at once; use that only if nobody works on it any more.",
    operationId: "cancelJob",
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  },
  {
    name: "gate_open",
    title: "Ask a person",
    description:
      "Asks a person a question about a job, such as whether to publish a result, and shows it to people until one answers. Use it before a step that needs an approval or a decision. With requestedSchema the person fills in a form. Then call gate_wait with the same key. A key can be used once.",
    operationId: "putGate",
    annotations: { ...WRITES, idempotentHint: true },
  },
  {
    name: "gate_wait",
    title: "Wait for the answer of a person",
    description: `Waits until a person has answered a gate, for at most ${WAIT_SECONDS} seconds, and returns it with action and content. If its status is still open, call it again, unless it has cancelRequested: then somebody wants you to stop. Go on only with the action accept.`,
    operationId: "getGate",
    scopes: ["jobs:report"],
    waitsFor: "gate",
    annotations: READS,
  },
  {
    name: "agent_run",
    title: "Start an agent run",
    description:
      "Gives a message to the agent of this service, which works on it in the background, and returns a runId. Read the reply with run_get.",
    operationId: "runAgent",
    annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: true },
  },
  {
    name: "wake",
    title: "Wake the main session",
    description:
      "Adds an event to the main session of the agent, such as a fact that it should know. With mode now it reads the event at once.",
    operationId: "wake",
    annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: true },
  },
  {
    name: "run_get",
    title: "Get a run",
    description:
      "Returns the status, the reply and the error of an agent run. Use it after agent_run, until the status is completed or failed.",
    operationId: "getRun",
    rest: "A program reads everything with GET /api/runs/{runId}.",
    annotations: READS,
  },
];

/** The tools whose routes this service has, with their routes. */
export function toolsOf(routes: readonly AnyRoute[]): (ToolDefinition & { readonly route: AnyRoute })[] {
  return TOOLS.flatMap((tool) => {
    const route = routes.find(({ operationId }) => operationId === tool.operationId);
    return route ? [{ ...tool, route }] : [];
  });
}

/** The scopes of which a caller needs one to use a tool. */
export const scopesOf = (tool: ToolDefinition & { readonly route: AnyRoute }): readonly Scope[] =>
  tool.scopes ?? tool.route.scopes;
