import { expect } from "chai";
import { readCallbackUrl } from "../../../src/shared/outbound/callbackUrl.ts";

const HOSTS = [
  ...["ci.example.com", "*.internal", "Build.Example.org:8443", "*.apps.example.net:8080", "xn--bcher-kva.example"],
  ...["192.0.2.7", "[2001:db8::7]:9000", "localhost:3000", "receiver", "127.1:81"],
];

/** Returns why an address is refused; undefined when it is allowed. */
function faultOf(url: string, hosts: readonly string[] | undefined = HOSTS): string | undefined {
  const read = readCallbackUrl(url, hosts);
  return "fault" in read ? read.fault : undefined;
}

describe("callbackUrl", () => {
  const ALLOWED = [
    ...[
      "http://ci.example.com/a?b=c#d",
      "https://ci.example.com",
      "https://CI.Example.com/",
      "http://ci.example.com:80/",
    ],
    ...[
      "https://a.internal/",
      "https://b.a.internal/x",
      "https://build.example.org:8443/",
      "http://build.example.org:8443/",
    ],
    ...[
      "http://one.apps.example.net:8080/",
      "https://bücher.example/",
      "http://192.0.2.7/",
      "http://[2001:DB8:0:0::7]:9000/",
    ],
    ...["http://localhost:3000/", "http://receiver/", "http://127.0.0.1:81/", "http://2130706433:81/"],
  ];
  for (const url of ALLOWED) it(`allows ${url}`, () => expect(faultOf(url)).to.equal(undefined));

  const NOT_LISTED = [
    ...[
      "http://example.com/",
      "http://evil-ci.example.com/",
      "http://ci.example.com.evil.example/",
      "http://internal/",
    ],
    ...[
      "http://notinternal/",
      "http://ci.example.com:8080/",
      "https://ci.example.com:80/",
      "https://build.example.org/",
    ],
    ...["http://apps.example.net:8080/", "http://one.apps.example.net/", "http://127.0.0.1/", "http://0x7f000001/"],
    ...[
      "http://3221225991:1/",
      "http://[::ffff:192.0.2.7]/",
      "http://[2001:db8::7]/",
      "http://localhost/",
      "http://x.localhost:3000/",
    ],
  ];
  for (const url of NOT_LISTED) {
    it(`does not allow ${url}, and says what the operator must add`, () => {
      const { hostname, port } = new URL(url);
      const missing = JSON.stringify(port ? `${hostname}:${port}` : hostname);
      expect(faultOf(url)).to.include(`the operator must add ${missing} to`);
    });
  }

  const MALFORMED: [string, RegExp][] = [
    ["ci.example.com", /must be an address that begins with http/],
    ["/relative", /must be an address that begins with http/],
    ["//ci.example.com/", /must be an address that begins with http/],
    ["https:ci.example.com", /must be an address that begins with http/],
    ["https:///ci.example.com", /must be an address that begins with http/],
    ["ftp://ci.example.com/", /must be an address that begins with http/],
    ["file:///etc/passwd", /must be an address that begins with http/],
    ["javascript:alert(1)", /must be an address that begins with http/],
    ["https://ci.example.com:99999/", /must be an address that begins with http/],
    [`https://ci.example.com/${"a".repeat(2_048)}`, /of at most 2048 characters/],
    ["https://user@ci.example.com/", /no user name or password/],
    ["https://user:secret@ci.example.com/", /no user name or password/],
    ["https://@ci.example.com/", /no user name or password/],
    ["https://ci.example.com@evil.example/", /no user name or password/],
    ["https://ci.example.com:80@evil.example/", /no user name or password/],
    ["https://ci.example.com\\@evil.example/", /or backslashes/],
    ["https://ci.example.com\\.evil.example/", /no spaces, control characters or backslashes/],
    ["https://ci.example.com /", /no spaces/],
    [" https://ci.example.com/", /no spaces/],
    ["https://ci.exa\nmple.com/", /no spaces, control characters/],
    ["https://ci.example.com/a b", /no spaces/],
    ["https://ci%2eexample.com/", /no percent-encoding in its host/],
    ["https://ci.example.com./", /no dot at the end of its host/],
    ["https://a.internal./", /no dot at the end of its host/],
    ["https://.ci.example.com/", /no empty part between the dots/],
    ["https://..ci.example.com/", /no empty part between the dots/],
    ["https://a\u3002\u3002internal/", /no empty part between the dots/],
  ];
  for (const [url, fault] of MALFORMED) {
    it(`refuses ${JSON.stringify(url).slice(0, 60)}`, () => expect(faultOf(url)).to.match(fault));
  }

  it("is refused without `outbound`", () => {
    const read = readCallbackUrl("https://ci.example.com/", undefined);

    expect(read).to.deep.equal({
      fault: "is not accepted by this service: its operator must set `outbound.allowedHosts`",
    });
  });

  it("matches no entry that stands for no host", () => {
    for (const entry of ["*.1.2.3.4", "ci.example.com:0", "ci.example.com:70000", "*.", "999.1.1.1"]) {
      for (const url of ["http://1.2.3.4/", "http://0.1.2.3.4/", "http://ci.example.com/", "http://a./"]) {
        expect(faultOf(url, [entry]), `${url} by ${entry}`).to.be.a("string");
      }
    }
  });
});
