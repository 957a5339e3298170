import Type, { type Static } from "typebox";
import { boolean, type ConfigNode, duration, integer, section, text, token } from "../nodes.ts";
import { AgentsSchema } from "./agents.ts";
import { ChannelsSchema } from "./channels.ts";
import { HooksSchema } from "./hooks.ts";
import { SessionSchema } from "./session.ts";

/** ASCII only: browsers send other letters in their `xn--…` form. */
const HOST_NAME = "^[A-Za-z0-9_-]+(\\.[A-Za-z0-9_-]+)*$";

/**
 * The schema of the configuration file: every key with its default and its meaning.
 * docs/reference/configuration.md and .env.example are generated from here (`npm run docs`).
 */
export const ConfigSchema = Type.Object(
  {
    server: section(
      {
        port: integer({
          default: 3000,
          minimum: 0,
          maximum: 65535,
          env: "PORT",
          description: "Port on which the API and the dashboard listen. `0` selects a free port.",
        }),
        host: text({
          default: "127.0.0.1",
          env: "HOST",
          description:
            "Address on which the API listens. An address other than loopback requires `server.apiToken`. For example `0.0.0.0` for all interfaces. On Heroku, Render, Railway and Fly.io the default is `0.0.0.0`.",
        }),
        basePath: Type.Optional(
          text({
            pattern: "^(/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)+$",
            env: "SIGNALBOX_BASE_PATH",
            examples: ["/signalbox"],
            description:
              "Path of another site that everything is served below. Starts with `/` and does not end with it. A proxy in front must keep this part of the path. Only `/healthz` and `/readyz` answer without it too.",
          }),
        ),
        apiToken: Type.Optional(
          token({
            env: "SIGNALBOX_API_TOKEN",
            description:
              "Token with full access to `/api`. Clients send it as `Authorization: Bearer <token>`. At least 16 characters. Without it `/api` is open to everyone who can connect, which is only allowed on loopback.",
          }),
        ),
        readOnlyToken: Type.Optional(
          token({
            env: "SIGNALBOX_READ_ONLY_TOKEN",
            description:
              "Token that allows reading everything under `/api`, and changing nothing. It also works as the dashboard's log-in. Requires `server.apiToken`. At least 16 characters.",
          }),
        ),
        allowUnauthenticated: boolean({
          default: false,
          description:
            "Allows an address other than loopback without `server.apiToken`. Set it only if something else, such as a VPN, restricts access.",
        }),
        allowedHosts: Type.Array(Type.String({ pattern: HOST_NAME, examples: ["signalbox.internal"] }), {
          default: [],
          description:
            'Host names, without a port, that requests may use besides IP addresses and `localhost`. Checked only without `server.apiToken`: always on loopback, elsewhere if the list is not empty. For example `["signalbox.internal"]`.',
        }),
        trustProxy: integer({
          default: 0,
          minimum: 0,
          maximum: 10,
          env: "TRUST_PROXY",
          description:
            "Number of reverse proxies in front of the service that set `X-Forwarded-For` and `X-Forwarded-Proto`. `0` ignores these headers. For example `1` behind one nginx.",
        }),
        bodyLimit: integer({
          default: 4 * 1024 * 1024,
          minimum: 1024,
          maximum: 5 * 1024 * 1024,
          description:
            "Maximum size of a request body of the API in bytes. The maximum is 5 MiB, because a job stores input, metadata and output in one MongoDB document of at most 16 MiB.",
        }),
        maxConnections: integer({
          default: 10_000,
          minimum: 10,
          maximum: 1_000_000,
          description:
            "Maximum number of open connections of one web process, including browsers and live events. Further connections are closed at once. The limit of open files (`ulimit -n`) must be a few hundred higher.",
        }),
        concurrency: integer({
          default: 1,
          minimum: 1,
          maximum: 64,
          env: "WEB_CONCURRENCY",
          description:
            "Number of web processes that share the port on this machine. For example `4` on a machine with four cores.",
        }),
        shutdownSeconds: integer({
          default: 25,
          minimum: 1,
          maximum: 600,
          description: "Seconds that a stopping web process waits for requests in progress.",
        }),
      },
      "The HTTP API and the dashboard.",
    ),
    mongodb: section(
      {
        uri: Type.Optional(
          text({
            pattern: "^mongodb(\\+srv)?://",
            env: "MONGODB_URI",
            secret: "credentials",
            examples: ["mongodb://127.0.0.1:27017/signalbox?replicaSet=rs0"],
            description: "Connection string of MongoDB. Without it `npm start` runs an embedded mongod.",
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
              "URL of Redis, which must have `maxmemory-policy noeviction`. `rediss://` uses TLS. Without it `npm start` runs an embedded redis-server.",
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
      },
      "Deletion of old records by the worker. Jobs and runs that have not ended are never deleted.",
    ),
    hooks: HooksSchema,
    agents: AgentsSchema,
    channels: ChannelsSchema,
    session: SessionSchema,
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
