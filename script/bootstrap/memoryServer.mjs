/** Downloads a mongod with mongodb-memory-server into the given directory, and prints its path. */
import { MongoBinary } from "mongodb-memory-server";

try {
  console.log(`path: ${await MongoBinary.getPath({ downloadDir: String(process.argv[2]) })}`);
} catch {
  process.exitCode = 1; // The reason does not matter, because there is another source.
}
