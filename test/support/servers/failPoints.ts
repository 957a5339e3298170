import { mongo } from "mongoose";
import { mongoUri } from "./servers.ts";

const CLOSED_CONNECTION = { closeConnection: true };
/** The write is executed but not confirmed, as when a primary steps down. */
export const UNCONFIRMED = { writeConcernError: { code: 91, errmsg: "it stops" } };

/** The ways in which the outcome of a write may be unknown. */
export const UNKNOWN_OUTCOMES = [
  ["is cut off before it is done", CLOSED_CONNECTION],
  ["is done and not confirmed", UNCONFIRMED],
] as const;

/** Makes the tests' MongoDB fail the next `times` writes with these commands, from any client. */
export function failWrites(
  times: number,
  how: object = CLOSED_CONNECTION,
  failCommands = ["update", "insert"],
): Promise<unknown> {
  return setFailPoint({ mode: { times }, data: { failCommands, ...how } });
}

/** Makes the tests' MongoDB fail the next `times` finds in a collection. */
export function failFinds(
  { namespace }: Pick<mongo.Collection, "namespace">,
  times: number,
  how: object,
): Promise<unknown> {
  return setFailPoint({ mode: { times }, data: { failCommands: ["find"], namespace, ...how } });
}

/**
 * Makes the next insert into a collection wait for longer than any test, and `clearFailPoint` with it.
 * @returns a function that waits until the insert has arrived
 */
export async function holdInsert({ namespace }: Pick<mongo.Collection, "namespace">): Promise<() => Promise<void>> {
  const held = { blockConnection: true, blockTimeMS: 600_000 };
  const { count } = await setFailPoint({ mode: { times: 1 }, data: { failCommands: ["insert"], namespace, ...held } });
  return async () => {
    await onFailPoint({ waitForFailPoint: "failCommand", timesEntered: count + 1, maxTimeMS: 60_000 });
  };
}

export function clearFailPoint(): Promise<unknown> {
  return setFailPoint({ mode: "off" });
}

/** @returns how many commands it has failed so far */
function setFailPoint(settings: object): Promise<{ count: number }> {
  return onFailPoint({ configureFailPoint: "failCommand", ...settings });
}

async function onFailPoint(command: mongo.Document): Promise<{ count: number }> {
  const client = await mongo.MongoClient.connect(await mongoUri("admin"));
  const { count } = await client.db("admin").command(command);
  await client.close();
  return { count };
}
