import Type, { type Static } from "typebox";
import { ACTIONS, type GateDoc, STATUSES, viewGate } from "../../models/gates/gate.ts";
import {
  type GateJob,
  gateClosed,
  gateNotFound,
  MAX_OPEN_GATES,
  type Question,
  tooManyGates,
} from "../../models/gates/gates.ts";
import { findGate, findGateJob, findGateWithJob, listGates } from "../../models/gates/readGates.ts";
import { packObject } from "../../models/jobs/freeObject.ts";
import type { Stores } from "../../models/stores.ts";
import { AppError, invalidField } from "../../shared/errors.ts";
import { missingScope } from "../auth/authorize.ts";
import { type Caller, mayDo } from "../auth/caller.ts";
import * as examples from "../examples/gates.ts";
import { answerGate } from "../gates/answerGate.ts";
import { checkRequestedSchema } from "../gates/requestedSchema.ts";
import { visibleName } from "../gates/visibleName.ts";
import { route } from "../route.ts";
import * as s from "../schemas/blocks.ts";

const closed = { additionalProperties: false } as const;
/** Maximum size of a question or an answer in bytes. */
const BODY_LIMIT = 256 * 1024;

const GateKey = s.Identifier("Identifies the gate within its job. Chosen by the client. It can be used only once.");
const params = Type.Object({ jobId: s.JobId, key: GateKey });

const Title = Type.String({ minLength: 1, maxLength: 1_024, pattern: "\\S", description: "The question in one line." });
const Message = s.nullable(s.Text, { description: "The facts that a person needs to decide; plain text." });
const ExpiresAt = s.nullable(s.Timestamp("When the gate expires if nobody has answered; null for never."));
const Content = s.nullable(
  s.FreeObject("The entered values: an object that fits `requestedSchema`. Only with the action `accept`."),
);
const AnsweredBy = Type.String({
  minLength: 1,
  maxLength: 256,
  pattern: "\\S",
  description: "The person who answers: a name for people.",
});

const RequestedSchema = s.FreeObject(
  'The form, as a JSON Schema: a flat object whose properties are strings (with `format` `email`, `uri`, `date` or `date-time`, or with choices), numbers, integers, booleans, or lists of choices. It is the `requestedSchema` of the elicitation of MCP, such as `{"type": "object", "properties": {"version": {"type": "string"}}, "required": ["version"]}`. A keyword that is not allowed is named in `errors`.',
);

const gateAction = (description: string) => Type.Enum([...ACTIONS], { title: "GateAction", description });
const Gate = Type.Object(
  {
    gateId: Type.String({ description: "Identifies the gate. Assigned by the service." }),
    jobId: s.JobId,
    key: GateKey,
    revision: Type.Integer({
      description:
        "Grows with each change of the question, its form, `onExpiry` or `expiresAt`. Send it with the answer.",
    }),
    title: Title,
    message: Message,
    requestedSchema: s.nullable(s.FreeObject("The form as a JSON Schema; null if the answer is only an action.")),
    status: Type.Enum([...STATUSES], { description: "`open` until the gate is answered, expires or is withdrawn." }),
    action: s.nullable(gateAction("The decision of the person, or `onExpiry` of a gate that has expired.")),
    content: Content,
    answeredBy: s.nullable(Type.String(), {
      description: "The person who answered; `expiry` if nobody did in time; else null.",
    }),
    createdAt: s.Timestamp("When the gate was opened."),
    answeredAt: s.TimestampOrNull("When the gate was answered; null if it was not."),
    expiresAt: ExpiresAt,
    cancelRequested: Type.Optional(
      Type.Literal(true, {
        description:
          "Present in the response to `PUT`, and to `GET` of one gate, once cancellation of the job was requested: stop waiting for the answer.",
      }),
    ),
  },
  s.named("Gate"),
);

const GateBody = Type.Object(
  {
    title: Title,
    message: Type.Optional(Message),
    requestedSchema: Type.Optional(s.nullable(RequestedSchema)),
    expiresAt: Type.Optional(ExpiresAt),
    onExpiry: Type.Optional(
      gateAction("The action of the gate if it expires (default `decline`). `accept` needs the scope `gates:answer`."),
    ),
    ...s.readOnly(
      "gateId",
      "jobId",
      "key",
      "revision",
      "status",
      "action",
      "content",
      "answeredBy",
      "createdAt",
      "answeredAt",
    ),
    ...s.readOnly("cancelRequested"),
  },
  s.named("Question"),
);

