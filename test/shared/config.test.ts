import { expect } from "chai";
import { ConfigError, parseConfig } from "../../src/shared/config.ts";

function problemsOf(text: string | undefined, env: Record<string, string> = {}): readonly string[] {
  try {
    parseConfig(text, env);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

describe("parseConfig", () => {
  it("gives every default without a file", () => {
    const config = parseConfig(undefined, {});

    expect(config.server).to.include({ port: 3000, host: "127.0.0.1", bodyLimit: 4_194_304, trustProxy: 0 });
    expect(config.jobs.staleAfterSeconds).to.equal(900);
    expect(config.retention).to.deep.equal({});
    expect(config.mongodb.uri).to.equal(undefined);
  });

  it("reads JSON5 and lets the environment win", () => {
    const file = "{ server: { port: 4000, host: '127.0.0.2' }, /* kept */ retention: { completedAfter: '30d' }, }";

    const config = parseConfig(file, {
      PORT: "5000",
      MONGODB_URI: "mongodb://db/x",
      LOG_LEVEL: "debug",
      WEB_CONCURRENCY: "2",
    });

    expect(config.server).to.include({ port: 5000, host: "127.0.0.2", concurrency: 2 });
    expect(config.retention.completedAfter).to.equal("30d");
    expect(config.mongodb.uri).to.equal("mongodb://db/x");
    expect(config.log.level).to.equal("debug");
  });

  it("takes an empty environment variable as none", () => {
    expect(parseConfig(undefined, { PORT: "", HOST: "" }).server).to.include({ port: 3000, host: "127.0.0.1" });
  });

  it("fills ${NAME} in, also into numbers and booleans, and never twice", () => {
    const file = "{ server: { apiToken: '${TOKEN}-${TOKEN}', port: '${P}', allowUnauthenticated: '${YES}' } }";

    const { server } = parseConfig(file, { TOKEN: "long-enough-${P}", P: "4001", YES: "true" });

    expect(server).to.include({
      apiToken: "long-enough-${P}-long-enough-${P}",
      port: 4001,
      allowUnauthenticated: true,
    });
  });

  it("is frozen all through", () => {
    const config = parseConfig(undefined, {}) as unknown as { server: { port: number } };

    expect(() => {
      config.server.port = 1;
    }).to.throw(TypeError);
  });

  const refused: [string, string, Record<string, string>, RegExp][] = [
    ["an unknown key", "{ server: { prot: 1 } }", {}, /^server\.prot is not a known key; did you mean server\.port\?$/],
    ["an unknown section", "{ servers: {} }", {}, /^servers is not a known key; did you mean server\?$/],
    ["a missing variable", "{ dataDir: '${NOWHERE}' }", {}, /^dataDir: the environment variable NOWHERE is not set$/],
    ["a wrong type", "{ server: { port: 'many' } }", {}, /^server\.port must be integer$/],
    ["a number as text", "{ server: { port: '81' } }", {}, /^server\.port must be integer$/],
    ["null", "{ server: null }", {}, /^server must be object$/],
    ["a wrong variable", "{}", { PORT: "many" }, /^PORT \(server\.port\) must be integer$/],
    ["a port out of range", "{}", { PORT: "70000" }, /^PORT \(server\.port\) must be <= 65535$/],
    ["an unknown level", "{ log: { level: 'loud' } }", {}, /^log\.level must be one of trace, debug/],
    [
      "a duration without a unit",
      "{ retention: { failedAfter: '30' } }",
      {},
      /^retention\.failedAfter must look like 30d$/,
    ],
    ["a short token", "{ server: { apiToken: 'short' } }", {}, /^server\.apiToken must have at least 16 characters$/],
    [
      "a body limit above what MongoDB holds",
      "{ server: { bodyLimit: 16000000 } }",
      {},
      /^server\.bodyLimit must be <= 5242880$/,
    ],
    [
      "a bind beyond loopback without a token",
      "{}",
      { HOST: "0.0.0.0" },
      /^server\.host is 0\.0\.0\.0.*server\.apiToken/,
    ],
    ["what is not JSON5", "{ server: ", {}, /^it is not valid JSON5/],
    ["what is no object", "[]", {}, /^it must hold one object$/],
  ];
  for (const [title, file, env, problem] of refused) {
    it(`refuses ${title}`, () => {
      const problems = problemsOf(file, env);

      expect(problems).to.have.length(1);
      expect(problems[0]).to.match(problem);
    });
  }

  it("names every problem at once", () => {
    const problems = problemsOf("{ servr: {}, log: { level: 'loud' }, dataDir: '${NOWHERE}' }", {
      PORT: "x",
      HOST: "0.0.0.0",
    });

    expect(problems).to.have.length(5);
  });

  const allowed: [string, string][] = [
    ["a token", "{ server: { host: '0.0.0.0', apiToken: 'sixteen-letters!' } }"],
    ["allowUnauthenticated", "{ server: { host: '0.0.0.0', allowUnauthenticated: true } }"],
    ["IPv6 loopback", "{ server: { host: '::1' } }"],
    ["another loopback address", "{ server: { host: '127.1.2.3' } }"],
  ];
  for (const [title, file] of allowed) {
    it(`allows a bind with ${title}`, () => {
      expect(problemsOf(file)).to.deep.equal([]);
    });
  }
});
