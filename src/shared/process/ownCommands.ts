import { extname, join } from "node:path";

const EXTENSION = extname(import.meta.filename);

/** Whether this is the npm package, which contains compiled files, and not a clone. */
export const isPackage = EXTENSION === ".js";

/** Returns the path of a module by its name, such as `api/main`: TypeScript in a clone, JavaScript in the package. */
export const modulePath = (name: string): string => join(import.meta.dirname, "..", "..", `${name}${EXTENSION}`);

/**
 * Returns the shell command for a command of this installation, as its user types it: an npm script in a clone, `npx` with
 * the npm package.
 */
export function ownCommand(name: "start" | "release", ofPackage = isPackage): string {
  if (ofPackage) return `npx signalbox ${name}`;
  return name === "start" ? "npm start" : `npm run ${name}`;
}

/** Returns how to get the built dashboard and guide, which the npm package contains. */
export const howToBuild = (ofPackage = isPackage): string =>
  ofPackage ? "install the package `signalbox` again" : "run `npm run build`";