const putGate = route({
  method: "put",
  path: "/api/jobs/:jobId/gates/:key",
  operationId: "putGate",
  scopes: ["jobs:report"],
  tag: "gates",
  summary: "Ask a person",
  description:
    "Opens a gate (201): a question to a person, who answers on the dashboard, by the link of a message, or through the API. While a gate is open, its job is not stale and lists the key in `waitingFor`. Signalbox records question and answer; the code that asked decides what to do with it. Wait for the answer with `GET` on the same path.\n\nThe call is idempotent: sent again, it changes the fields given of the open gate (200). A key can be used only once: a gate that is no longer open answers 409 with the gate. A job has at most 100 open gates. A job that has ended takes no questions (409 `job_ended`).",
  example: examples.putGate,
  schemas: { params, body: GateBody },
  bodyLimit: BODY_LIMIT,
  authContext: "api",
  answers: { 200: Gate, 201: Gate },
  errors: ["job_not_found", "job_ended", "gate_answered", "gate_closed", "too_many_gates"],
  async handler({ params: { jobId, key }, body, authContext }, { stores, clock }) {
    const question = toQuestion(body);
    const mayDecide = mayDo(authContext, "gates:answer");
    if (question.onExpiry === "accept" && !mayDecide) throw mayNotDecide(authContext);
    const job = await findGateJob(stores, jobId);
    const existing = await stores.gates.find(job, key);
    if (existing?.onExpiry === "accept" && !mayDecide && isEarlier(question, existing)) throw mayNotDecide(authContext);
    if (existing && existing.status !== "open") throw gateClosed(existing);
    if (job.status !== "running") throw jobEnded(jobId);
    if (question.expiresAt && question.expiresAt <= clock.now())
      throw invalidField("expiresAt", "must be in the future");
    if (!existing && (job.openGates?.length ?? 0) >= MAX_OPEN_GATES) throw tooManyGates();
    const { created, gate } = await stores.gates.put(job, key, question);
    return { status: created ? 201 : 200, body: viewFor(job, gate) };
  },
});

/** Returns whether a question lets an open gate expire earlier. */
const isEarlier = ({ expiresAt }: Question, gate: GateDoc): boolean =>
  expiresAt != null && (gate.expiresAt === null || expiresAt < gate.expiresAt);

/**
 * Returns the error of a caller who may not decide: a gate that accepts by expiry is an answer, which code must not give to its
 * own question.
 */
const mayNotDecide = (caller: Caller) => missingScope(caller, ["gates:answer"]);

/** Returns a gate as the code that asks reads it. */
const viewFor = ({ cancel }: GateJob, gate: GateDoc) => ({
  ...viewGate(gate),
  ...(cancel && { cancelRequested: true as const }),
});

const jobEnded = (jobId: string) =>
  new AppError("job_ended", {
    detail: `The job ${JSON.stringify(jobId)} has ended, so that nobody waits for an answer. Start it again first.`,
  });

/** Returns the question of a body. @throws AppError invalid_body */
function toQuestion({ title, message, requestedSchema, expiresAt, onExpiry }: Static<typeof GateBody>): Question {
  if (requestedSchema) checkRequestedSchema(requestedSchema);
  const time = typeof expiresAt === "string" ? new Date(expiresAt) : expiresAt;
  if (time && Number.isNaN(time.getTime()))
    throw invalidField("expiresAt", "must be an existing time: leap seconds are not supported");
  return {
    title,
    ...(message !== undefined && { message }),
    ...(requestedSchema !== undefined && { requestedSchema: packObject("requestedSchema", requestedSchema) }),
    ...(time !== undefined && { expiresAt: time }),
    ...(onExpiry !== undefined && { onExpiry }),
  };
}

const getGate = route({
  method: "get",
  path: "/api/jobs/:jobId/gates/:key",
  operationId: "getGate",
  scopes: ["jobs:read", "jobs:report"],
  tag: "gates",
  summary: "Get a gate, or wait for its answer",
  description:
    "Returns the gate with its question and, once a person has answered, with `action` and `content`.\n\nWith `Prefer: wait=30` the response is sent once the gate is no longer open or cancellation of the job is requested (`cancelRequested`), and after 30 seconds at the latest. Repeat the request while `status` is `open`. An open gate of a job that has ended reads `withdrawn`.",
  example: examples.getGate,
  schemas: { params },
  canWait: true,
  answers: { 200: Gate },
  errors: ["job_not_found", "gate_not_found"],
  async handler({ params: { jobId, key }, wait }, { stores, waiting }) {
    const { value, headers } = await waiting.until(wait, {
      record: { kind: "job", jobId },
      readName: `gate ${key}`,
      read: () => findGateWithJob(stores, jobId, key),
      isOver: ({ gate, job }) => gate.status !== "open" || job.cancel !== undefined,
      mayEnd: (change) => change.kind === "job" && change.moved,
      nextChangeAt: ({ gate }) => gate.expiresAt,
    });
    return { status: 200, headers, body: viewFor(value.job, value.gate) };
  },
});

