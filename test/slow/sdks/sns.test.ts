import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, globalAgent } from "node:https";
import type { AddressInfo } from "node:net";
import { promisify } from "node:util";
import { expect } from "chai";
import MessageValidator from "sns-validator";
import { type Message, SNS_PEM, signed } from "../../support/hooks/snsMessages.ts";

const TLS = readFileSync("test/fixtures/localhost.pem", "utf8");
const CERTIFICATE = SNS_PEM.slice(SNS_PEM.indexOf("-----BEGIN CERTIFICATE"));

/** The library fetches the certificate from a local server with TLS. */
describe("the signatures with which the tests send messages of Amazon SNS", () => {
  const server = createServer({ key: TLS, cert: TLS }, (_, res) => res.end(CERTIFICATE));
  const before_ = globalAgent.options.ca;
  let url: string;
  before(async () => {
    await once(server.listen(0), "listening");
    globalAgent.options.ca = TLS;
    url = `https://localhost:${(server.address() as AddressInfo).port}/certificate.pem`;
  });
  after(() => {
    globalAgent.options.ca = before_;
    server.closeAllConnections();
    server.close();
  });

  for (const SignatureVersion of ["1", "2"]) {
    it(`are accepted by the library of AWS, which refuses another text (version ${SignatureVersion})`, async () => {
      const validator = new MessageValidator(/^localhost:\d+$/);
      const validate = (message: Message) =>
        promisify((done: (error: Error | null) => void) => validator.validate(message, done))();
      const message = signed({
        Type: "Notification",
        MessageId: "22b80b92",
        TopicArn: "arn:aws:sns:eu-central-1:123456789012:alarms",
        Subject: "Disk full",
        Message: "Grüße 💶",
        Timestamp: "2026-11-25T20:00:00.000Z",
        SignatureVersion,
        SigningCertURL: url,
      });

      await validate(message);
      const refused = await validate({ ...message, Message: "another" }).catch((error: Error) => error.message);
      expect(refused).to.match(/signature/i);
    });
  }
});
