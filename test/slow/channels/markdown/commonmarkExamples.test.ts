import { createRequire } from "node:module";
import pino from "pino";
import { openChannels } from "../../../../src/channels/channels.ts";
import { parser } from "../../../../src/channels/markdown/parser.ts";
import { toParts } from "../../../../src/channels/markdown/parts.ts";
import { parseConfig } from "../../../../src/config/load.ts";
import { expectLinearTime } from "../../../support/linearTime.ts";

const require = createRequire(import.meta.url);

interface Example {
  readonly number: number;
  readonly markdown: string;
  readonly html: string;
}

const specification = require("commonmark-spec") as { tests: readonly Example[] };

/** The examples of the specification, which writes tabs as arrows. */
const EXAMPLES: readonly Example[] = specification.tests.map(({ number, markdown, html }) => ({
  number,
  markdown: markdown.replaceAll("→", "\t"),
  html: html.replaceAll("→", "\t"),
}));

const CHANNELS = openChannels(
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

describe("The examples of CommonMark", () => {
  it("are divided into blocks in linear time when they are repeated", () => {
    for (const { number, markdown } of EXAMPLES) {
      const textOf = (length: number) => markdown.repeat(Math.ceil(length / markdown.length));

      expectLinearTime((length) => parser.parse(textOf(length), {}), 8 * 1024, `example ${number}`);
    }
  });

  it("are split into messages in linear time when they follow each other", () => {
    const all = EXAMPLES.map(({ markdown }) => markdown).join("\n\n");
    for (const [name, { style }] of CHANNELS) {
      expectLinearTime((times) => toParts(all.repeat(times), style), 2, name);
    }
  });
});
