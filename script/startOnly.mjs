/**
 * The dependencies in package.json that `npm start` needs in a clone and production does not: they build the dashboard, and
 * download MongoDB. The npm package and the bill of materials leave them out.
 */
export const START_ONLY = ["@preact/signals", "mongodb-memory-server", "preact", "vite"];
