import { expect } from "chai";
import { namesSeveralHosts, readClusterUrl, serverUrlFault } from "../../../src/shared/queue/redisAddress.ts";

describe("readClusterUrl", () => {
  const a = { host: "a", port: 6379 };
  const read: [string, object][] = [
    ["redis://a", { nodes: [a], tls: false }],
    ["redis://a,b:7000/", { nodes: [a, { host: "b", port: 7000 }], tls: false }],
    [
      "rediss://a,10.0.0.1,[::1]:1/0",
      { nodes: [a, { host: "10.0.0.1", port: 6379 }, { host: "::1", port: 1 }], tls: true },
    ],
    ["rediss://user:p%40:,%25@a", { nodes: [a], username: "user", password: "p@:,%", tls: true }],
    ["redis://:pw@a,b", { nodes: [a, { host: "b", port: 6379 }], password: "pw", tls: false }],
    ["redis://user@a", { nodes: [a], username: "user", tls: false }],
  ];
  for (const [url, address] of read) {
    it(`parses ${url}`, () => {
      expect(readClusterUrl(url)).to.deep.equal(address);
    });
  }

  it("namesSeveralHosts: returns true for a comma between hosts, not for one in a password", () => {
    const urls = ["redis://a,b", "redis://u:p,w@a", "redis://:p@a,b/0", "redis://a/1?b=c,d"];

    expect(urls.map(namesSeveralHosts)).to.deep.equal([true, false, true, false]);
  });
});

describe("serverUrlFault", () => {
  const good = ["redis://a", "rediss://user:p%40@a:1/", "redis://:p,w@[::1]:6379/15", "redis://a/0?family=6"];
  for (const url of good) {
    it(`accepts ${url}`, () => {
      expect(serverUrlFault(url)).to.equal(null);
    });
  }

  const bad = [
    ["redis://:pw@a:999999", "must look like"],
    ["redis://a/abc", "must look like"],
    ["redis://a/1/2", "must look like"],
    ["redis://", "must look like"],
    ["redis://:pa%zz@a", "% is not followed by two"],
  ] as const;
  for (const [url, fault] of bad) {
    it(`refuses ${url}`, () => {
      expect(serverUrlFault(url)).to.include(fault).and.to.not.include("pw");
    });
  }
});
