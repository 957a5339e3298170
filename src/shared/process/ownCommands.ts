import { isPackage } from "../modulePath.ts";

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
