import type { MissingValue } from "./runs.ts";

export type RequestOutcome = "accepted" | "dropped" | "failed" | "filtered" | "refused";

/** A kept request to a hook, as lists contain it. */
export interface HookRequestRow {
  requestId: string;
  createdAt: string;
  hook: string;
  mapping: string | null;
  outcome: RequestOutcome;
  /** The HTTP status of the response; null for a mail. */
  status: number | null;
  /** The error code of a refused request. */
  code: string | null;
  /** Why a request was refused or filtered, in words. */
  reason: string | null;
  /** The kind of authentication that the sender needed, and the verdict when the request arrived. */
  signature: { type: string; verdict: "valid" | "missing" | "malformed" | "expired" | "wrong" } | null;
  /** Whether it repeats an earlier request, whose runs it returned. */
  repeated: boolean;
  address: string | null;
  contentType: string | null;
  bodyBytes: number | null;
  runIds: string[];
}

export interface HookRequest extends HookRequestRow {
  url: string;
  headers: Record<string, string | string[] | undefined>;
  query: Record<string, string | string[] | undefined>;
  /** The body as it was sent; null for a refused request. */
  body: string | null;
  bodyEncoding: "utf8" | "base64" | null;
  /** The body as the mapping receives it; null for a refused request. */
  payload: unknown;
}

/** A run that a request would start. */
export interface RunPreview {
  kind: "agent" | "wake" | null;
  name: string | null;
  message: string | null;
  sessionKey: string | null;
  wakeMode: string | null;
  deliver: boolean | null;
  channel: string | null;
  to: string | null;
  model: string | null;
  /** The placeholders of the mapping that have no value. */
  missingValues: MissingValue[];
  error: { code: string; message: string } | null;
}

/** The result that the mappings would have for a request. */
export interface DryRun {
  dryRun: true;
  /** The mapping that takes the request; null if none does. */
  mapping: string | null;
  /** Why no mapping was compared with the request; null otherwise. */
  reason: string | null;
  /** The mappings that were compared, each with the condition that the request does not meet, and that in words. */
  considered: { mapping: string; unmet: string | null; reason: string | null }[];
  /** The transform of the mapping, which was not run. */
  transform: string | null;
  runCount: number;
  runs: RunPreview[];
}

export interface Replayed {
  ok: true;
  mapping: string | null;
  runId: string | null;
  runIds: string[];
}

/** A request to try the mappings on. */
export interface TriedRequest {
  hook: string;
  mapping?: string;
  headers?: Record<string, string>;
  query?: Record<string, string>;
  /** The body as text. */
  body: string;
}
