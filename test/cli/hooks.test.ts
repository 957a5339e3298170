import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { runInProcess } from "../support/cli.ts";
import { ENCODINGS } from "../support/encodings.ts";

describe("signalbox hooks test", () => {
  let dir: string;
  let env: Record<string, string>;
  before(() => {
    dir = mkdtempSync(join(tmpdir(), "signalbox-hooks-"));
    const write = (name: string, text: string) => writeFileSync(join(dir, name), text);
    write(
      "signalbox.json5",
      `{ hooks: { transformsDir: ".", presets: ["gmail"], mappings: [
        { match: { path: "ci" }, name: "CI", messageTemplate: "{{headers.x-event}} of {{branch}} {{query.n}}", instructions: "Be brief." },
        { match: { path: "alert" }, transform: { module: "alert.ts" } },
        { match: { path: "mail" }, forEach: "payload", messageTemplate: "{{item.event}}" },
        { match: { path: "sourced", source: "crm" }, messageTemplate: "x" },
        { match: { path: "whens", when: { "payload.branch": ["dev", "next"] } }, messageTemplate: "x" },
        { match: { path: "typo" }, name: "T", messageTemplate: "On {{brnach}} {{nothing.here}}" },
        { match: { path: "blank" }, messageTemplate: "{{brnach}}" },
        { match: { path: "broken" }, transform: { module: "broken.js" } },
      ] } }`,
    );
    write(
      "alert.ts",
      `export default ({ payload }: { payload: { text?: string } }) => {
        console.log("looked at it");
        return payload.text === undefined ? null : { kind: "wake", text: payload.text };
      };`,
    );
    write("broken.js", "export default () => {\n  throw new TypeError('no such thing');\n};");
    write("body.json", '{ "branch": "main", "text": "down" }');
    write("mails.json", '{ "messages": [{ "id": "1", "from": "Ada", "subject": "Hi" }, { "from": "Bob" }] }');
    write("number.json", '{ "branch": 9007199254740993 }');
    write("empty.json", "{}");
    write("list.json", '[{ "event": "open" }, { "event": "click" }]');
    write("text.json", '"text"');
    env = { SIGNALBOX_CONFIG: join(dir, "signalbox.json5") };
  });
  after(() => rmSync(dir, { recursive: true }));
  const run = (args: string, body: string) =>
    runInProcess(["hooks", "test", ...args.split(" "), "--body", join(dir, body)], env);

  it("prints the prompt of a mapping and sends nothing", async () => {
    const { code, stdout } = await run("ci --header x-event:push --query n=2", "body.json");

    expect(code).to.equal(0);
    expect(stdout).to.match(/^mapping +ci\nkind +agent\nname +CI\nsessionKey +a new session\n/);
    expect(stdout).to.match(/\n\nBe brief\.\n\nOutside content follows[\s\S]*">>>\npush of main 2\n<<</);
  });

  it("names the placeholders that had no value", async () => {
    const { stdout } = await run("typo", "body.json");
    const json = await run("typo --json", "body.json");

    expect(stdout).to.include("2 placeholders had no value: brnach (did you mean branch?), nothing.here.");
    expect(JSON.parse(json.stdout).missingValues).to.deep.equal([
      { path: "brnach", didYouMean: "branch" },
      { path: "nothing.here", didYouMean: null },
    ]);
  });

  it("names the condition that was not met with the value of the body", async () => {
    const { code, stdout } = await run("whens", "body.json");

    expect(code).to.equal(0);
    expect(stdout).to.include('whens does not match: payload.branch is "main", not one of "dev", "next"\n');
  });

  it("parses the body as the service does, without rounding large numbers", async () => {
    const { stdout } = await run("ci", "number.json");

    expect(stdout).to.include(" of 9007199254740993 ");
  });

  for (const [encoding, encode] of ENCODINGS)
    it(`reads a body in ${encoding}`, async () => {
      writeFileSync(join(dir, "encoded.json"), encode('{ "branch": "Größe" }'));

      const { code, stdout } = await run("ci", "encoded.json");

      expect(code).to.equal(0);
      expect(stdout).to.include(" of Größe ");
    });

  it("refuses a body in another encoding, and names the fix", async () => {
    writeFileSync(join(dir, "encoded.json"), Buffer.from('{ "branch": "Größe" }', "latin1"));

    const { code, stderr } = await run("ci", "encoded.json");

    expect(code).to.equal(1);
    expect(stderr).to.match(
      /^The body cannot be read from .* \(it is neither UTF-8 nor UTF-16; save it as UTF-8\)\.\n$/,
    );
  });

  it("runs the transform and prints its output on standard error", async () => {
    const event = await run("alert --json", "body.json");
    const dropped = await run("alert --json", "empty.json");

    expect(JSON.parse(event.stdout)).to.deep.equal({
      mapping: "alert",
      kind: "wake",
      name: "alert",
      text: "down",
      mode: "now",
      missingValues: [],
    });
    expect(event.stderr).to.equal("looked at it\n");
    expect(JSON.parse(dropped.stdout)).to.deep.equal({ mapping: "alert", kind: "dropped" });
  });

  it("prints one run for each item of forEach", async () => {
    const { stdout } = await run("gmail --json", "mails.json");

    const runs = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(runs.map(({ sessionKey }) => sessionKey)).to.deep.equal(["hook:gmail:1", "a new session"]);
    expect(runs[0].prompt).to.include("New mail from Ada\nSubject: Hi\n");
  });

  it("takes an array as the body, and makes one run of each item for forEach payload", async () => {
    const { stdout } = await run("mail --json", "list.json");

    const prompts = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line).prompt as string);
    expect(prompts.map((prompt) => /">>>\n(.*)\n<<</.exec(prompt)?.[1])).to.deep.equal(["open", "click"]);
  });

  const refused = [
    ["broken", "body.json", /^broken failed \(transform_failed\): .*TypeError at broken\.js:2:\d+: no such thing/],
    ["blank", "body.json", /^blank failed \(mapping_failed\): message .*\nPlaceholders without a value: brnach\.$/],
    ["nobody", "body.json", /^No mapping has the name nobody\. See hooks\.mappings/],
    ["cii", "body.json", /^No mapping has the name cii\. Did you mean ci\? See/],
    ["sourced", "body.json", /^No mapping with the name sourced has the source of this body/],
    ["gmail", "empty.json", /^The body has no array messages/],
    ["ci", "text.json", /^The body in .*text\.json is not a JSON object or array\.$/],
    ["gmail", "list.json", /^The body has no array messages/],
    ["ci", "missing.json", /^The body cannot be read from .*missing\.json \(ENOENT\)\.$/],
  ] as const;
  for (const [args, body, words] of refused) {
    it(`explains in one sentence what is wrong with ${args} and ${body}, and exits with 1`, async () => {
      const { code, stderr } = await run(args, body);

      expect(code).to.equal(1);
      expect(stderr.trim()).to.match(words);
    });
  }
});
