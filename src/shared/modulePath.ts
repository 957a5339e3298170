import { extname, join } from "node:path";

const EXTENSION = extname(import.meta.filename);

/** Whether this is the npm package, which contains compiled files, and not a clone. */
export const isPackage = EXTENSION === ".js";

/** Returns the path of a module by its name, such as `api/main`: TypeScript in a clone, JavaScript in the package. */
export const modulePath = (name: string): string => join(import.meta.dirname, "..", `${name}${EXTENSION}`);
