import { parseExpressionAt, type Token } from "acorn";
import { expect } from "chai";
import fc from "fast-check";
import JSON5 from "json5";
import { editJson5, type Json5Edit } from "../../../src/cli/configFile/json5Edit.ts";
import { runs } from "../../support/random.ts";

const GMAIL = { account: "ada@example.org", topic: "projects/p/topics/t" };
const block = (value: unknown): Json5Edit => ({ path: ["hooks", "gmail"], value });
const account = (value: unknown): Json5Edit => ({ path: ["hooks", "gmail", "account"], value });
const preset = (at: number): Json5Edit => ({ path: ["hooks", "presets", at], value: "gmail" });

const cases: [title: string, before: string, edits: Json5Edit[], after: string][] = [
  [
    "adds behind the comments of a section, with its indentation and its trailing comma",
    `{\n    // why\n    hooks: {\n        enabled: true, // on\n        //token: "x",\n    },\n}\n`,
    [block(GMAIL)],
    `{\n    // why\n    hooks: {\n        enabled: true, // on\n        //token: "x",\n        gmail: {\n            account: "ada@example.org",\n            topic: "projects/p/topics/t",\n        },\n    },\n}\n`,
  ],
  [
    "puts the comma before a comment, and no trailing one where there was none",
    `{\n\thooks: {\n\t\tenabled: true /* yes */ // really\n\t}\n}`,
    [account("a@b.c")],
    `{\n\thooks: {\n\t\tenabled: true, /* yes */ // really\n\t\tgmail: {\n\t\t\taccount: "a@b.c",\n\t\t}\n\t}\n}`,
  ],
  [
    "keeps a single line a single line, with its quotes",
    `{ hooks: { token: 'a', presets: [ 'gmail' /* all */ ] } }`,
    [account("a@b.c")],
    `{ hooks: { token: 'a', presets: [ 'gmail' /* all */ ], gmail: { account: 'a@b.c' } } }`,
  ],
  [
    "writes plain JSON into plain JSON, with its line ends",
    `{\r\n  "hooks": {\r\n    "enabled": true\r\n  }\r\n}\r\n`,
    [account("a@b.c"), preset(0)],
    `{\r\n  "hooks": {\r\n    "enabled": true,\r\n    "gmail": {\r\n      "account": "a@b.c"\r\n    },\r\n    "presets": ["gmail"]\r\n  }\r\n}\r\n`,
  ],
  ["fills what is empty", "// head\n{}\n", [preset(0)], `// head\n{\n  hooks: {\n    presets: ["gmail"],\n  },\n}\n`],
  ["appends to a list", "{ hooks: { presets: [], }, }", [preset(0)], `{ hooks: { presets: ["gmail"], }, }`],
  [
    "replaces a value alone, the last of those with one key",
    `{ hooks: { gmail: { account: "x", "acc\\u006funt": /* me */ '\${MINE}', }, }, }`,
    [account("a@b.c")],
    `{ hooks: { gmail: { account: "x", "acc\\u006funt": /* me */ "a@b.c", }, }, }`,
  ],
  [
    "takes out a key with its line, and leaves the comments",
    `{\n  hooks: {\n    gmail: {\n      // mine\n      account: "x",\n      label: "INBOX", // what else\n      topic: "t"\n    },\n  },\n}`,
    [account(undefined), { path: ["hooks", "gmail", "label"], value: undefined }],
    `{\n  hooks: {\n    gmail: {\n      // mine\n       // what else\n      topic: "t"\n    },\n  },\n}`,
  ],
];

describe("editJson5", () => {
  for (const [title, before, edits, after] of cases) {
    it(title, () => expect(editJson5(before, edits)).to.equal(after));
  }

  it("rejects a text that is not JSON5, and an impossible path", () => {
    expect(() => editJson5("{ hooks: }", [preset(0)])).to.throw(SyntaxError);
    expect(() => editJson5("{ hooks: 'none' }", [preset(0)])).to.throw();
    expect(() => editJson5("{ hooks: { presets: { } } }", [preset(0)])).to.throw();
  });

  it("sets exactly the desired values in any file and keeps every comment and other token", () => {
    fc.assert(
      fc.property(files, edits, (text, wanted) => {
        const presets = JSON5.parse(text).hooks?.presets?.length ?? 0;
        const all = [...wanted, preset(presets)];

        const edited = editJson5(text, all);

        const hooks = JSON5.parse(text).hooks ?? {};
        const gmail = { ...hooks.gmail, ...Object.fromEntries(wanted.map(({ path, value }) => [path.at(-1), value])) };
        const changed = { ...hooks, gmail, presets: [...(hooks.presets ?? []), "gmail"] };
        expect(JSON5.parse(edited)).to.deep.equal({ ...JSON5.parse(text), hooks: changed });
        expect(parse(edited).comments).to.deep.equal(parse(text).comments);
        const after = parse(edited).tokens.map((token) => token.text);
        expect(isWithin(kept(text, wanted), after)).to.equal(true);
      }),
      runs(1_000),
    );
  });
});

