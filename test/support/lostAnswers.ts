import { mongo } from "mongoose";
import { mongoUri } from "./servers.ts";

const CUT_OFF = { closeConnection: true };
/** It is done, and its sender is not told so, as where a primary steps down. */
export const UNCONFIRMED = { writeConcernError: { code: 91, errmsg: "it stops" } };

/** How a write may get no answer that says what became of it. */
export const LOST = [
  ["is cut off before it is done", CUT_OFF],
  ["is done and not confirmed", UNCONFIRMED],
] as const;

/** Has the test run's own MongoDB lose the next so many writes by these commands, whoever sends them. */
export function loseWrites(times: number, how: object = CUT_OFF, failCommands = ["update", "insert"]): Promise<void> {
  return configure({ mode: { times }, data: { failCommands, ...how } });
}

/** The same for the next so many finds in a collection, in one way or another. */
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
