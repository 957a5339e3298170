import { spawn, spawnSync } from "node:child_process";
import { createHmac } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect } from "chai";
import { Webhook } from "standardwebhooks";
import { documentBlocks } from "../support/documentBlocks.ts";

const PAGE = "docs/how-to/verify-webhooks.md";
const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const OTHER = "whsec_b3RoZXItc2VjcmV0LW9mLTI0LWJ5dGVz";
/** A body whose characters have different numbers of bytes. */
const BODY = '{"type":"job.failed","data":{"job":{"message":"größer 😀"}}}';

interface Case {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The programs of the page: reads cases as JSON from standard input and prints a list of booleans. */
interface Language {
  readonly name: string;
  readonly file: string;
  readonly command: readonly string[];
  /** Returns the whole program around the block of the page. */
  program(block: string): string;
}

const LANGUAGES: readonly Language[] = [
  {
    name: "js",
    file: "verify.mjs",
    command: [process.execPath],
    program: (block) => `${block}
import { text } from "node:stream/consumers";
const cases = JSON.parse(await text(process.stdin));
console.log(JSON.stringify(cases.map(({ headers, body }) => isGenuine(headers, Buffer.from(body)))));
`,
  },
  {
    name: "py",
    file: "verify.py",
    command: ["python3"],
    program: (block) => `${block}
import json, sys
print(json.dumps([is_genuine(one["headers"], one["body"].encode()) for one in json.load(sys.stdin)]))
`,
  },
  {
    name: "go",
    file: "verify.go",
    command: ["go", "run"],
    program: (block) => `package main
import ("crypto/hmac"; "crypto/sha256"; "encoding/base64"; "encoding/json"; "fmt"; "net/http"; "os"; "strconv"; "strings"; "time")
${block}
func main() {
	var cases []struct { Headers map[string]string; Body string }
	if err := json.NewDecoder(os.Stdin).Decode(&cases); err != nil { panic(err) }
	results := []bool{}
	for _, one := range cases {
		header := http.Header{}
		for name, value := range one.Headers { header.Set(name, value) }
		results = append(results, isGenuine(header, []byte(one.Body)))
	}
	json.NewEncoder(os.Stdout).Encode(results)
}
`,
  },
];

/** Go is optional on the machines that run the tests. */
const INSTALLED = LANGUAGES.filter(({ name }) => name !== "go" || !spawnSync("go", ["version"]).error);

describe("the programs that verify webhooks", function () {
  this.timeout(180_000); // The first build with Go compiles its standard library.
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "signalbox-verify-"));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  for (const { name, file, command, program } of INSTALLED) {
    it(`accept what is signed with the secret, now, and nothing else: ${name}`, async () => {
      const block = documentBlocks(PAGE).find(({ language }) => language === name)?.code ?? "";
      writeFileSync(join(folder, file), program(block));
      const genuine = signed(new Date());
      const signature = genuine.headers["webhook-signature"] ?? "";
      const changed = (headers: Record<string, string | undefined>, body = BODY): Case => ({
        headers: JSON.parse(JSON.stringify({ ...genuine.headers, ...headers })),
        body,
      });
      const minutesAway = (minutes: number) => new Date(Date.now() + minutes * 60_000);

      const accepted = [
        genuine,
        signed(minutesAway(-4)),
        signed(minutesAway(4)),
        changed({ "webhook-signature": `${signed(new Date(), OTHER).headers["webhook-signature"]} ${signature}` }),
      ];
      const refused = [
        changed({}, BODY.replace("failed", "stale")),
        changed({ "webhook-id": "other" }),
        changed({ "webhook-id": undefined }),
        changed({ "webhook-timestamp": String(Number(genuine.headers["webhook-timestamp"]) + 1) }),
        changed({ "webhook-timestamp": undefined }),
        changed({ "webhook-timestamp": "soon" }),
        changed({ "webhook-timestamp": "" }),
        changed({ "webhook-signature": undefined }),
        changed({ "webhook-signature": "" }),
        changed({ "webhook-signature": signature.replace("v1,", "v2,") }),
        changed({ "webhook-signature": signature.slice("v1,".length) }),
        changed({ "webhook-signature": `${signature.slice(0, -1)}é` }),
        changed({ "webhook-signature": "v1," }),
        signed(new Date(), OTHER),
        signed(minutesAway(-6)),
        signed(minutesAway(6)),
      ];

      expect(await run([...command, join(folder, file)], [...accepted, ...refused])).to.deep.equal([
        ...accepted.map(() => true),
        ...refused.map(() => false),
      ]);
    });
  }

  it("are given the same signature by the package standardwebhooks", () => {
    const { headers, body } = signed(new Date());

    expect(new Webhook(SECRET).verify(body, { ...headers })).to.deep.equal(JSON.parse(body));
  });
});

/** Returns a request that is signed as the specification says. */
function signed(at: Date, secret = SECRET): Case {
  const [id, time] = ["msg_2KWPBgLlAfxdpx2AI54pPJ85f4W", String(Math.floor(at.getTime() / 1_000))];
  const key = Buffer.from(secret.slice("whsec_".length), "base64");
  const digest = createHmac("sha256", key).update(`${id}.${time}.${BODY}`).digest("base64");
  return {
    headers: { "webhook-id": id, "webhook-timestamp": time, "webhook-signature": `v1,${digest}` },
    body: BODY,
  };
}

async function run([program = "", ...args]: readonly string[], cases: readonly Case[]): Promise<unknown> {
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, LC_ALL: "C.UTF-8", NOTIFY_SECRET: SECRET };
  const child = spawn(program, args, { env, stdio: ["pipe", "pipe", "inherit"] });
  child.stdin.end(JSON.stringify(cases));
  const [stdout, [code]] = await Promise.all([text(child.stdout), once(child, "close")]);
  expect(code).to.equal(0);
  return JSON.parse(stdout);
}
