import { expect } from "chai";
import fc from "fast-check";
import { parseConfig } from "../../src/config/load.ts";
import { mappedRuns } from "../../src/hooks/mappings/mappedRuns.ts";
import { compileMappings, type HookCall } from "../../src/hooks/mappings/mapping.ts";
import { renderCall } from "../../src/hooks/templates/render.ts";
import { CURSOR_PATTERN, decodeCursor } from "../../src/models/db/cursor.ts";
import { ID_CURSOR_PATTERN, olderThan } from "../../src/models/db/idCursor.ts";
import { AppError } from "../../src/shared/errors.ts";
import { parseTemplate, renderTemplate, TemplateError, type TemplateScope } from "../../src/shared/text/template.ts";
import { cases, runs, TIMES } from "../support/random.ts";

const NOW = new Date("2026-03-04T05:06:07.089Z");

const PIECES = [
  ...[
    "{{",
    "}}",
    "{",
    "}",
    ".",
    "[",
    "]",
    "[0]",
    "[01]",
    '["',
    '"]',
    "['",
    "']",
    '"',
    "'",
    " ",
    "\n",
    "\u00a0",
    "a",
    "b",
    "ü",
    "\ud800",
  ],
  ...[
    "payload",
    "headers",
    "query",
    "path",
    "now",
    "item",
    "__proto__",
    "constructor",
    "length",
    "toString",
    "$",
    "\0",
    "💥",
    "{{a}}",
  ],
];
const template = fc.array(fc.constantFrom(...PIECES), { maxLength: 14 }).map((parts) => parts.join(""));
/** Mostly templates that can be parsed. */
const path = fc
  .array(
    fc.constantFrom("a", "b", "payload", "headers", "query", "item", "__proto__", "constructor", "length", "toString"),
    {
      minLength: 1,
      maxLength: 4,
    },
  )
  .map((names) => `{{${names.join(".")}}}`);
const nearly = fc.array(fc.oneof(path, fc.constantFrom("", "{{now}}", "{{path}}", "{{payload}}", "x", "{{ a[0] }}")), {
  maxLength: 5,
});

const payload = fc.dictionary(
  fc.constantFrom("a", "b", "item", "items", "source", "__proto__", "constructor", "length"),
  fc.jsonValue(),
  {
    maxKeys: 5,
  },
);
const scopeWith = (value: Record<string, unknown>): TemplateScope => ({
  payload: value,
  headers: { a: "h", b: ["1", "2"] },
  query: { a: "q" },
  path: "ci",
  now: NOW,
  item: { value: value.item },
});

