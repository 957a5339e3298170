/**
 * Carries out one action on a gate, and dies by SIGKILL right before its n-th write.
 * Arguments: the database's URI, the action, the jobId, the number of the write.
 */
import { connectDatabase } from "../../../src/models/database.ts";
import { actOnGate } from "../gateActions.ts";

const [uri = "", action = "", jobId = "", last = ""] = process.argv.slice(2);

const database = await connectDatabase(uri);
await actOnGate(database, action, jobId, Number(last), () => process.kill(process.pid, "SIGKILL"));
await database.close();
