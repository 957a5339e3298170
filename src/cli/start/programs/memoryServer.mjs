/**
 * Downloads a mongod and prints its path: `node memoryServer.mjs DIRECTORY [PLACE]`. PLACE is a directory in which
 * mongodb-memory-server is installed; by default it is installed with this file.
 */
import { createRequire } from "node:module";
import { join } from "node:path";

const [downloadDir = "", place = import.meta.dirname] = process.argv.slice(2);
try {
  const { MongoBinary } = createRequire(join(place, "package.json"))("mongodb-memory-server");
  console.log(`path: ${await MongoBinary.getPath({ downloadDir })}`);
} catch {
  process.exitCode = 1; // The reason does not matter, because there is another source.
}
