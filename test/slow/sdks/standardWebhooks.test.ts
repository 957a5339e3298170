import { spawnSync } from "node:child_process";
import { resolve } from "node:path";
import { expect } from "chai";
import { WebhookSender } from "../../../src/channels/webhook/sender.ts";
import { answers, startChannelServer } from "../../support/servers/channelServer.ts";

const SECRETS = [7, 9].map((byte) => `whsec_${Buffer.alloc(24, byte).toString("base64")}`);
const STRANGER = `whsec_${Buffer.alloc(24, 8).toString("base64")}`;

/** Prints for each secret whether the package verifies the request by it. */
const PROGRAM = `
import json, sys
from standardwebhooks.webhooks import Webhook, WebhookVerificationError
one = json.load(sys.stdin)
def verifies(secret):
    try:
        Webhook(secret).verify(one["body"], one["headers"])
        return True
    except WebhookVerificationError:
        return False
print(json.dumps([verifies(secret) for secret in one["secrets"]]))
`;

describe("the webhook sender", () => {
  it("sends what the package standardwebhooks for Python verifies", async () => {
    const receiver = await startChannelServer(answers(204));
    const sender = new WebhookSender();
    const message = {
      url: receiver.url,
      isCallback: false,
      id: "evt_1",
      contentType: "application/json",
      now: new Date(),
      body: Buffer.from('{"text":"größer – 漢字"}'),
      secrets: SECRETS,
      headers: {},
    };
    await sender.send(message, new AbortController().signal);
    const [{ text, headers } = expect.fail("nothing was sent")] = receiver.requests;
    await sender.close();
    await receiver.close();

    const { stdout, stderr } = spawnSync("python3", ["-c", PROGRAM], {
      input: JSON.stringify({ body: text, headers, secrets: [...SECRETS, STRANGER] }),
      env: { ...process.env, PYTHONPATH: resolve(".tools/python") },
      encoding: "utf8",
    });

    expect(stdout.trim(), stderr).to.equal("[true, true, false]");
  });
});