describe("random templates, transform results and cursors", function () {
  this.timeout(60_000 * (1 + TIMES));

  it("parse a template or refuse it with the position, and render a text no longer than the values that it reads", () => {
    let parsed = 0;
    fc.assert(
      fc.property(
        fc.oneof(
          template,
          nearly.map((parts) => parts.join("")),
        ),
        payload,
        (text, body) => {
          let made: ReturnType<typeof parseTemplate>;
          try {
            made = parseTemplate(text);
          } catch (error) {
            expect(error).to.be.instanceOf(TemplateError);
            expect((error as Error).message).to.match(/^line \d+, column \d+: /);
            return;
          }
          parsed++;
          const { text: rendered } = renderTemplate(made, scopeWith(body));

          const most = JSON.stringify(body).length + 64;
          expect(rendered.length).to.be.at.most(text.length + made.length * most);
          expect(rendered).to.not.match(/\[native code\]|\[object Object\]/);
        },
      ),
      runs(1_000),
    );
    expect(parsed).to.be.above(cases(250));
  });

  it("parse or refuse a template of a megabyte like one of a line", () => {
    for (const piece of [...PIECES, "{{a.", '{{["', "{{a[0]", "{{a}} ", "{{ "]) {
      const text = piece.repeat(1_000_000 / piece.length);
      try {
        renderTemplate(parseTemplate(text), scopeWith({ a: "x" }));
      } catch (error) {
        expect(error, piece).to.be.instanceOf(TemplateError);
      }
    }
  });

  it("turn any body and any transform result into a valid request, or name the invalid field", () => {
    const cyclic: Record<string, unknown> = {};
    cyclic.message = cyclic;
    const odd = fc.constantFrom<unknown>(
      ...[
        undefined,
        null,
        Number.NaN,
        1n,
        new Date(0),
        new Date(Number.NaN),
        new Map([["a", 1]]),
        new Uint8Array(3),
        cyclic,
        [],
      ],
      ...["", " ", "main", "a\0b", "x".repeat(70_000), "\ud800", -1, 1e308, true, { length: 1 }, new Error("x"), /x/],
    );
    const fields = [
      "kind",
      "message",
      "text",
      "mode",
      "name",
      "sessionKey",
      "wakeMode",
      "deliver",
      "channel",
      "to",
      "model",
      "thinking",
    ];
    const answer = fc.oneof(
      fc.dictionary(fc.constantFrom(...fields, "timeoutSeconds", "__proto__", "x"), fc.oneof(odd, fc.jsonValue()), {
        maxKeys: 4,
      }),
      odd,
      fc.jsonValue(),
    );
    const options = fc.record(
      {
        action: fc.constantFrom("agent", "wake"),
        messageTemplate: nearly.map((parts) => parts.join("") || "x"),
        textTemplate: path,
        name: path,
        sessionKey: path.map((text) => `hook:${text}`),
        to: path,
        forEach: fc.constantFrom("items", "a", "__proto__"),
      },
      { requiredKeys: [] },
    );
    // The configuration refuses options that the action never reads.
    const mapping = options.map(({ messageTemplate, textTemplate, sessionKey, to, ...rest }) =>
      rest.action === "wake"
        ? { ...rest, ...(textTemplate !== undefined && { textTemplate }) }
        : {
            ...rest,
            ...(messageTemplate !== undefined && { messageTemplate }),
            ...(sessionKey !== undefined && { sessionKey }),
            ...(to !== undefined && { to }),
          },
    );
    let made = 0;
    fc.assert(
      fc.property(mapping, payload, fc.option(answer, { freq: 1 }), (given, body, answered) => {
        const { hooks } = parseConfig(
          JSON.stringify({
            hooks: { enabled: true, token: "a-hook-token-of-length", mappings: [{ match: { path: "ci" }, ...given }] },
          }),
          {},
        );
        const [compiled] = compileMappings(hooks);
        if (!compiled) throw new Error("there is one");
        const call: HookCall = { headers: { a: "h" }, url: "/hooks/ci", path: "ci", query: {}, payload: body };
        const outcome =
          answered === null ? ({ kind: "kept" } as const) : ({ kind: "result", value: answered } as const);
        try {
          const { runs, shared } = mappedRuns(compiled, call, hooks, NOW);
          for (const { mapped } of runs) {
            const one = JSON.parse(mapped.call ?? shared?.call ?? "") as HookCall;
            if (shared) Object.assign(one.payload, { [shared.forEach]: [JSON.parse(mapped.item ?? "")] });
            if (renderCall(compiled, one, NOW, outcome) !== null) made++;
          }
        } catch (error) {
          if (!(error instanceof AppError)) throw error;
          expect(error.code).to.be.oneOf(["mapping_failed", "transform_failed", "invalid_body"]);
          expect(error.message).to.match(/^.+ (is|must) |^The transform must/s);
        }
      }),
      runs(1_000),
    );
    expect(made).to.be.above(cases(50));
  });

  it("accept every well-formed cursor as a place in the list", () => {
    fc.assert(
      fc.property(
        fc.stringMatching(new RegExp(CURSOR_PATTERN)),
        fc.stringMatching(new RegExp(ID_CURSOR_PATTERN)),
        (one, other) => {
          expect(decodeCursor(one).createdAt.getTime()).to.be.a("number").and.not.NaN;
          const { createdAt } = olderThan<{ createdAt: Date }>(other) as { createdAt: { $lte: Date } };
          expect(createdAt.$lte.getTime()).to.be.a("number").and.not.NaN;
        },
      ),
      runs(300),
    );
  });
});
