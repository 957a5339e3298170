import Type, { type TSchema } from "typebox";
import { Access } from "../../src/wire/access.ts";
import { AuditAction, AuditEntry } from "../../src/wire/audit.ts";
import * as s from "../../src/wire/blocks.ts";
import { Channel, Mailbox, MailboxFault } from "../../src/wire/channel.ts";
import { Delivery, DeliveryKind, DeliveryPart, DeliveryState } from "../../src/wire/delivery.ts";
import { AnswerBody, Gate } from "../../src/wire/gate.ts";
import { CancelRequest, JobChange, JobFields, JobHead, JobRead } from "../../src/wire/job.ts";
import { Link } from "../../src/wire/link.ts";
import { Expectation, NotifyRule } from "../../src/wire/notify.ts";
import { JobReturn, ReturnEvent, ReturnOf, ReturnTarget, ReturnTo } from "../../src/wire/runs/return.ts";
import {
  FailedRunAttempt,
  MissingValue,
  Run,
  RunError,
  RunHead,
  RunRequest,
  RunStatus,
  WaitsFor,
} from "../../src/wire/runs/run.ts";
import { Usage } from "../../src/wire/runs/usage.ts";
import { Message, Session, WaitingEvent } from "../../src/wire/session.ts";
import { Stats } from "../../src/wire/stats.ts";
import { FailedStepAttempt, SingleStep, StepSummary } from "../../src/wire/step.ts";
import { pythonModule } from "./python.ts";
import type { Published, Shape } from "./shapes.ts";
import { typescriptFile } from "./typescript.ts";

interface ClientType {
  readonly schema: TSchema;
  readonly about: string;
  /** The name in Python; without it the Python client does not publish the type. */
  readonly python?: string;
  readonly partial?: boolean;
  readonly argument?: boolean;
}

/** Titles whose schema the clients publish as another one, which has more fields. */
const PARTS = { Step: "SingleStep" } as const;

type ClientTypes = Readonly<Record<string, Readonly<Record<string, ClientType>>>>;

/** A job as whichever call returns it. */
const AnyJob = Type.Object({ ...JobRead.properties, cancelRequested: s.cancelRequested }, s.named("JobWithSteps"));

