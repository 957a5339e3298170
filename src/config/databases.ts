import Type, { type Static } from "typebox";
import { namesSeveralHosts, readClusterUrl, serverUrlFault } from "../shared/queue/redisAddress.ts";
import { type Check, type Frozen, section, text } from "./nodes.ts";

/** The section `mongodb`. */
export const MongoSchema = section(
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
);

/** The section `redis`. */
export const RedisSchema = section(
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
    cluster: Type.Boolean({
      default: false,
      env: "REDIS_CLUSTER",
      description:
        "Whether `redis.url` is a Redis Cluster. The URL can then name several nodes: `redis://user:password@a:6379,b:6379,c:6379`.",
    }),
    tls: section(
      {
        rejectUnauthorized: Type.Boolean({
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
);

export const redisChecks: readonly Check<{ readonly redis: Frozen<Static<typeof RedisSchema>> }>[] = [
  { reads: ["redis.url", "redis.cluster"], find: ({ redis: { url, cluster } }) => [redisFault(url, cluster)] },
];

function redisFault(url: string | undefined, cluster: boolean): string | false {
  if (!cluster) {
    if (url === undefined) return false;
    if (namesSeveralHosts(url)) {
      return "redis.url names several hosts and redis.cluster is not true: set it, or REDIS_CLUSTER=true, for a Redis Cluster";
    }
    const fault = serverUrlFault(url);
    return fault !== null && `redis.url ${fault}`;
  }
  if (url === undefined)
    return "redis.cluster is true and redis.url is not set: set it, or REDIS_URL, to the nodes of the cluster";
  const address = readClusterUrl(url);
  return "fault" in address && `redis.url ${address.fault}`;
}
