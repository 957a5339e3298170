import { expect } from "chai";
import { type ConfigError, findDuplicateKeys, parseConfig } from "../../src/config/load.ts";

const cases: readonly (readonly [title: string, text: string, expected: readonly string[]])[] = [
  ["a section", "{ server: { port: 1 },\n server: { host: 'a' } }", ["server (lines 1 and 2)"]],
  ["a key of a section", "{ server: { port: 1, port: 2 } }", ["server.port (line 1)"]],
  ["a key with and without quotes", "{ 'log': {}, log: {} }", ["log (line 1)"]],
  ["a key written with an escape", "{ log: {}, 'l\\u006fg': {} }", ["log (line 1)"]],
  ["a key in a list", "{ hooks: { mappings: [{}, { id: 'a',\nid: 'b' }] } }", ["hooks.mappings.1.id (lines 1 and 2)"]],
  ["a key that is there three times", "{ log: {}, log: {},\nlog: {} }", ["log (line 1)"]],
  ["nothing", "{ a: { b: 1 }, b: { a: 1 } } // a: 2", []],
  ["nothing in a file that is no JSON5", "{ a: ", []],
  ["nothing in an empty file", "", []],
];

describe("findDuplicateKeys()", () => {
  for (const [title, text, expected] of cases) {
    it(`finds ${title}`, () => {
      const found = findDuplicateKeys(text).map(({ key, lines }) => `${key} (${lines})`);

      expect(found).to.deep.equal(expected);
    });
  }
});

describe("parseConfig", () => {
  const problemsOf = (text: string): readonly string[] => {
    try {
      parseConfig(text, {});
      return [];
    } catch (error) {
      return (error as ConfigError).problems;
    }
  };

  it("names a block that is written twice (D15)", () => {
    expect(problemsOf('{ server: { port: 1 },\n  server: { host: "127.0.0.1" } }')).to.deep.equal([
      "server is written twice (lines 1 and 2), and only the last one would be used: keep one, or merge them",
    ]);
  });

  it("leaves out the faults between keys that only follow from a block that is written twice", () => {
    const text = `{ hooks: { token: "a-hook-token-of-length" }, hooks: { enabled: true } }`;

    expect(problemsOf(text)).to.have.length(1);
  });
});
