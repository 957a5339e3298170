import { expect } from "chai";
import { localUrl, networkOf } from "../../src/shared/address.ts";

const cases: readonly (readonly [title: string, address: string, expected: string])[] = [
  ["an IPv4 address as it is", "192.0.2.7", "192.0.2.7"],
  ["the /64 of an IPv6 address", "2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
  ["the /64 of a compressed address", "2001:db8::7", "2001:db8:0:0::/64"],
  ["the /64 of a compressed address with an early gap", "fe80::1:2:3:4", "fe80:0:0:0::/64"],
  ["the same /64 for another way to write it", "2001:0DB8:0001:0002::", "2001:db8:1:2::/64"],
  ["the /64 of an address with a zone", "fe80::1%eth0", "fe80:0:0:0::/64"],
  ["the IPv4 address of a mapped one", "::ffff:192.0.2.7", "192.0.2.7"],
  ["the IPv4 address of a mapped one in hexadecimal", "::ffff:c000:207", "192.0.2.7"],
  ["loopback as a network", "::1", "0:0:0:0::/64"],
  ["a text that is no address as it is", "unknown", "unknown"],
];

describe("networkOf()", () => {
  for (const [title, address, expected] of cases) {
    it(`returns ${title}`, () => {
      expect(networkOf(address)).to.equal(expected);
    });
  }
});

describe("localUrl()", () => {
  for (const [host, basePath, expected] of [
    ["127.0.0.1", undefined, "http://127.0.0.1:3000"],
    ["0.0.0.0", undefined, "http://127.0.0.1:3000"],
    ["::", undefined, "http://[::1]:3000"],
    ["fe80::7", "/signalbox", "http://[fe80::7]:3000/signalbox"],
    ["signalbox.internal", "/signalbox", "http://signalbox.internal:3000/signalbox"],
  ] as const) {
    it(`reaches a service that listens on ${host}${basePath ? " below a path" : ""} at ${expected}`, () => {
      expect(localUrl({ host, port: 3000, ...(basePath && { basePath }) })).to.equal(expected);
    });
  }
});
