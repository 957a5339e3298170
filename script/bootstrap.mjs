/**
 * Prepares a fresh clone and does only what is missing: `node script/bootstrap.mjs start` for a run, `… test` for the
 * first tier of tests, `… slow` for both tiers, `… package` to build the package, `… release` to make the files of a release. It has no
 * dependencies, because it runs before they are installed.
 */
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(`Signalbox needs Node 20.19 or later, and this is Node ${process.versions.node}: install a newer one.`);
  process.exit(1);
}
const { bootstrap } = await import("./bootstrap/steps.mjs");
const mode = process.argv[2];
const isKnown = mode === "test" || mode === "slow" || mode === "package" || mode === "release";
process.exitCode = await bootstrap(isKnown ? mode : "start");
