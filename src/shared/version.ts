import packageJson from "../../package.json" with { type: "json" };

/** This release of the service. */
export const version: string = packageJson.version;
