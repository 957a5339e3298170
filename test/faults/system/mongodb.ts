import { mongo } from "mongoose";
import type { Lifecycle } from "../../../src/shared/process/lifecycle.ts";
import { eventually } from "../../support/eventually.ts";
import { startMongod, type TestServer } from "../../support/servers/servers.ts";
import type { Topology } from "../plan.ts";
import { type FaultProxy, startProxy } from "./proxy.ts";

const NAME = "faults";
const BACK_WITHIN_MS = 120_000;
/** Polling interval: each poll opens a connection of its own. */
const POLL_EVERY_MS = 100;
const OPTIONS = ["--oplogSize", "256", "--wiredTigerCacheSizeGB", "0.25"];
const PARAMETERS = ["--setParameter", "diagnosticDataCollectionEnabled=false"];

/** A mongod that the other members and its clients reach through a proxy. */
export interface Member {
  readonly server: TestServer;
  readonly proxy: FaultProxy;
}

/** A journaled replica set of one or three members, each behind a proxy. */
export interface MongoDb {
  readonly members: readonly Member[];
  /** The URI through the proxies. */
  readonly uri: string;
  /** Returns the primary, or the first member while there is none. */
  primary(): Promise<Member>;
  /** Waits until a member has rejoined and there is a primary. */
  isBack(member: Member): Promise<void>;
}

/** @param open collects the close functions, so that the caller can close everything even after an error */
export async function startMongoDb(topology: Topology, open: Lifecycle): Promise<MongoDb> {
  const count = topology === "single" ? 1 : 3;
  const start = async (): Promise<Member> => {
    const server = await startMongod(["--replSet", NAME, ...OPTIONS, ...PARAMETERS]);
    open.onClose("mongod", server.remove);
    const proxy = await startProxy(server.port);
    open.onClose("proxy", proxy.close);
    return { server, proxy };
  };
  const members = await Promise.all(Array.from({ length: count }, start));
  const hosts = members.map(({ proxy }) => `127.0.0.1:${proxy.port}`);
  const uri = `mongodb://${hosts.join(",")}/${NAME}?replicaSet=${NAME}`;
  await initiate(members[0] as Member, hosts);

  const primary = async () => {
    const hello = await ask(uri, "hello").catch(() => undefined);
    const at = hosts.indexOf(String(hello?.primary));
    return members[Math.max(at, 0)] as Member;
  };
  const mongodb = {
    members,
    uri,
    primary,
    async isBack({ server }: Member) {
      const own = `mongodb://127.0.0.1:${server.port}/?directConnection=true`;
      const takesPart = async () => {
        const hello = await ask(own, "hello").catch(() => undefined);
        return hello?.isWritablePrimary || hello?.secondary;
      };
      await eventually(takesPart, "the mongod to take part again", BACK_WITHIN_MS, POLL_EVERY_MS);
      await eventually(() => ask(uri, "hello").catch(() => false), "a primary", BACK_WITHIN_MS, POLL_EVERY_MS);
    },
  };
  await Promise.all(members.map((member) => mongodb.isBack(member)));
  return mongodb;
}

async function initiate({ server }: Member, hosts: readonly string[]): Promise<void> {
  const settings = { electionTimeoutMillis: 2_000, heartbeatIntervalMillis: 500 };
  const members = hosts.map((host, _id) => ({ _id, host }));
  const replSetInitiate = { _id: NAME, members, settings };
  await ask(`mongodb://127.0.0.1:${server.port}/?directConnection=true`, { replSetInitiate }, BACK_WITHIN_MS);
}

/** @throws Error when no server responds in time */
async function ask(uri: string, command: string | object, withinMs = 2_000): Promise<mongo.Document> {
  const client = await mongo.MongoClient.connect(uri, { serverSelectionTimeoutMS: withinMs, socketTimeoutMS: 30_000 });
  try {
    return await client.db("admin").command(typeof command === "string" ? { [command]: 1 } : command);
  } finally {
    await client.close();
  }
}
