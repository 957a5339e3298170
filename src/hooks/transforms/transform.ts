/**
 * The types of transform modules, published as `signalbox/transform`. The file contains only types and imports nothing from
 * this package, so that it also compiles in other projects.
 */

/** One request to a mapped hook. The transform gets a copy: its changes have no effect outside. */
export interface TransformInput<Body extends object = Record<string, unknown>> {
  /** The body. With `forEach`, its array contains only the item of this run. */
  readonly payload: Body;
  /** Headers by lower-case name, without authorization, x-service-token and cookie. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Path and query of the request, without the `token` parameter. */
  readonly url: string;
  /** The part of the path after the base path, such as `github` or `ci/build`. */
  readonly path: string;
  /** Query parameters, without `token`. */
  readonly query: Readonly<Record<string, string | string[] | undefined>>;
}

/** Turns the request into a run of the agent. Omitted fields keep the mapping's values. */
export interface AgentOverrides {
  readonly kind?: "agent";
  /** The message to the agent. It is fenced as external content, like every message from a hook. */
  readonly message?: string;
  /** The beginning of the summary. */
  readonly name?: string;
  /** The key of the session. Runs with the same key continue one conversation. */
  readonly sessionKey?: string;
  /** `now`: the summary wakes the main session at once. */
  readonly wakeMode?: "now" | "next-heartbeat";
  /** Whether the reply is sent to a channel. */
  readonly deliver?: boolean;
  /** `last`: the last channel of the main session. */
  readonly channel?:
    | "last"
    | "whatsapp"
    | "telegram"
    | "discord"
    | "slack"
    | "mattermost"
    | "signal"
    | "imessage"
    | "msteams"
    | "ntfy"
    | "email"
    | "log";
  /** The recipient, in the format of the channel. */
  readonly to?: string;
  /** A model from the allow-list, or its alias. */
  readonly model?: string;
  /** The thinking level of the model. */
  readonly thinking?: string;
  /** Time limit of the run; greater than 0. */
  readonly timeoutSeconds?: number;
}

/** Turns the request into an event of the main session. */
export interface WakeOverrides {
  readonly kind: "wake";
  /** The text of the event. */
  readonly text?: string;
  /** `now`: a turn of the main session at once. */
  readonly mode?: "now" | "next-heartbeat";
}

/** The result of a transform. Its fields override those of the mapping. */
export type TransformResult = AgentOverrides | WakeOverrides;

/**
 * A transform: the default export of a module in hooks.transformsDir, or the export named in the mapping.
 * A returned object overrides the mapping's result, `undefined` keeps it, and `null` drops the request.
 *
 * A transform runs on a thread of its own, with a time limit and a memory limit, and may run twice for one request. An
 * error that it throws fails the run, with the error's place in the source. Its output goes to the worker's log.
 */
export type Transform<Body extends object = Record<string, unknown>> = (
  input: TransformInput<Body>,
) => TransformResult | null | undefined | Promise<TransformResult | null | undefined>;
