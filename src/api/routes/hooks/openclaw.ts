import Type from "typebox";
import { AppError, invalidField } from "../../../shared/errors.ts";

/*
 * Requests of senders that were written for OpenClaw, which `hooks.compat: "openclaw"` accepts: the token in
 * `x-openclaw-token`, the fields below, and 200 in place of 202.
 */

/** The fields that only these senders send. */
export const openClawFields = {
  idempotencyKey: Type.Optional(
    Type.String({ minLength: 1, maxLength: 255, description: "The same as the header `Idempotency-Key`." }),
  ),
  sessionMode: Type.Optional(
    Type.Enum(["isolated", "persistent"], {
      description:
        "`isolated` (the default): the run has a session of its own. `persistent`: it continues `sessionKey`.",
    }),
  ),
  waitForCompletion: Type.Optional(Type.Boolean({ description: "The same as the header `Prefer: wait=60`." })),
};

/** How the run ended, for these senders. */
export const openClawCompletion = {
  completion: Type.Optional(
    Type.Object(
      { status: Type.Enum(["ok", "error"], { description: "Whether the run completed." }) },
      { description: "Only with `waitForCompletion`, if the run has ended meanwhile." },
    ),
  ),
};

interface OpenClawBody {
  readonly idempotencyKey?: string;
  readonly sessionMode?: "isolated" | "persistent";
  readonly waitForCompletion?: boolean;
}

/** Reads the fields of a body that was checked for them. */
export const openClawBody = (body: object): OpenClawBody => body;

/** Returns the key of a request: that of its header, or one in the places of OpenClaw. */
export const openClawKey = (headers: object, body: object): string | undefined =>
  (headers as Readonly<Record<string, string>>)["x-openclaw-idempotency-key"] ?? openClawBody(body).idempotencyKey;

/** Moves the token of these senders to the header where every hook looks for it, which is kept from logs and templates. */
export function moveOpenClawToken(headers: NodeJS.Dict<string | string[]>): void {
  const { "x-openclaw-token": token, ...rest } = headers;
  if (token === undefined) return;
  if (rest["x-service-token"] === undefined) headers["x-service-token"] = token;
  delete headers["x-openclaw-token"];
}

const FOREIGN: Readonly<Record<string, string>> = {
  idempotencyKey: "send the header Idempotency-Key",
  sessionMode: "leave it out, since runs without sessionKey have sessions of their own",
  waitForCompletion: "send the header Prefer: wait=60",
};
/** The fields with which OpenClaw's wake hook chooses a session. */
const OF_WAKE = ["agentId", "sessionKey"];

/**
 * Refuses fields of OpenClaw that would have no effect, which is worse than an error.
 * @throws AppError invalid_body
 */
export function refuseOpenClawFields(body: object): void {
  const errors = Object.entries(FOREIGN).flatMap(([name, instead]) =>
    Object.hasOwn(body, name)
      ? [{ pointer: `/${name}`, detail: `is a field of OpenClaw: ${instead}, or set hooks.compat to openclaw` }]
      : [],
  );
  const detail = errors.map((error) => `${error.pointer.slice(1)} ${error.detail}.`).join(" ");
  if (errors.length > 0) throw new AppError("invalid_body", { detail, errors });
}

/** Refuses a choice of a session by an event. @throws AppError invalid_body */
export function refuseSessionOfWake(body: object): void {
  const field = OF_WAKE.find((name) => Object.hasOwn(body, name));
  if (field !== undefined)
    throw invalidField(field, "must not be sent: an event always goes to the main session. Use /hooks/agent instead");
}