/** The types of the JavaScript client, by file, and those of them that the Python client has too. */
export const TYPES = {
  "jobs.ts": {
    FreeObject: { schema: s.FreeObject(""), about: "Any JSON object." },
    Status: { schema: s.Status, about: "The status of a job or a step.", python: "Status" },
    Link: { schema: Link, about: "A link of a job or a step.", python: "LinkRecord" },
    StatusCounts: {
      schema: s.StatusCounts(""),
      about: "Numbers of steps or jobs by status.",
      python: "StatusCountsRecord",
    },
    StepSummary: {
      schema: StepSummary,
      about: "A step without its output, as in live events and in `currentStep`.",
      python: "StepSummaryRecord",
    },
    FailedStepAttempt: {
      schema: FailedStepAttempt,
      about: "An attempt of a step that failed.",
      python: "FailedStepAttemptRecord",
    },
    Step: { schema: SingleStep, about: "A step, as the service returns it.", python: "StepRecord", partial: true },
    CancelRequest: { schema: CancelRequest, about: "A request to cancel a job.", python: "CancelRecord" },
    ReturnEvent: { schema: ReturnEvent, about: "A transition of a job that wakes a session.", python: "ReturnEvent" },
    ReturnTo: { schema: ReturnTo, about: "The session that a job wakes.", python: "ReturnToRecord" },
    ReturnTarget: {
      schema: ReturnTarget,
      about: "The session that a job is to wake, and when.",
      python: "ReturnTarget",
    },
    JobReturn: { schema: JobReturn, about: "A transition that has woken a session.", python: "JobReturnRecord" },
    ReturnOf: {
      schema: ReturnOf,
      about: "A transition of a job that a return run is about.",
      python: "ReturnOfRecord",
    },
    JobSummary: { schema: JobHead, about: "A job as in live events." },
    Job: {
      schema: AnyJob,
      about:
        "A job. A token without the scope `jobs:read` receives only its ids, status, progress and times from a change.",
      python: "JobRecord",
      partial: true,
    },
    JobFields: {
      schema: JobFields,
      about: "The fields of a job that its creator sets. Absent fields stay as they are; null clears a field.",
      argument: true,
    },
    JobChange: {
      schema: JobChange,
      about: "The fields of a job, and those that only a manual correction sets.",
      argument: true,
    },
  },
  "gates.ts": {
    GateStatus: { schema: Gate.properties.status, about: "The status of a gate.", python: "GateStatus" },
    GateAction: { schema: Gate.properties.onExpiry, about: "The decision of a person.", python: "GateAction" },
    Gate: { schema: Gate, about: "A question to a person, attached to a job.", python: "GateRecord" },
    GateAnswer: { schema: AnswerBody, about: "The answer to a gate." },
  },
  "runs.ts": {
    Usage: { schema: Usage, about: "The usage of agent runs.", python: "UsageRecord" },
    RunStatus: { schema: RunStatus, about: "The status of a run.", python: "RunStatus" },
    RunError: { schema: RunError, about: "Why a run failed.", python: "RunErrorRecord" },
    FailedRunAttempt: {
      schema: FailedRunAttempt,
      about: "An attempt of a run that failed.",
      python: "FailedRunAttemptRecord",
    },
    MissingValue: {
      schema: MissingValue,
      about: "A placeholder that had no value, and the path of a value of the request that is spelled alike.",
      python: "MissingValueRecord",
    },
    WaitsFor: { schema: WaitsFor, about: "Why a queued run has not started.", python: "WaitsForRecord" },
    RunSummary: { schema: RunHead, about: "A run as in live events." },
    Run: { schema: Run, about: "A run of an agent, as the service returns it.", python: "RunRecord", partial: true },
    RunRequest: { schema: RunRequest, about: "The input of a run, and the call of a mapped hook that caused it." },
  },
  "deliveries.ts": {
    DeliveryKind: { schema: DeliveryKind, about: "The kind of a delivery.", python: "DeliveryKind" },
    DeliveryState: { schema: DeliveryState, about: "The state of a delivery.", python: "DeliveryState" },
    DeliveryPart: { schema: DeliveryPart, about: "A message of a delivery.", python: "DeliveryPartRecord" },
    Delivery: { schema: Delivery, about: "A delivery, as the service returns it.", python: "DeliveryRecord" },
  },
  "sessions.ts": {
    Session: { schema: Session, about: "A conversation of the agent." },
    Message: { schema: Message, about: "A message of a conversation." },
    WaitingEvent: { schema: WaitingEvent, about: "An event that waits for the next turn of the main session." },
  },
  "service.ts": {
    NotifyRule: { schema: NotifyRule, about: "A rule of the configuration, without secrets." },
    Expectation: { schema: Expectation, about: "A job that must be created regularly." },
    Channel: { schema: Channel, about: "The state of a channel and its deliveries." },
    MailboxFault: { schema: MailboxFault, about: "Since when and why a part of the mailbox fails." },
    Mailbox: { schema: Mailbox, about: "The state of listening to a mailbox." },
    AuditAction: { schema: AuditAction, about: "An action that the audit log records." },
    AuditEntry: { schema: AuditEntry, about: "An entry of the audit log." },
    Access: { schema: Access, about: "The access of a browser." },
    Stats: { schema: Stats, about: "The number of jobs, and what happened in the last hour." },
  },
} as const satisfies ClientTypes;

const RECORDS = "src/client/records";
const PYTHON_RECORDS = "clients/python/src/signalbox_client/_records.py";

/** Returns the generated files of the clients, by path. */
export function clientTypes(types: ClientTypes = TYPES): Record<string, string> {
  const all = Object.entries(types).flatMap(([file, ofFile]) =>
    Object.entries(ofFile).map(([name, one]) => ({ ...one, file, name })),
  );
  const files = Object.entries(types).map(([file, ofFile]) => {
    const published = Object.entries(ofFile).map(([name, one]) => ({ ...one, name }));
    const others = Object.fromEntries(all.filter((one) => one.file !== file).map((one) => [one.name, one.file]));
    return [`${RECORDS}/${file}`, typescriptFile(published, namesOf(all), others)];
  });
  const python = all.flatMap(({ python, ...one }) => (python === undefined ? [] : [{ ...one, name: python }]));
  return { ...Object.fromEntries(files), [PYTHON_RECORDS]: pythonModule(python, namesOf(python)) };
}

/** Returns the names of the types by the titles of their schemas. */
function namesOf(types: readonly Published[]): ReadonlyMap<string, string> {
  const byTitle = types.flatMap(({ name, schema }) => {
    const { title } = schema as Shape;
    return title === undefined ? [] : [[title, name] as const];
  });
  const names = new Map(byTitle);
  for (const [title, whole] of Object.entries(PARTS)) {
    const name = names.get(whole);
    if (name !== undefined) names.set(title, name);
  }
  return names;
}