it("editJson5: removes keys from any file and adds nothing", () => {
  fc.assert(
    fc.property(files, fc.constantFrom(...KEYS), (text, gone) => {
      const edited = editJson5(text, [
        account(0),
        account(undefined),
        { path: ["hooks", "gmail", gone], value: undefined },
      ]);

      const { hooks = {}, ...rest } = JSON5.parse(text);
      const { account: _, [gone]: __, ...gmail } = hooks.gmail ?? {};
      expect(JSON5.parse(edited)).to.deep.equal({ ...rest, hooks: { ...hooks, gmail } });
      expect(isWithin(parse(edited).comments, parse(text).comments)).to.equal(true);
    }),
    runs(500),
  );
});

const KEYS = ["account", "label", "topic"];

const edits = fc
  .uniqueArray(fc.constantFrom(...KEYS), { minLength: 1 })
  .chain((keys) => fc.tuple(...keys.map((key) => fc.tuple(fc.constant(key), fc.string({ unit: "binary" })))))
  .map((pairs) => pairs.map(([key, value]): Json5Edit => ({ path: ["hooks", "gmail", key], value })));

/** Any text that is allowed between two tokens. */
const gap = fc
  .array(
    fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom(" ", "\n", "\t", "\n  ", "\r\n", "\u00a0", "\ufeff", "\u2028", "\n\n") },
      fc.stringMatching(/^[a-z"'{}[\],:/ ]*$/).map((words) => `//${words}\n`),
      fc.stringMatching(/^[a-z"'{}[\],:\n ]*$/).map((words) => `/*${words}*/`),
    ),
    { maxLength: 3 },
  )
  .map((parts) => parts.join(""));

const texts = fc
  .tuple(fc.string(), fc.constantFrom('"', "'"))
  .map(([text, quote]) => JSON5.stringify(text, { quote }))
  .chain((text) =>
    fc.constantFrom(text, `${text.slice(0, -1)}\\\n${text.at(-1)}`, `${text[0]}\\u0061\\x62\\v${text.slice(1)}`),
  );

const scalars = fc.oneof(
  fc.constantFrom("null", "true", "0x1F", "-Infinity", "+.5e3", "NaN", "5.", "'${NAME}'", '"https://x//y"', "''"),
  texts,
);

const list = (items: fc.Arbitrary<string>) => enclosed("[", items, "]");

const key = (name: string) => fc.constantFrom(name, `"${name}"`, `'${name}'`, `\\u${hex(name)}${name.slice(1)}`);
const hex = (text: string) => text.charCodeAt(0).toString(16).padStart(4, "0");

const entry = (names: fc.Arbitrary<string>, value: fc.Arbitrary<string>) =>
  fc.tuple(names.chain(key), gap, gap, value).map(([name, before, after, item]) => `${name}${before}:${after}${item}`);

const object = (entries: fc.Arbitrary<string>) => enclosed("{", entries, "}");

function enclosed(open: string, items: fc.Arbitrary<string>, close: string): fc.Arbitrary<string> {
  const spaced = fc.tuple(gap, items, gap).map((parts) => parts.join(""));
  return fc
    .tuple(fc.array(spaced, { maxLength: 4 }), fc.boolean(), gap)
    .map(([all, comma, end]) => `${open}${all.join(",")}${comma && all.length > 0 ? "," : ""}${end}${close}`);
}

const { any } = fc.letrec<{ any: string }>((tie) => ({
  any: fc.oneof(
    { depthSize: "small" },
    scalars,
    list(tie("any")),
    object(entry(fc.constantFrom("a", "$b", "_c", "hooks", "null"), tie("any"))),
  ),
}));

const other = entry(fc.constantFrom("a", "$b", "if", "mappings"), any);
const gmail = object(fc.oneof(other, entry(fc.constantFrom(...KEYS), scalars)));
const hooks = object(fc.oneof(other, entry(fc.constant("gmail"), gmail), entry(fc.constant("presets"), list(scalars))));
const files = fc
  .tuple(gap, object(fc.oneof(other, entry(fc.constant("hooks"), hooks))), gap)
  .map((parts) => parts.join(""));

interface Node {
  readonly start: number;
  readonly end: number;
  readonly properties: readonly { key: { name?: string; value?: unknown }; value: Node }[];
}

function parse(text: string) {
  const comments: string[] = [];
  const all: Token[] = [];
  const options = {
    ecmaVersion: 2022,
    onComment: (_: boolean, words: string) => comments.push(words),
    onToken: all,
  } as const;
  // in brackets, so that it is read on to the last comment
  const { elements } = parseExpressionAt(`[${text}]`, 0, options) as unknown as { elements: Node[] };
  const tokens = all.map(({ start, end }) => ({ start, end, text: `[${text}]`.slice(start, end) }));
  return { root: elements[0], comments, tokens };
}

/** The tokens without those of the values that are replaced. */
function kept(text: string, wanted: readonly Json5Edit[]): string[] {
  const { root, tokens } = parse(text);
  const last = (node: Node | undefined, name: unknown) =>
    node?.properties.findLast(({ key }) => (key.name ?? key.value) === name)?.value;
  const block = last(last(root, "hooks"), "gmail");
  const gone = wanted.flatMap(({ path }) => last(block, path.at(-1)) ?? []);
  const isKept = ({ start }: { start: number }) => !gone.some((node) => start >= node.start && start < node.end);
  return tokens.filter(isKept).map((token) => token.text);
}

function isWithin(part: readonly string[], whole: readonly string[]): boolean {
  let at = 0;
  for (const one of whole) if (one === part[at]) at++;
  return at === part.length;
}
