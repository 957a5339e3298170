import { mongo } from "mongoose";
import { mongoUri } from "./servers.ts";

const CUT_OFF = { closeConnection: true };
/** The write is executed but not confirmed, as when a primary steps down. */
export const UNCONFIRMED = { writeConcernError: { code: 91, errmsg: "it stops" } };

/** The ways in which the outcome of a write may be unknown. */
export const LOST = [
  ["is cut off before it is done", CUT_OFF],
  ["is done and not confirmed", UNCONFIRMED],
] as const;

/** Makes the tests' MongoDB lose the responses of the next `times` writes with these commands, from any client. */
export function loseWrites(times: number, how: object = CUT_OFF, failCommands = ["update", "insert"]): Promise<void> {
  return configure({ mode: { times }, data: { failCommands, ...how } });
}

/** Makes the tests' MongoDB lose the responses of the next `times` finds in a collection. */
export function loseFinds(
  { namespace }: Pick<mongo.Collection, "namespace">,
  times: number,
  how: object,
): Promise<void> {
  return configure({ mode: { times }, data: { failCommands: ["find"], namespace, ...how } });
}

export function loseNoMore(): Promise<void> {
  return configure({ mode: "off" });
}

async function configure(failPoint: object): Promise<void> {
  const client = await mongo.MongoClient.connect(await mongoUri("admin"));
  await client.db("admin").command({ configureFailPoint: "failCommand", ...failPoint });
  await client.close();
}
