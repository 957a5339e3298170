import { globSync, readFileSync } from "node:fs";
import { expect } from "chai";
import type { Schema } from "mongoose";
import { generatedDocs } from "../../../script/docs.ts";
import { PROGRESS, RuleSchema } from "../../../src/config/notify.ts";
import { deliverySchema } from "../../../src/models/deliveries/delivery.ts";
import { jobSchema } from "../../../src/models/jobs/job.ts";
import { alertSchema } from "../../../src/models/notifications/alert.ts";
import {
  ANY_NOTIFICATION_TYPES,
  aboutOf,
  NOTIFICATION_TYPES,
  NOTIFICATIONS,
  subjectPath,
} from "../../../src/shared/notifications/catalogue.ts";
import type { NotificationData } from "../../../src/workers/notify/notification.ts";
import { notificationText } from "../../../src/workers/notify/notificationText.ts";
import { notificationTitle } from "../../../src/workers/notify/notificationTitle.ts";

const CATALOGUE = "src/shared/notifications/catalogue.ts";

describe("the catalogue of notifications", () => {
  it("has the types that rules can name in the configuration", () => {
    expect(RuleSchema.properties.on.items.enum).to.deep.equal([...NOTIFICATION_TYPES, PROGRESS]);
    expect(ANY_NOTIFICATION_TYPES).to.deep.equal([...NOTIFICATION_TYPES, "test"]);
  });

  for (const [place, schema, path] of [
    ["notes", jobSchema, "notes.type"],
    ["deliveries", deliverySchema, "event.type"],
    ["summaries", alertSchema, "minute.type"],
  ] as const) {
    it(`has the types that ${place} can have in the database`, () => {
      const { options } = (schema as unknown as Schema).path(path);
      expect(options).to.have.deep.property("enum", ANY_NOTIFICATION_TYPES);
    });
  }

  it("has the titles and default texts of messages", () => {
    const at = new Date("2026-01-31T18:30:00.000Z");
    for (const type of ANY_NOTIFICATION_TYPES) {
      const { title, text, example } = NOTIFICATIONS[type];
      const data = example as NotificationData;

      expect(notificationTitle({ type, data }), type).to.match(new RegExp(`^\\S.* ${title}$`));
      expect(notificationText({ type, at, data }, undefined, undefined), type).to.equal(
        text(example as never, at).join("\n\n"),
      );
    }
  });

  it("has the rows, examples and texts of the reference, in its order", () => {
    const page = generatedDocs()["docs/reference/notification-events.md"] ?? "";
    const rows = [...page.matchAll(/^\| \[`(.+?)`\]\(#.+?\) \| (.+) \|$/gm)].map(([, type, when]) => [type, when]);
    const examples = [...page.matchAll(/^## .+\n\n```json\n([\s\S]+?)```/gm)].map(([, json]) => JSON.parse(json ?? ""));

    expect(rows).to.deep.equal(Object.entries(NOTIFICATIONS).map(([type, { when }]) => [type, when]));
    expect(examples.map(({ type, data }) => [type, data])).to.deep.equal(
      ANY_NOTIFICATION_TYPES.map((type) => {
        const example = NOTIFICATIONS[type].example as NotificationData;
        return [type, { ...example, url: `https://jobs.example.com${subjectPath(type, example)}` }];
      }),
    );
  });

  it("is the only list of types: no other file names types about three kinds of subjects", () => {
    const files = globSync(["src/**/*.{ts,tsx}", "script/**/*.{ts,mjs}"]);
    const lists = files.filter((file) => {
      const source = readFileSync(file, "utf8");
      const named = NOTIFICATION_TYPES.filter((type) => source.includes(`"${type}"`));
      return new Set(named.map(aboutOf)).size >= 3;
    });

    expect(lists).to.deep.equal([CATALOGUE]);
  });
});
