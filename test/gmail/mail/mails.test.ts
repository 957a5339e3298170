import { expect } from "chai";
import { readMail } from "../../../src/gmail/mail/mail.ts";
import { expectLinearTime } from "../../support/linearTime.ts";
import { MAILS, type MailSample } from "./mails.ts";
import { type RawMail, rawMail } from "./rawMail.ts";

const read = (raw: string, maxBytes = 20_000) =>
  readMail({ id: "m", threadId: "t", payload: rawMail(raw) }, { includeBody: true, maxBytes });

/** Checks what holds for every mail, whatever its body may be: clean text that ends within the limit. */
function checkMail(raw: string): void {
  const whole = read(raw);
  const texts = [whole.from, whole.to, whole.subject, whole.body ?? ""];
  expect(texts.join("").isWellFormed()).to.equal(true);
  expect(texts.join("")).to.not.match(/(?![\n\t])\p{Cc}/u);
  expect([whole.from, whole.to, whole.subject].join("")).to.not.include("\n");
  expect([whole.from, whole.to, whole.date]).to.deep.equal([
    "Ada <ada@example.org>",
    "bob@example.org",
    "2026-11-20T09:00:00.000Z",
  ]);
  for (const maxBytes of [0, 1, 10, 30]) {
    expect(Buffer.byteLength(read(raw, maxBytes).body ?? "")).to.be.at.most(maxBytes);
  }
}

function checkBody({ raw, shown, hidden = [] }: MailSample): void {
  const { body = "" } = read(raw);
  let at = 0;
  for (const text of shown) {
    expect(body.slice(at)).to.include(text);
    at = body.indexOf(text, at) + text.length;
  }
  for (const text of hidden) expect(body).to.not.include(text);
  if (shown.length === 0) expect(body).to.equal("");
}

describe("A mail", () => {
  for (const mail of MAILS) {
    it(`with ${mail.what} is read as its reader sees it`, () => {
      expect(read(mail.raw).subject).to.equal(mail.subject);
      checkBody(mail);
      checkMail(mail.raw);
    });
  }

  it("is read wherever it is cut off", () => {
    for (const { raw, what } of MAILS) {
      const head = raw.indexOf("MIME-Version");
      for (let length = head; length < raw.length; length += 7) {
        expect(() => checkMail(raw.slice(0, length)), `${what}, cut at ${length}`).to.not.throw();
      }
    }
  });

  it("is read in linear time when its texts are repeated", () => {
    for (const { raw, what } of MAILS) {
      const mail = rawMail(raw);
      const options = { includeBody: true, maxBytes: 1_000 };
      expectLinearTime((bytes) => readMail({ payload: withLongTexts(mail, bytes) }, options), 65_536, what);
    }
  });
});

/** Returns a mail whose texts are repeated up to a length. */
function withLongTexts(part: RawMail, bytes: number): RawMail {
  const { data, size } = part.body;
  if (part.parts) return { ...part, parts: part.parts.map((each) => withLongTexts(each, bytes)) };
  if (!data) return part;
  const repeated = Buffer.from(data, "base64url")
    .toString("latin1")
    .repeat(Math.ceil(bytes / size));
  return { ...part, body: { size: repeated.length, data: Buffer.from(repeated, "latin1").toString("base64url") } };
}
