import Type from "typebox";
import { createdPrefix } from "../../models/jobs/jobScope.ts";
import { invalidValue } from "../../shared/errors.ts";
import { MAX_IDENTIFIER_LENGTH } from "../../shared/text/text.ts";
import { jobsFor } from "../auth/caller.ts";
import * as examples from "../examples/jobs.ts";
import { route } from "../routing/route.ts";
import { keptTraceparent, traceHeader } from "../traceparent.ts";
import { applyRunEvents } from "./applyRunEvents.ts";
import { RunEvent } from "./runEvent.ts";

/** Maximum events of one request. */
const MAX_EVENTS = 1_000;

export const postLineage = route({
  method: "post",
  path: "/api/v1/lineage",
  operationId: "postLineage",
  scopes: ["jobs:create"],
  authContext: "api",
  tag: "jobs",
  summary: "Report run events of OpenLineage",
  description:
    "For Airflow, Spark, dbt, Flink and other senders of OpenLineage, which post run events to this path. Takes one event, or a list of at most 1,000.\n\nA run without a `parent` facet is a job; its jobId is the `runId` behind the prefix of the token. A run with one is a step of the run at the top. The latest `eventTime` decides the status, whatever the order in which events arrive. Inputs, outputs and unknown facets are not stored. The call is idempotent.",
  example: examples.postLineage,
  schemas: {
    headers: Type.Object(traceHeader),
    body: Type.Union([RunEvent, Type.Array(RunEvent, { maxItems: MAX_EVENTS, title: "LineageEvents" })], {
      title: "LineageBody",
    }),
  },
  answers: { 201: Type.String({ maxLength: 0, description: "Empty." }) },
  errors: ["too_many_steps"],
  async handler({ headers, body, authContext }, deps) {
    const events = [body].flat();
    const prefix = createdPrefix(jobsFor(authContext, "jobs:create"));
    for (const [i, event] of events.entries()) check(event, Array.isArray(body) ? `${i}/` : "", prefix);
    await applyRunEvents({ ...deps, trace: keptTraceparent(deps.stores, headers) }, prefix, events);
    return { status: 201, body: "" };
  },
});

/** Checks what the schema cannot. @param at the pointer of the event with a slash behind it */
function check({ run }: RunEvent, at: string, prefix: string): void {
  const { parent } = run.facets ?? {};
  const ids = [run.runId, parent?.run.runId, parent?.root?.run.runId].map((id) => prefix + (id ?? ""));
  if (ids.some((id) => id.length > MAX_IDENTIFIER_LENGTH)) {
    throw invalidValue(
      `${at}run`,
      `has a runId that exceeds ${MAX_IDENTIFIER_LENGTH} characters with the prefix of the token`,
    );
  }
}
