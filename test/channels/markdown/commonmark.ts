import { createRequire } from "node:module";
import pino from "pino";
import { openChannels } from "../../../src/channels/channels.ts";
import { parseConfig } from "../../../src/config/load.ts";

const require = createRequire(import.meta.url);

export interface Example {
  readonly number: number;
  readonly markdown: string;
  readonly html: string;
}

const specification = require("commonmark-spec") as { tests: readonly Example[] };

/** The examples of the specification, which writes tabs as arrows. */
export const EXAMPLES: readonly Example[] = specification.tests.map(({ number, markdown, html }) => ({
  number,
  markdown: markdown.replaceAll("→", "\t"),
  html: html.replaceAll("→", "\t"),
}));

/** Channels of all services. */
export const CHANNELS = openChannels(
  parseConfig(
    `{ channels: {
      telegram: { botToken: "1:t" }, slack: { botToken: "t" }, discord: { botToken: "t" }, imessage: {}, log: {},
      mattermost: { apiUrl: "http://localhost", botToken: "t" }, signal: { account: "+4915100000000" },
      msteams: { appId: "a", appPassword: "p", tenantId: "t" }, whatsapp: { accessToken: "t", phoneNumberId: "1" },
      ntfy: {}, email: { host: "localhost", from: "a@example.com" },
    } }`,
    {},
  ).channels,
  { log: pino({ level: "silent" }), env: {} },
);
