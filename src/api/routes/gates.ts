import Type, { type Static } from "typebox";
import { gateTarget } from "../../models/audit.ts";
import { type GateDoc, viewGate } from "../../models/gates/gate.ts";
import { gateClosed, gateNotFound } from "../../models/gates/gateErrors.ts";
import type { GateJob } from "../../models/gates/gates.ts";
import type { Question } from "../../models/gates/question.ts";
import { findGate, findGateJob, findGateWithJob, listGates } from "../../models/gates/readGates.ts";
import { packObject } from "../../models/jobs/freeObject.ts";
import type { Stores } from "../../models/stores.ts";
import { invalidField } from "../../shared/errors.ts";
import { visibleName } from "../../shared/text/visibleName.ts";
import * as s from "../../wire/blocks.ts";
import { AnswerBody, GATE_STATUSES, Gate, GateBody, GateKey, GateReceipt } from "../../wire/gate.ts";
import { type Caller, jobsFor, mayDo } from "../auth/caller.ts";
import * as examples from "../examples/gates.ts";
import { answerGate } from "../gates/answerGate.ts";
import { checkRequestedSchema } from "../gates/requestedSchema.ts";
import { route } from "../routing/route.ts";
import * as q from "../schemas/requests.ts";

/** Maximum size of a question or an answer in bytes. */
const BODY_LIMIT = 256 * 1024;

const params = Type.Object({ jobId: s.JobId, key: GateKey });

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
  async handler({ params: { jobId, key }, body, authContext }, { stores }) {
    const question = toQuestion(body);
    const asker = { actor: authContext.actor, mayAnswer: mayDo(authContext, "gates:answer") };
    const job = await findGateJob(stores, jobId);
    const { created, gate } = await stores.gates.put(job, key, question, asker);
    return { status: created ? 201 : 200, body: viewFor(job, gate) };
  },
});

/** Returns a gate as the code that asks reads it. */
const viewFor = ({ cancel }: GateJob, gate: GateDoc) => ({
  ...viewGate(gate),
  ...(cancel && { cancelRequested: true as const }),
});

/** Returns the question of a body. @throws AppError invalid_body */
function toQuestion({ title, message, requestedSchema, expiresAt, onExpiry }: Static<typeof GateBody>): Question {
  if (requestedSchema) checkRequestedSchema(requestedSchema);
  const time = typeof expiresAt === "string" ? new Date(expiresAt) : expiresAt;
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

const answer = route({
  method: "post",
  path: "/api/jobs/:jobId/gates/:key/answer",
  operationId: "answerGate",
  scopes: ["gates:answer"],
  tag: "gates",
  summary: "Answer a gate",
  description:
    "Records the answer to an open gate. With `accept`, `content` must fit the `requestedSchema` of the gate; each fault is named with its pointer. The first answer counts: a second one is refused with 409 `gate_answered`, which has the gate with the first.\n\nWithout `answeredBy`, the answer is recorded as by `dashboard` or `api`. A person who has logged in with the company's account is recorded as `oidc:ann@example.com`, and one whom a proxy names as `header:ann`, whatever the body says. The answer of a person in a chat is recorded as `telegram:123456 (Ann)`. Nobody else can use names that begin with `oidc:`, `header:`, `telegram:`, `slack:`, `discord:` or `ntfy:`, or the name `expiry`.",
  example: examples.answerGate,
  schemas: { params, body: AnswerBody },
  bodyLimit: BODY_LIMIT,
  authContext: "api",
  answers: { 200: Gate },
  receipt: GateReceipt,
  errors: ["job_not_found", "gate_not_found", "gate_answered", "gate_changed", "gate_closed"],
  audit: ({ params: { jobId, key } }) => ({ action: "gate.answer", target: gateTarget(jobId, key) }),
  async handler({ params: { jobId, key }, body, authContext }, { stores }) {
    const answeredBy = answererOf(body.answeredBy, authContext);
    const find = () => findGate(stores, jobId, key);
    return { status: 200, body: viewGate(await answerGate(stores.gates, find, { ...body, answeredBy })) };
  },
});

/** The beginnings of the names of people whom a provider, a proxy or a chat service has named. */
const RESERVED_NAME = /^(oidc|header|telegram|slack|discord|ntfy):/i;

/** The name with which the end of a gate's time is recorded. */
const EXPIRY = /^expiry$/i;

/** Returns whose answer is recorded. Nobody chooses a reserved name. @throws AppError invalid_body */
function answererOf(given: string | undefined, { actor, person, cookie }: Caller): string {
  if (person) return actor;
  const name = visibleName(given);
  const reserved = RESERVED_NAME.exec(name)?.[0];
  if (reserved !== undefined)
    throw invalidField(
      "answeredBy",
      `must not begin with ${reserved}, which names people whom another service has identified`,
    );
  if (EXPIRY.test(name)) throw invalidField("answeredBy", "must not be expiry, which stands for the end of the time");
  return name || (cookie !== undefined ? "dashboard" : "api");
}

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
  audit: ({ params: { jobId, key } }) => ({ action: "gate.withdraw", target: gateTarget(jobId, key) }),
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
        status: q.anyOf(Type.Enum([...GATE_STATUSES]), "Gates with this status."),
        jobId: Type.Optional(s.Identifier("The gates of this job.")),
        ...q.idPaging,
      },
      q.closed,
    ),
  },
  authContext: "api",
  answers: { 200: Type.Object({ gates: s.Rows(Gate), nextCursor: s.nextCursor }, s.named("GateList")) },
  errors: [],
  async handler({ query: { limit = 100, ...rest }, authContext }, { stores }) {
    return { status: 200, body: await listGates(stores, { limit, ...rest, scope: jobsFor(authContext, "jobs:read") }) };
  },
});

export const gateRoutes = [putGate, getGate, answer, removeGate, getGates];
