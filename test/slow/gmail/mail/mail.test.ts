import { expect } from "chai";
import fc from "fast-check";
import { htmlToText } from "../../../../src/gmail/mail/htmlToText.ts";
import { readMail } from "../../../../src/gmail/mail/mail.ts";
import { expectLinearTime } from "../../../support/linearTime.ts";

const WHOLE = { includeBody: true, maxBytes: 20_000 };

const base64url = (content: string | Uint8Array) => Buffer.from(content as string).toString("base64url");

/** Creates a part with a body; `type` may include parameters. */
const part = (type: string, content: string | Uint8Array, more: object = {}) => ({
  mimeType: type.split(";")[0],
  filename: "",
  headers: [{ name: "Content-Type", value: type }],
  body: { size: content.length, data: base64url(content) },
  ...more,
});

const bodyOf = (payload: unknown, maxBytes = 20_000) => readMail({ payload }, { includeBody: true, maxBytes }).body;

const headed = (name: string, value: string) => readMail({ payload: { headers: [{ name, value }] } }, WHOLE);

describe("readMail", () => {
  it("reads mails of 20 MB: plain, HTML, open tags or encoded words", () => {
    const size = 20 * 1024 * 1024;
    for (const [type, unit] of [
      ["text/plain", "words "],
      ["text/html", "<b>x"],
      ["text/html", "<"],
      ["text/html", "&amp"],
    ] as const) {
      const body = bodyOf(part(type, unit.repeat(size / unit.length)), 1_000);
      expect(Buffer.byteLength(body!)).to.be.within(900, 1_000);
    }
    expect(headed("subject", "=?a?q?".repeat(size / 6)).subject).to.have.length(2_000);
  });

  it("takes linear time for tags that never end or belong to nothing", () => {
    for (const unit of [
      "<div>",
      "<b>",
      "<p><button>",
      "<li>",
      "<td>",
      "</b>",
      "<a><p>",
      '<i style="font:0 a">',
      "<pre>\n",
    ]) {
      for (const end of ["", "</div>", "</b>", "</p>", "<p>", "</table>"]) {
        expectLinearTime((times) => htmlToText(unit.repeat(times) + end.repeat(times)), 2_500, unit + end);
      }
    }
  }).timeout(120_000);

  it("never throws for any value and returns well-formed text within the limit", () => {
    const content = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.constantFrom("<p>€</p>", "&#xd800;&#0;&#x110000;", "\ud800", "=?utf-8?q?=ff?="),
    );
    const type = fc.constantFrom(
      "text/plain",
      "text/html",
      "multipart/alternative",
      "multipart/mixed",
      "TEXT/HTML ",
      "",
    );
    const header = fc.record({
      name: fc.constantFrom("Content-Type", "subject", "From", "date"),
      value: fc.oneof(content, fc.jsonValue()),
    });
    const { node } = fc.letrec((tie) => ({
      node: fc.record(
        {
          mimeType: fc.oneof(type, fc.jsonValue()),
          filename: fc.constantFrom("", "a.txt"),
          headers: fc.oneof(fc.array(header), fc.jsonValue()),
          body: fc.oneof(
            content.map((text) => ({ data: base64url(text) })),
            fc.record({ size: fc.oneof(fc.double(), fc.integer()), attachmentId: fc.constant("a") }),
            fc.jsonValue(),
          ),
          parts: fc.oneof({ maxDepth: 4 }, fc.constant([]), fc.array(tie("node"), { maxLength: 4 }), fc.jsonValue()),
        },
        { requiredKeys: [] },
      ),
    }));
    const message = fc.oneof(
      fc.jsonValue(),
      fc.record(
        { id: fc.jsonValue(), snippet: fc.oneof(content, fc.jsonValue()), internalDate: fc.jsonValue(), payload: node },
        { requiredKeys: [] },
      ),
    );

    fc.assert(
      fc.property(message, fc.nat(200), (resource, maxBytes) => {
        const mail = readMail(resource, { includeBody: true, maxBytes });

        expect(Buffer.byteLength(mail.body!)).to.be.at.most(maxBytes);
        for (const text of Object.values(mail).flat()) expect(text).to.satisfy((one: string) => one.isWellFormed());
      }),
    );
  });
});
