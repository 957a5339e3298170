import { request } from "node:http";
import { text } from "node:stream/consumers";
import { expect } from "chai";
import { useSharedApp } from "../support/useApp.ts";

/** Paths that leave a directory, in forms that pass through normalization. */
const WAYS_UP = [
  "../",
  "..%2f",
  "%2e%2e/",
  "%2e%2e%2f",
  "..%5c",
  "..\\",
  "%252e%252e%252f",
  "....//",
  "..;/",
  ".%00./",
  "%c0%ae%c0%ae/",
];

const PLACES = ["/assets/", "/docs/", "/guide/", "/jobs/", "/", "/hooks/"];

const TARGETS = ["package.json", "src/api/app.ts", "etc/passwd", ".signalbox/hooks-token"];

describe("addresses that lead out of what is served", () => {
  const app = useSharedApp({ config: '{ hooks: { enabled: true, token: "a-hook-token-of-length" } }' });

  /** Sends the path unchanged, which fetch would normalize. */
  const get = (path: string) =>
    new Promise<{ status: number; type: string; body: string }>((resolve, reject) => {
      const { hostname, port } = new URL(app.url);
      const sent = request({ hostname, port, path }, async (answer) => {
        const { statusCode = 0, headers } = answer;
        resolve({ status: statusCode, type: headers["content-type"] ?? "", body: await text(answer) });
      });
      sent.on("error", reject).end();
    });

  for (const place of PLACES) {
    it(`find no file of this machine: ${place}`, async () => {
      for (const way of WAYS_UP) {
        for (const target of TARGETS) {
          for (const up of [1, 3, 8]) {
            const path = `${place}${way.repeat(up)}${target}`;
            const { status, type, body } = await get(path);

            // Every address of the dashboard's pages returns its document.
            if (status === 200) expect([type, place], path).to.deep.equal(["text/html; charset=utf-8", "/jobs/"]);
            else expect(status, path).to.be.oneOf([400, 401, 403, 404, 429]);
            expect(body, path).to.not.match(/"devDependencies"|buildApp|root:x:|^[\w-]{32}$/);
          }
        }
      }
    });
  }

  it("are distinguished from those of existing files", async () => {
    const { body } = await get("/");
    const [, asset = ""] = /src="(\/assets\/[^"]+)"/.exec(body) ?? [];

    expect((await get(asset)).status).to.equal(200);
    expect((await get("/docs/errors")).status).to.equal(200);
  });
});
