import { globSync, readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { resolve } from "node:path";
import { createContext, runInContext } from "node:vm";
import { type Literal, parse } from "acorn";
import { expect } from "chai";
import { ConfigSchema } from "../../../src/config/config.ts";
import { startApp } from "../../support/app.ts";

/** Length of the texts that are matched. An expression that backtracks takes the square of it, some seconds, or for ever. */
const LENGTH = 100_000;
/** A linear expression takes a few milliseconds. */
const LIMIT_MS = 2_000;
const COMMON = ["a", "0", " ", "\n", "-", "_", ".", "/", ":", "<", "é"];

/**
 * Returns the characters for which an expression is slow on a text of them alone, with another one at its end so that the
 * match fails late.
 */
function faults({ source, flags }: { source: string; flags: string }): string[] {
  const expression = new RegExp(source, flags);
  const characters = new Set([...COMMON, ...source.replaceAll(/\\./g, "").replaceAll(/[\\()[\]{}?+*|^$]/g, "")]);
  return [...characters].flatMap((character) => {
    const context = createContext({ expression, text: `${character.repeat(LENGTH)}\0` });
    try {
      runInContext("expression.lastIndex = 0; expression.test(text)", context, { timeout: LIMIT_MS });
      return [];
    } catch {
      return [`/${source}/${flags} on ${JSON.stringify(character)}`];
    }
  });
}

const sources = globSync("src/**/*.{ts,mjs}");
const codeOf = (path: string) => {
  const text = readFileSync(path, "utf8");
  return parse(path.endsWith(".ts") ? stripTypeScriptTypes(text) : text, {
    ecmaVersion: "latest",
    sourceType: "module",
    allowHashBang: true,
  });
};

function literals(node: unknown): NonNullable<Literal["regex"]>[] {
  if (typeof node !== "object" || node === null) return [];
  const { type, regex } = node as Partial<Literal>;
  return type === "Literal" && regex ? [regex] : Object.values(node).flatMap(literals);
}

/** The expressions that a file builds from texts when it is loaded. */
async function made(path: string): Promise<RegExp[]> {
  const found: RegExp[] = [];
  const { RegExp: original } = globalThis;
  globalThis.RegExp = new Proxy(original, {
    construct(target, args, newTarget) {
      const one = Reflect.construct(target, args, newTarget);
      if (new Error().stack?.split("\n")[2]?.includes(path)) found.push(one);
      return one;
    },
  });
  try {
    await import(`${resolve(path)}?again`);
  } finally {
    globalThis.RegExp = original;
  }
  return found;
}

function patterns(schema: unknown): string[] {
  if (typeof schema !== "object" || schema === null) return [];
  const { pattern, patternProperties } = schema as { pattern?: unknown; patternProperties?: object };
  const own = [...(typeof pattern === "string" ? [pattern] : []), ...Object.keys(patternProperties ?? {})];
  return [...own, ...Object.values(schema).flatMap(patterns)];
}

describe("the time of a regular expression is linear in the length of the text (ReDoS)", () => {
  it("for those in the sources", () => {
    const all = sources.flatMap((path) => literals(codeOf(path)));

    const reported = all.flatMap(({ pattern, flags }) => faults({ source: pattern, flags }));

    expect(all).to.have.length.above(150);
    expect(reported).to.deep.equal([]);
  });

  it("for those that are built from texts", async () => {
    // The first use patterns of the schema, which are checked below; the next one that of the person at the terminal; the others
    // those of questions, whose time is limited.
    const ofQuestions = ["src/api/gates/content.ts", "src/api/gates/requestedSchema.ts"];
    const ofSchema = [
      "src/api/routing/validate.ts",
      "src/cli/arguments.ts",
      "src/cli/commands/service/newToken.ts",
      "src/config/hooks.ts",
    ];
    // This one contains the id of a notice, which no text from outside can have; test/dashboard/data/session/promptParts shows its linear time.
    const ofNotice = "src/dashboard/data/session/promptParts.ts";
    // This one has an anchor and a fixed number of characters, so that it reads each of them once.
    const ofLength = "src/shared/text/text.ts";
    // The beginnings of words are letters, digits and marks only, behind an anchor.
    const ofWords = "src/models/jobs/search/jobFilter.ts";
    // The characters of a token, with colours of a terminal between them: neither begins like the other.
    const ofTokens = "src/shared/text/sanitizeText.ts";
    const others = [
      ...ofSchema,
      ofWords,
      ofTokens,
      "src/cli/commands/jobs/run/runProgram.ts",
      ...ofQuestions,
      ofNotice,
      ofLength,
    ].map((path) => resolve(path));
    const paths = sources.filter((path) => /new RegExp\(/.test(readFileSync(path, "utf8")));
    const all: RegExp[] = [];
    for (const path of paths.filter((one) => !others.includes(resolve(one)))) {
      const found = await made(path);
      expect(found, path).to.have.length.above(0);
      all.push(...found);
    }

    expect(all.flatMap(faults)).to.deep.equal([]);
  });

  it("for those that validate bodies, addresses and the configuration", async () => {
    const app = await startApp();
    const { body } = await app.call("GET", "/openapi.json");
    await app.close();

    const all = new Set([...patterns(body), ...patterns(ConfigSchema)]);

    expect(all.size).to.be.above(10);
    expect([...all].flatMap((source) => faults({ source, flags: "u" }))).to.deep.equal([]);
  });

  it("as the check finds for one that is not", () => {
    expect(faults(/^(a+)+$/)).to.have.length(1);
    expect(faults(/x*\s+$/)).to.not.be.empty;
  });
});
