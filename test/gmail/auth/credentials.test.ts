import { generateKeyPairSync } from "node:crypto";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { isOpenToOthers, readCredentials } from "../../../src/gmail/auth/credentials.ts";
import { StartError } from "../../../src/shared/process/lifecycle.ts";

const CONSENT = { type: "authorized_user", client_id: "id", client_secret: "hidden-1", refresh_token: "hidden-2" };
const { privateKey: private_key } = generateKeyPairSync("rsa", {
  modulusLength: 2048,
  publicKeyEncoding: { type: "spki", format: "pem" },
  privateKeyEncoding: { type: "pkcs8", format: "pem" },
});
const KEY = { type: "service_account", client_email: "robot@p.iam.gserviceaccount.com", private_key };

describe("readCredentials", () => {
  let dir: string;
  let path: string;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), "signalbox-credentials-"));
    path = join(dir, "gmail.json");
  });
  afterEach(() => rmSync(dir, { recursive: true }));

  const write = (value: unknown, mode = 0o600) =>
    writeFileSync(path, typeof value === "string" ? value : JSON.stringify(value), { mode });

  it("reads a consent or a service account's key and drops other fields", () => {
    write({ ...CONSENT, account: "ada@example.org" });
    const consent = readCredentials(path);
    write({ ...KEY, project_id: "p", private_key_id: "1" });

    expect(consent).to.deep.equal(CONSENT);
    expect(readCredentials(path)).to.deep.equal(KEY);
  });

  for (const [fault, value] of [
    ["does not exist", undefined],
    ["is not valid JSON", '{ "type": "authorized_user", hidden'],
    ["does not contain a JSON object", '["hidden"]'],
    ['has no "type" of "authorized_user" or "service_account"', { installed: { client_secret: "hidden" } }],
    ['has no "client_secret"', { ...CONSENT, client_secret: 7 }],
    ['has no "refresh_token"', { ...CONSENT, refresh_token: " " }],
    ['has no "client_email"', { ...KEY, client_email: undefined }],
    ['has a "private_key" that is none', { ...KEY, private_key: "hidden" }],
  ] as const) {
    it(`fails with one sentence without values for a file that ${fault}`, () => {
      if (value !== undefined) write(value);

      expect(() => readCredentials(path)).to.throw(
        StartError,
        `The credentials file ${path} ${fault}: run \`signalbox webhooks gmail setup\`, or name another file in hooks.gmail.credentialsFile.`,
      );
    });
  }

  it("detects a file that is open to other users", () => {
    write(CONSENT);
    const before = isOpenToOthers(path);
    chmodSync(path, 0o640);

    expect([before, isOpenToOthers(path)]).to.deep.equal([false, true]);
  });
});
