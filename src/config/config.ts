import Type, { type Static } from "typebox";
import { durationMs } from "../shared/text/duration.ts";
import { isObject } from "../shared/text/json.ts";
import { peopleChecks } from "./access/people.ts";
import { tokenChecks } from "./access/tokens.ts";
import { AgentsSchema, agentChecks } from "./agents/agents.ts";
import { budgetChecks } from "./agents/budgetChecks.ts";
import { channelChecks } from "./channels/channelChecks.ts";
import { ChannelsSchema } from "./channels/channels.ts";
import { chatChecks } from "./channels/chatChecks.ts";
import { MongoSchema, RedisSchema, redisChecks } from "./databases.ts";
import { HooksSchema, hookChecks } from "./hooks.ts";
import { secretFault } from "./mappings/auth.ts";
import { type Check, type ConfigNode, duration, type Frozen, section, text } from "./nodes.ts";
import { NotifySchemas } from "./notify.ts";
import { notifyChecks } from "./notifyChecks.ts";
import { OtelSchema, otelChecks } from "./otel.ts";
import { OutboundSchema, outboundChecks } from "./outbound.ts";
import { ServerSchema, serverChecks } from "./server.ts";
import { SessionSchema, sessionChecks } from "./session.ts";

/**
 * The schema of the configuration file: every key with its default and its meaning.
 * docs/reference/configuration.md and .env.example are generated from here (`npm run docs`).
 */
export const ConfigSchema = Type.Object(
  {
    server: ServerSchema,
    mongodb: MongoSchema,
    redis: RedisSchema,
    dataDir: text({
      default: ".signalbox",
      env: "SIGNALBOX_DATA_DIR",
      description:
        "Directory of the embedded MongoDB's data and of the generated hook token, relative to the working directory. For example `/var/lib/signalbox`.",
    }),
    log: section(
      {
        level: Type.Enum(["trace", "debug", "info", "warn", "error", "fatal", "silent"], {
          default: "info",
          env: "LOG_LEVEL",
          description: "Lowest level that is logged. For example `debug` to investigate a problem.",
        }),
      },
      "The log: one JSON object per line, or readable lines on a terminal.",
    ),
    jobs: section(
      {
        staleAfterSeconds: Type.Integer({
          default: 900,
          minimum: 1,
          maximum: 31_536_000,
          description:
            "Seconds without a report after which a running job or step counts as stale. A job can set its own `staleAfterSeconds`. For example `3600` for work that reports once an hour.",
        }),
        deleteAll: Type.Enum(["allow", "require-all", "forbid"], {
          default: "allow",
          description:
            "Whether `DELETE /api/jobs` without a filter deletes every job. `allow`: it does. `require-all`: only with `?all=true`. `forbid`: never. `signalbox init` writes `require-all`, because a program whose filter is empty by mistake would delete everything.",
        }),
      },
      "Job tracking.",
    ),
    retention: section(
      {
        completedAfter: Type.Optional(
          duration({ description: "How long completed jobs are kept. Without it they are kept for ever." }),
        ),
        failedAfter: Type.Optional(
          duration({ description: "How long failed jobs are kept. Without it they are kept for ever." }),
        ),
        runsAfter: Type.Optional(
          duration({
            description:
              "How long runs and deliveries are kept after their end. At least one day, and at least `session.retainSingleUse`. Without it they are kept for ever.",
          }),
        ),
        messagesAfter: Type.Optional(
          duration({
            description:
              "How long the messages of conversations are kept, also those of the main session. Without it they are kept for ever, except those of `session.retainSingleUse`.",
          }),
        ),
        auditAfter: duration({ default: "90d", description: "How long entries of the audit log are kept." }),
        logsAfter: duration({
          default: "30d",
          description: "How long the log lines of steps are kept. They are deleted with their job in any case.",
        }),
      },
      "Deletion of old records by the worker. Jobs and runs that have not ended are never deleted.",
    ),
    hooks: HooksSchema,
    agents: AgentsSchema,
    channels: ChannelsSchema,
    session: SessionSchema,
    ...NotifySchemas,
    outbound: OutboundSchema,
    otel: OtelSchema,
    worker: section(
      {
        concurrency: Type.Integer({
          default: 10,
          minimum: 1,
          maximum: 1_000,
          env: "WORKER_CONCURRENCY",
          description: "Maximum number of agent turns that one worker process runs at the same time.",
        }),
        metricsPort: Type.Optional(
          Type.Integer({
            minimum: 0,
            maximum: 65535,
            examples: [9464],
            env: "WORKER_METRICS_PORT",
            description:
              "Port on which a worker process serves its own `/metrics` and `/healthz`. `0` selects a free port, which the log names. Without it a worker serves neither.",
          }),
        ),
        strictLeases: Type.Boolean({
          default: false,
          description:
            "Whether a worker that cannot reach MongoDB ends its agent turns and deliveries before another worker may take them over, after 13 seconds. Without it they go on, so that a reply survives the outage, and another worker may run a turn of the same session meanwhile.",
        }),
        shutdownSeconds: Type.Integer({
          default: 25,
          minimum: 3,
          maximum: 600,
          description:
            "Seconds after which a stopping worker process has ended. Work in progress has three fifths of this time to complete, but at most all except three seconds. After that another worker, or the next start, continues it.",
        }),
      },
      "The worker processes, which run agents and send replies.",
    ),
  },
  { additionalProperties: false, default: {} },
);

