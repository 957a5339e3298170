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
          description: "Port the API listens on; 0 takes a free one.",
        }),
        host: text({
          default: "127.0.0.1",
          env: "HOST",
          description: "Address the API binds to. Anything but loopback needs `server.apiToken`.",
        }),
        apiToken: Type.Optional(
          token({
            env: "SIGNALBOX_API_TOKEN",
            description:
              "Clients of `/api` send it as `Authorization: Bearer …`. At least 16 characters. Without it `/api` is open, which is refused beyond loopback.",
          }),
        ),
        readOnlyToken: Type.Optional(
          token({
            env: "SIGNALBOX_READ_ONLY_TOKEN",
            description:
              "Whoever sends it, or logs in with it on the dashboard, may read everything under `/api` and change nothing. Needs `server.apiToken`.",
          }),
        ),
        allowUnauthenticated: boolean({
          default: false,
          description:
            "Allows a bind beyond loopback without `server.apiToken`, for networks that are guarded otherwise.",
        }),
        allowedHosts: Type.Array(Type.String({ pattern: HOST_NAME, examples: ["signalbox.internal"] }), {
          default: [],
          description:
            "Names, without a port, under which browsers may reach the service besides IP addresses and localhost. Looked at where `server.apiToken` is not set: on loopback always, elsewhere when a name is given.",
        }),
        trustProxy: integer({
          default: 0,
          minimum: 0,
          maximum: 10,
          description:
            "How many proxies stand in front and set `X-Forwarded-For` and `X-Forwarded-Proto`. At 0 these headers are ignored.",
        }),
        bodyLimit: integer({
          default: 4 * 1024 * 1024,
          minimum: 1024,
          maximum: 5 * 1024 * 1024,
          description:
            "Largest request body in bytes. At most 5 MiB: a job keeps input, metadata and output in one MongoDB document, which ends at 16 MiB.",
        }),
        maxConnections: integer({
          default: 10_000,
          minimum: 10,
          maximum: 1_000_000,
          description:
            "How many connections a web process keeps open at most, those of browsers and live events among them; one more is closed at once. The limit of open files (`ulimit -n`) must be some hundreds above it.",
        }),
        concurrency: integer({
          default: 1,
          minimum: 1,
          maximum: 64,
          env: "WEB_CONCURRENCY",
          description: "How many web processes share the port on this machine.",
        }),
        shutdownSeconds: integer({
          default: 25,
          minimum: 1,
          maximum: 600,
          description: "How long a stopping web process waits for requests under way.",
        }),
      },
      "The API.",
    ),
    mongodb: section(
      {
        uri: Type.Optional(
          text({
            pattern: "^mongodb(\\+srv)?://",
            env: "MONGODB_URI",
            secret: "credentials",
            examples: ["mongodb://127.0.0.1:27017/signalbox?replicaSet=rs0"],
            description: "MongoDB connection string. Without it `npm start` runs an embedded mongod.",
          }),
        ),
      },
      "Where everything is kept.",
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
              "Redis for the queues (`maxmemory-policy noeviction`); `rediss://` for TLS. Without it `npm start` runs an embedded redis-server.",
          }),
        ),
        cluster: boolean({
          default: false,
          env: "REDIS_CLUSTER",
          description:
            "`redis.url` leads to a Redis Cluster: one of its nodes or a name for all of them, or several with commas between them (`redis://user:password@a:6379,b:6379,c:6379`).",
        }),
        prefix: text({
          default: "signalbox",
          pattern: "^[A-Za-z0-9_-]{1,40}$",
          description: "What every key in Redis begins with; two installations on one Redis need two.",
        }),
      },
      "What moves the work.",
    ),
    dataDir: text({
      default: ".signalbox",
      env: "SIGNALBOX_DATA_DIR",
      description:
        "Where the embedded MongoDB keeps its data and the first start its hook token; relative to the working directory.",
    }),
    log: section(
      {
        level: Type.Enum(["trace", "debug", "info", "warn", "error", "fatal", "silent"], {
          default: "info",
          env: "LOG_LEVEL",
          description: "Least severe level that is logged.",
        }),
      },
      "Logs: JSON lines, readable ones on a terminal.",
    ),
    jobs: section(
      {
        staleAfterSeconds: integer({
          default: 900,
          minimum: 1,
          maximum: 31_536_000,
          description:
            "A running job or step without a report for so long reads `stale: true`. A job may set its own `staleAfterSeconds`.",
        }),
      },
      "Job tracking.",
    ),
    retention: section(
      {
        completedAfter: Type.Optional(
          duration({ description: "Completed jobs are deleted so long after their end. Off by default." }),
        ),
        failedAfter: Type.Optional(
          duration({ description: "Failed jobs are deleted so long after their end. Off by default." }),
        ),
        runsAfter: Type.Optional(
          duration({
            description:
              "Ended runs and deliveries are deleted so long after their end: a day at least, and no sooner than `session.retainSingleUse`. Off by default.",
          }),
        ),
      },
      "Deletion of what is old, carried out by the worker. What has not ended is never deleted.",
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
          description: "How many agent turns one worker process runs side by side.",
        }),
        metricsPort: Type.Optional(
          Type.Integer({
            minimum: 0,
            maximum: 65535,
            examples: [9464],
            env: "WORKER_METRICS_PORT",
            description:
              "Where a worker process serves its own `/metrics` and `/healthz`; with 0 the log tells. Nowhere when not set.",
          }),
        ),
        shutdownSeconds: integer({
          default: 25,
          minimum: 3,
          maximum: 600,
          description:
            "How soon a stopping worker process ends. Work under way has three fifths of it, but all but three seconds at most; what has not ended then is handed back, for another worker or the next start.",
        }),
      },
      "The worker processes.",
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
