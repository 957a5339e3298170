import Type, { type Static } from "typebox";
import { boolean, type ConfigNode, duration, integer, section, text } from "../nodes.ts";
import { AgentsSchema } from "./agents.ts";
import { ChannelsSchema } from "./channels.ts";
import { HooksSchema } from "./hooks.ts";
import { NotifySchemas } from "./notify.ts";
import { ServerSchema } from "./server.ts";
import { SessionSchema } from "./session.ts";

/**
 * The schema of the configuration file: every key with its default and its meaning.
 * docs/reference/configuration.md and .env.example are generated from here (`npm run docs`).
 */
export const ConfigSchema = Type.Object(
  {
    server: ServerSchema,
    mongodb: section(
      {
        uri: Type.Optional(
          text({
            pattern: "^mongodb(\\+srv)?://",
            env: "MONGODB_URI",
            secret: "credentials",
            examples: ["mongodb://127.0.0.1:27017/signalbox?replicaSet=rs0"],
            description: "Connection string of MongoDB. Without it `signalbox start` runs an embedded mongod.",
          }),
        ),
      },
      "The database, which stores everything that must not be lost.",
    ),
    redis: section(
      {
        url: Type.Optional(
          text({
            pattern: "^rediss?://",
            env: "REDIS_URL",
            secret: "credentials",
            examples: ["redis://127.0.0.1:6379"],
            description:
              "URL of Redis, which must have `maxmemory-policy noeviction`. `rediss://` uses TLS. Without it `signalbox start` runs an embedded redis-server.",
          }),
        ),
        cluster: boolean({
          default: false,
          env: "REDIS_CLUSTER",
          description:
            "Whether `redis.url` is a Redis Cluster. The URL can then name several nodes: `redis://user:password@a:6379,b:6379,c:6379`.",
        }),
        tls: section(
          {
            rejectUnauthorized: boolean({
              default: true,
              env: "REDIS_TLS_REJECT_UNAUTHORIZED",
              description:
                "Whether the certificate of Redis must be signed by a trusted authority. `false` is for hosts whose certificates nobody has signed, such as Heroku: the connection is encrypted, but the server is not verified.",
            }),
            ca: Type.Optional(
              text({
                env: "REDIS_TLS_CA",
                examples: ["redis-ca.pem"],
                description:
                  "Authority that signs the certificate of Redis: a file in PEM format, relative to the configuration file, or the PEM text itself.",
              }),
            ),
          },
          "Verification of the certificate for a `rediss://` URL.",
        ),
        prefix: text({
          default: "signalbox",
          pattern: "^[A-Za-z0-9_-]{1,40}$",
          description:
            "Prefix of every key in Redis. Two installations that share one Redis need different prefixes. For example `signalbox-staging`.",
        }),
      },
      "The queues. Redis can be emptied at any moment without losing work.",
    ),
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
        staleAfterSeconds: integer({
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
      },
      "Deletion of old records by the worker. Jobs and runs that have not ended are never deleted.",
    ),
    hooks: HooksSchema,
    agents: AgentsSchema,
    channels: ChannelsSchema,
    session: SessionSchema,
    ...NotifySchemas,
    worker: section(
      {
        concurrency: integer({
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
        shutdownSeconds: integer({
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

type Frozen<T> = T extends object ? { readonly [K in keyof T]: Frozen<T[K]> } : T;

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