export type Config = Frozen<Static<typeof ConfigSchema>>;

/** Returns whether a node has keys of its own. Lists, maps and blocks without keys are values. */
export const isSection = ({ properties }: ConfigNode): boolean => Object.keys(properties ?? {}).length > 0;

/** Returns every key that holds a value, as `[dotted key, schema]`, in the order of the file. */
export function configKeys(node: ConfigNode = ConfigSchema as ConfigNode, path = ""): [string, ConfigNode][] {
  return Object.entries(node.properties ?? {}).flatMap(([name, child]) => {
    const key = path ? `${path}.${name}` : name;
    return isSection(child) ? configKeys(child, key) : [[key, child] as [string, ConfigNode]];
  });
}

const SECRET_KEYS = configKeys().flatMap(([key, { secret, type }]) =>
  // outbound.ts checks the secrets that sign requests.
  secret === true && type?.includes("string") && key !== "outbound.secret" ? [key] : [],
);

/** Returns a sentence for each secret outside the mappings that no service can have issued. */
function secretTextFaults(config: Config): string[] {
  return SECRET_KEYS.flatMap((key) => {
    const value = key.split(".").reduce<unknown>((at, name) => (isObject(at) ? at[name] : undefined), config);
    const texts = [value].flat().filter((text) => typeof text === "string");
    return texts.flatMap((text) => secretFault(text) ?? []).map((fault) => `${key} ${fault}`);
  });
}

const CHECKS: readonly Check<Config>[] = [
  ...serverChecks,
  ...redisChecks,
  ...tokenChecks,
  ...peopleChecks,
  ...sessionChecks,
  ...agentChecks,
  ...budgetChecks,
  {
    reads: ["retention.runsAfter", "session.retainSingleUse"],
    find: ({ retention: { runsAfter }, session: { retainSingleUse } }) => [
      runsAfter !== undefined &&
        durationMs(runsAfter) < Math.max(durationMs(retainSingleUse), durationMs("1d")) &&
        `retention.runsAfter must be at least 1d and at least session.retainSingleUse (${retainSingleUse}), because a run must be kept at least as long as its transcript`,
    ],
  },
  ...channelChecks,
  ...chatChecks,
  ...hookChecks,
  { reads: ["agents.runners", "channels"], find: secretTextFaults },
  ...notifyChecks,
  ...outboundChecks,
  ...otelChecks,
];

/**
 * Returns a sentence for each fault in the combination of keys that are valid by themselves.
 * @param faulty the keys that are invalid by themselves; checks that read one of them are skipped
 */
export function crossChecks(config: Config, faulty: readonly string[]): string[] {
  const isValid = (key: string) => !faulty.some((fault) => isWithin(fault, key) || isWithin(key, fault));
  return CHECKS.filter(({ reads }) => reads.every(isValid)).flatMap((check) =>
    check.find(config).filter((problem) => typeof problem === "string"),
  );
}

const isWithin = (key: string, section: string): boolean => key === section || key.startsWith(`${section}.`);
