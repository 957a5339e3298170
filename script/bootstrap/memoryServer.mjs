/** Makes mongodb-memory-server fetch a mongod into the directory that is named, and prints its path. */
import { MongoBinary } from "mongodb-memory-server";

try {
  console.log(`path: ${await MongoBinary.getPath({ downloadDir: String(process.argv[2]) })}`);
} catch {
  process.exitCode = 1; // which of the many ways it failed makes no difference: there is another source
}
