import { mongo } from "mongoose";
import { hostsOf } from "../../shared/address.ts";
import { describeUnusable, type Unusable } from "../../shared/describeUnusable.ts";

/** A mongod that was started with `--replSet`, and has no replica set yet. Its `hello` has `isreplicaset`. */
export class NotInitiatedError extends Error {}

/** Returns one sentence about a MongoDB that cannot be used, with the remedy and without secrets. */
export function describeConnectionError(uri: string, error: unknown): string {
  const members = membersOf(error);
  const answers = `MongoDB at ${hostsOf(uri)} answers, but its replica set`;
  if (error instanceof NotInitiatedError || members.some(({ type }) => type === "RSGhost")) {
    return `${answers} is not initiated: run rs.initiate() in mongosh once.`;
  }
  if (members.some(({ type }) => type === "RSSecondary" || type === "RSOther" || type === "RSArbiter")) {
    return `${answers} has no primary: start the other members, and see rs.status() in mongosh.`;
  }
  return describeUnusable(
    "MongoDB",
    uri,
    reasonOf(error, members),
    "MONGODB_URI (mongodb.uri in the configuration)",
    "name a file with the authority of its certificate in tlsCAFile of the address or in NODE_EXTRA_CA_CERTS",
  );
}

const membersOf = (error: unknown): mongo.ServerDescription[] => [
  ...((error as { reason?: mongo.TopologyDescription }).reason?.servers?.values() ?? []),
];

/** Returns the server's error, or the network errors of its members. */
function reasonOf(error: unknown, members: readonly mongo.ServerDescription[]): Unusable {
  if (error instanceof mongo.MongoServerError) return { answer: String(error.codeName ?? error.code) };
  const codes = members.flatMap((member) => (member.error?.cause as NodeJS.ErrnoException | undefined)?.code ?? []);
  return { code: [...new Set(codes)].join(", ") };
}
