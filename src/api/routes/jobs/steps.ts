import Type from "typebox";
import { listSteps, readStep } from "../../../models/jobs/read/readSteps.ts";
import * as s from "../../../wire/blocks.ts";
import { SingleStep, STEP_FIELDS, StepRow } from "../../../wire/step.ts";
import * as examples from "../../examples/jobs.ts";
import { route } from "../../routing/route.ts";
import * as q from "../../schemas/requests.ts";
import { putStep } from "./reportStep.ts";

const fields = Type.Optional(
  Type.Array(Type.Enum(STEP_FIELDS), {
    minItems: 1,
    explode: false,
    description: "Fields to return for each step, separated by commas. `stepKey` is always returned.",
  }),
);

const status = q.anyOf(s.Status, "Steps with this status.");

const getSteps = route({
  method: "get",
  path: "/api/jobs/:jobId/steps",
  operationId: "listSteps",
  scopes: ["jobs:read"],
  tag: "steps",
  summary: "List the steps of a job",
  description:
    "Returns the steps of a job, oldest first, with their outputs. Use `fields` to leave out what you do not need. A page can have fewer rows than `limit` when its rows are large; the list ends when `nextCursor` is null.",
  example: examples.listSteps,
  schemas: { params: Type.Object({ jobId: s.JobId }), query: Type.Object({ status, fields, ...q.paging }, q.closed) },
  answers: { 200: Type.Object({ steps: s.Rows(StepRow), nextCursor: s.nextCursor }, s.named("StepList")) },
  errors: ["job_not_found"],
  async handler({ params, query }, { stores }) {
    const { limit = 100, ...rest } = query;
    return { status: 200, body: await listSteps(stores, params.jobId, { limit, ...rest }) };
  },
});

const getStep = route({
  method: "get",
  path: "/api/jobs/:jobId/steps/:stepKey",
  operationId: "getStep",
  scopes: ["jobs:read"],
  tag: "steps",
  summary: "Get a step",
  description:
    "Returns one step with its output. After the step has completed, `durationMs` is the duration of its latest attempt.",
  example: examples.getStep,
  schemas: { params: Type.Object({ jobId: s.JobId, stepKey: s.StepKey }) },
  answers: { 200: SingleStep },
  errors: ["job_not_found", "step_not_found"],
  async handler({ params }, { stores }) {
    return { status: 200, body: await readStep(stores, params.jobId, params.stepKey) };
  },
});

export const stepRoutes = [putStep, getSteps, getStep];
