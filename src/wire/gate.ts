import Type, { type Static } from "typebox";
import * as s from "./blocks.ts";

/** The ways in which a person can react to a question. The three actions are those of MCP elicitation. */
export const ACTIONS = ["accept", "decline", "cancel"] as const;
export type Action = (typeof ACTIONS)[number];

export const GATE_STATUSES = ["open", "answered", "expired", "withdrawn"] as const;

export const GateKey = s.Identifier(
  "Identifies the gate within its job. Chosen by the client. It can be used only once.",
);

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
/** A question to a person, attached to a job. */
export const Gate = Type.Object(
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
    status: Type.Enum([...GATE_STATUSES], {
      description: "`open` until the gate is answered, expires or is withdrawn.",
    }),
    action: s.nullable(gateAction("The decision of the person, or `onExpiry` of a gate that has expired.")),
    content: Content,
    answeredBy: s.nullable(Type.String(), {
      description: "The person who answered; `expiry` if nobody did in time; else null.",
    }),
    createdAt: s.Timestamp("When the gate was opened."),
    answeredAt: s.TimestampOrNull("When the gate was answered; null if it was not."),
    expiresAt: ExpiresAt,
    onExpiry: gateAction("The action of the gate if it expires."),
    cancelRequested: Type.Optional(
      Type.Literal(true, {
        description:
          "Present in the response to `PUT`, and to `GET` of one gate, once cancellation of the job was requested: stop waiting for the answer.",
      }),
    ),
    jobName: Type.Optional(s.nullable(Type.String(), { description: "Name of the job. Only in lists." })),
  },
  s.named("Gate"),
);

export type Gate = Static<typeof Gate>;

/** An answered gate for a caller that may not read gates. */
export const GateReceipt = {
  unless: ["jobs:read", "jobs:report"],
  schema: Type.Pick(
    Gate,
    ["gateId", "jobId", "key", "revision", "status", "action", "createdAt", "answeredAt", "expiresAt"],
    s.named("GateReceipt"),
  ),
} as const;

export const GateBody = Type.Object(
  {
    title: Title,
    message: Type.Optional(Message),
    requestedSchema: Type.Optional(s.nullable(RequestedSchema)),
    expiresAt: Type.Optional(ExpiresAt),
    onExpiry: Type.Optional(
      gateAction(
        "The action of the gate if it expires (default `decline`). `accept` needs the scope `gates:answer`, and a form that its defaults fill: they become the `content`.",
      ),
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

export const AnswerBody = Type.Object(
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
