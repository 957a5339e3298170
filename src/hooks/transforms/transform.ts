/**
 * The types of transform modules, published as `signalbox/transform`. Only types: the file needs nothing else of this
 * package, so that it also compiles in other people's projects.
 */

/** One request to a mapped hook, as a transform sees it: a copy, of which nothing it changes is seen outside. */
export interface TransformInput<Body extends object = Record<string, unknown>> {
  /** The body; with `forEach` its array holds the one item that this run is about. */
  readonly payload: Body;
  /** By lower-case name. Without authorization, x-service-token and cookie. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Path and query as they were asked for, without the `token` parameter. */
  readonly url: string;
  /** The name behind the base path, such as `github` or `ci/build`. */
  readonly path: string;
  /** Without `token`. */
  readonly query: Readonly<Record<string, string | string[] | undefined>>;
}

/** Makes of the request a run of the agent. What is left out stays as the mapping says. */
export interface AgentOverrides {
  readonly kind?: "agent";
  /** What the agent is told. It is fenced in as content from outside, like any message of a hook. */
  readonly message?: string;
  /** Begins the summary. */
  readonly name?: string;
  /** A constant key continues its conversation. */
  readonly sessionKey?: string;
  /** `now`: the summary wakes the main session at once. */
  readonly wakeMode?: "now" | "next-heartbeat";
  /** Whether the reply goes to a channel. */
  readonly deliver?: boolean;
  /** `last`: the main session's last channel. */
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
    | "log";
  /** The recipient, as the channel names it. */
  readonly to?: string;
  /** A model of the allow-list, or its alias. */
  readonly model?: string;
  /** How hard the model thinks. */
  readonly thinking?: string;
  /** How long the run may take; above 0. */
  readonly timeoutSeconds?: number;
}

/** Makes of the request an event of the main session. */
export interface WakeOverrides {
  readonly kind: "wake";
  /** What happened. */
  readonly text?: string;
  /** `now`: a turn of the main session at once. */
  readonly mode?: "now" | "next-heartbeat";
}

/** What a transform answers to change the mapping's result; its fields win over the mapping's. */
export type TransformResult = AgentOverrides | WakeOverrides;

/**
 * A transform: the default export of a module in hooks.transformsDir, or the export that the mapping names.
 * An object overrides the mapping's result, `undefined` keeps it, `null` drops the request.
 *
 * It runs on a thread of its own, with a time limit and a memory limit, and may run twice for one request. What it throws
 * fails the run, with its place in the source; what it prints goes to the worker's log.
 */
export type Transform<Body extends object = Record<string, unknown>> = (
  input: TransformInput<Body>,
) => TransformResult | null | undefined | Promise<TransformResult | null | undefined>;