const AnswerBody = Type.Object(
  {
    action: gateAction("`accept`, `decline`, or `cancel` for neither: the three actions of MCP's elicitation."),
    content: Type.Optional(Content),
    answeredBy: Type.Optional(AnsweredBy),
    revision: Type.Optional(
      Type.Integer({
        description:
          "The `revision` of the gate that was shown to the person. The answer is refused with 409 `gate_changed` if the gate has changed since.",
      }),
    ),
  },
  s.named("GateAnswer"),
);

const answer = route({
  method: "post",
  path: "/api/jobs/:jobId/gates/:key/answer",
  operationId: "answerGate",
  scopes: ["gates:answer"],
  tag: "gates",
  summary: "Answer a gate",
  description:
    "Records the answer to an open gate. With `accept`, `content` must fit the `requestedSchema` of the gate; each fault is named with its pointer. The first answer counts: a second one is refused with 409 `gate_answered`, which has the gate with the first.\n\nWithout `answeredBy`, the answer is recorded as by `dashboard` or `api`.",
  example: examples.answerGate,
  schemas: { params, body: AnswerBody },
  bodyLimit: BODY_LIMIT,
  authContext: "api",
  answers: { 200: Gate },
  errors: ["job_not_found", "gate_not_found", "gate_answered", "gate_changed", "gate_closed"],
  audit: ({ params: { jobId, key } }) => ({ action: "gate.answer", target: `${jobId}/${key}` }),
  async handler({ params: { jobId, key }, body, authContext }, { stores }) {
    const answeredBy = visibleName(body.answeredBy) || (authContext?.login ? "dashboard" : "api");
    const find = () => findGate(stores, jobId, key);
    return { status: 200, body: viewGate(await answerGate(stores.gates, find, { ...body, answeredBy })) };
  },
});

const removeGate = route({
  method: "delete",
  path: "/api/jobs/:jobId/gates/:key",
  operationId: "withdrawGate",
  scopes: ["jobs:report"],
  tag: "gates",
  summary: "Withdraw a gate",
  description:
    "Withdraws an open gate: nobody can answer it any more, and its key cannot be used again. A gate that was withdrawn before is returned as it is.",
  example: examples.withdrawGate,
  schemas: { params },
  answers: { 200: Gate },
  errors: ["job_not_found", "gate_not_found", "gate_answered", "gate_closed"],
  audit: ({ params: { jobId, key } }) => ({ action: "gate.withdraw", target: `${jobId}/${key}` }),
  async handler({ params: { jobId, key } }, { stores }) {
    const { gate, wasWithdrawn } = await withdraw(stores, jobId, key);
    return { status: 200, body: viewGate(gate), changedNothing: wasWithdrawn };
  },
});

/** Withdraws a gate, also that of a job that has ended: it would be open again if the job were started again. */
async function withdraw(stores: Stores, jobId: string, key: string): Promise<{ gate: GateDoc; wasWithdrawn: boolean }> {
  const job = await findGateJob(stores, jobId);
  for (;;) {
    const gate = await stores.gates.find(job, key);
    if (!gate) throw gateNotFound(jobId, key);
    if (gate.status === "withdrawn") return { gate, wasWithdrawn: true };
    if (gate.status !== "open") throw gateClosed(gate);
    const withdrawn = await stores.gates.withdraw(gate);
    if (withdrawn) return { gate: withdrawn, wasWithdrawn: false };
  }
}

const getGates = route({
  method: "get",
  path: "/api/gates",
  operationId: "listGates",
  scopes: ["jobs:read"],
  tag: "gates",
  summary: "List gates",
  description:
    "Returns the gates of all jobs, newest first. Use `status=open` to find the questions that wait for a person. A page can have fewer rows than `limit`; the list ends when `nextCursor` is null.",
  example: examples.listGates,
  schemas: {
    query: Type.Object(
      {
        status: Type.Optional(
          Type.Array(Type.Enum([...STATUSES]), {
            minItems: 1,
            description: "Gates with this status. Repeat the parameter for several.",
          }),
        ),
        ...s.idPaging,
      },
      closed,
    ),
  },
  authContext: "api",
  answers: { 200: Type.Object({ gates: s.Rows(Gate), nextCursor: s.nextCursor }, s.named("GateList")) },
  errors: [],
  async handler({ query: { limit = 100, ...rest }, authContext }, { stores }) {
    return { status: 200, body: await listGates(stores, { limit, ...rest, scope: authContext.jobs }) };
  },
});

export const gateRoutes = [putGate, getGate, answer, removeGate, getGates];
