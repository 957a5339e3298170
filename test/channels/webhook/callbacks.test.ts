import type { LookupAddress } from "node:dns";
import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { networkInterfaces } from "node:os";
import { expect } from "chai";
import { isAllowedAddress } from "../../../src/channels/webhook/allowedAddress.ts";
import { type WebhookOutcome, WebhookSender } from "../../../src/channels/webhook/sender.ts";
import { readAllowedHost } from "../../../src/shared/outbound/allowedHosts.ts";
import { readCallbackUrl } from "../../../src/shared/outbound/callbackUrl.ts";
import { answers, type ChannelServer, startChannelServer } from "../../support/servers/channelServer.ts";

const SECRET = `whsec_${Buffer.alloc(24, 7).toString("base64")}`;
const hasIPv6 = Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === "::1"));

/** A server on this machine to which no callback may connect. It counts connections. */
async function startForbidden(
  host: string,
): Promise<{ port: number; connections: () => number; close: () => Promise<unknown> }> {
  let count = 0;
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    count++;
    sockets.push(socket.on("error", () => {}));
    socket.end("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
  }).listen(0, host);
  await once(server, "listening");
  const close = () => {
    for (const socket of sockets) socket.destroy();
    return new Promise((closed) => server.close(closed));
  };
  return { port: (server.address() as { port: number }).port, connections: () => count, close };
}

const found = (...addresses: string[]): LookupAddress[] =>
  addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));

describe("sending to a callbackUrl", () => {
  let forbidden: Awaited<ReturnType<typeof startForbidden>>;
  let receiver: ChannelServer;
  let port: string;
  const senders: WebhookSender[] = [];
  before(async () => {
    forbidden = await startForbidden(hasIPv6 ? "::" : "0.0.0.0");
    receiver = await startChannelServer(answers(200));
    port = new URL(receiver.url).port;
  });
  after(async () => {
    await Promise.all(senders.map((sender) => sender.close()));
    await receiver.close();
    await forbidden.close();
  });
  beforeEach(() => receiver.script());

  function senderFor(allowedHosts: readonly string[] | undefined, resolve?: (name: string) => LookupAddress[]) {
    const lookup = resolve && (async (hostname: string) => resolve(hostname));
    const sender = new WebhookSender({ allowedHosts, ...(lookup && { resolve: lookup }) });
    senders.push(sender);
    return (url: string, signal = new AbortController().signal): Promise<WebhookOutcome> =>
      sender.send(
        {
          url,
          isCallback: true,
          id: "evt_1",
          body: Buffer.from("{}"),
          contentType: "application/json",
          secrets: [SECRET],
          headers: {},
          now: new Date(),
        },
        signal,
      );
  }

  it("reaches an address that the operator has listed with its port", async () => {
    const send = senderFor([`127.0.0.1:${port}`, `localhost:${port}`]);

    expect(await send(`http://127.0.0.1:${port}/done`)).to.deep.equal({ kind: "sent", status: 200 });
    expect(await send(`http://localhost:${port}/done`)).to.deep.equal({ kind: "sent", status: 200 });
    expect(receiver.requests.map(({ path }) => path)).to.deep.equal(["/done", "/done"]);
  });

  it("reaches a name whose loopback address the operator has listed too", async () => {
    const send = senderFor([`ci.example.com:${port}`, `127.0.0.1:${port}`], () => found("127.0.0.1"));

    expect(await send(`http://ci.example.com:${port}/`)).to.deep.equal({ kind: "sent", status: 200 });
    expect(receiver.requests[0]?.headers.host).to.equal(`ci.example.com:${port}`);
  });

  it("connects to the permitted one of a name's addresses", async () => {
    const send = senderFor([`ci.example.com:${port}`, `127.0.0.1:${port}`], () =>
      found("::1", "169.254.169.254", "127.0.0.1"),
    );

    expect(await send(`http://ci.example.com:${port}/`)).to.deep.equal({ kind: "sent", status: 200 });
  });

  const HOSTS = ["ci.example.com", "*.example.net", "*.internal", "203.0.113.9", "[2001:db8::9]"];
  const TRICKS = (at: number) =>
    [
      ...["127.0.0.1", "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "0", "0.0.0.0", "127.0.0.1.", "１２７.0.0.1"],
      ...["[::1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[0:0:0:0:0:0:0:1]", "[::127.0.0.1]"],
      ...[
        "localhost",
        "LOCALHOST",
        "localhost.",
        "x.localhost",
        "example.net",
        "evil-ci.example.com",
        "ci.example.com",
      ],
      ...[
        "ci.example.com@127.0.0.1",
        "203.0.113.9@localhost",
        "ci.example.com%40localhost",
        "ci.example.com\\@localhost",
      ],
      ...["ci%2eexample%2ecom", "ci.example.com%00localhost", "ci.example.com#@localhost", "ci.example.com?@localhost"],
      ...["localhost\\.internal", "local\nhost", "ⓛocalhost", "ci.example.com.", "a.internal."],
    ].map((host) => `http://${host}:${at}/`);

  it("reaches no host that is not allowed, however its address is written, and sends nothing", async () => {
    const send = senderFor(HOSTS, () => found("127.0.0.1"));

    for (const url of TRICKS(forbidden.port)) {
      expect(await send(url), url)
        .to.have.property("kind")
        .that.is.oneOf(["failed", "retry"]);
    }
    expect(forbidden.connections()).to.equal(0);
  });

  it("reaches nothing on this machine through an allowed name, whatever it resolves to", async () => {
    const at = forbidden.port;
    const hosts = [`ci.example.com:${at}`, `*.example.net:${at}`, `*.internal:${at}`];
    const local = [
      "127.0.0.1",
      "127.9.9.9",
      "0.0.0.0",
      "::1",
      "::",
      "::ffff:127.0.0.1",
      "::ffff:7f00:1",
      "::127.0.0.1",
    ];

    for (const address of local) {
      const send = senderFor(hosts, () => found(address));
      for (const name of ["ci.example.com", "a.example.net", "a.internal"]) {
        const outcome = await send(`http://${name}:${at}/`);
        expect(outcome, `${name} at ${address}`).to.deep.include({ kind: "retry", status: null });
        expect(outcome).to.have.property("reason").that.includes("resolves to an address that outbound.allowedHosts");
      }
    }
    expect(forbidden.connections()).to.equal(0);
  });

  it("looks a name up once for each connection and connects to the address that it has checked", async () => {
    let lookups = 0;
    let address = "127.0.0.1";
    const at = forbidden.port;
    const hosts = [`ci.example.com:${port}`, `ci.example.com:${at}`, `127.0.0.1:${port}`];
    const send = senderFor(hosts, () => {
      lookups++;
      const answer = found(address);
      address = "::1";
      return answer;
    });

    expect(await send(`http://ci.example.com:${port}/`)).to.include({ kind: "sent" });
    expect(lookups).to.equal(1);
    expect(await send(`http://ci.example.com:${at}/`)).to.include({ kind: "retry", status: null });
    address = "127.0.0.1";
    expect(await send(`http://ci.example.com:${at}/`)).to.include({ kind: "retry", status: null });
    expect(forbidden.connections()).to.equal(0);
  });

  for (const status of [301, 302, 303, 307, 308]) {
    it(`follows no redirect with ${status} to a host that is not allowed`, async () => {
      receiver.script(answers(status, "", { Location: `http://127.0.0.1:${forbidden.port}/` }));
      const send = senderFor([`127.0.0.1:${port}`]);

      expect(await send(`http://127.0.0.1:${port}/`)).to.deep.include({ kind: "retry", status });
      expect(forbidden.connections()).to.equal(0);
    });
  }

  it("fails for good when the configuration does not allow the host any more, or has no `outbound`", async () => {
    for (const hosts of [["other.example.com"], undefined]) {
      expect(await senderFor(hosts)(`http://127.0.0.1:${port}/`)).to.deep.include({ kind: "failed", status: null });
    }
    expect(receiver.requests).to.deep.equal([]);
  });

  it("counts a connection of its own at the forbidden server, so that the counts above mean something", async () => {
    const send = senderFor([`127.0.0.1:${forbidden.port}`]);

    expect(await send(`http://127.0.0.1:${forbidden.port}/`)).to.deep.equal({ kind: "sent", status: 200 });
    expect(forbidden.connections()).to.equal(1);
  });
});

describe("isAllowedAddress", () => {
  const isAllowed = (address: string, url: string, hosts: readonly string[]) => {
    const callback = readCallbackUrl(url, hosts);
    if ("fault" in callback) return expect.fail(callback.fault);
    return isAllowedAddress(
      address,
      callback,
      hosts.flatMap((entry) => readAllowedHost(entry) ?? []),
    );
  };
  const PUBLIC = ["8.8.8.8", "203.0.114.1", "2606:4700::1111", "::ffff:8.8.8.8"];
  const PRIVATE = ["10.0.0.1", "172.16.0.1", "192.168.1.1", "100.64.0.1", "fd00::1", "::ffff:10.0.0.1"];
  const NEVER = [
    ...[
      "127.0.0.1",
      "0.0.0.0",
      "169.254.169.254",
      "224.0.0.1",
      "255.255.255.255",
      "192.0.2.1",
      "240.0.0.1",
      "::1",
      "::",
    ],
    ...[
      "fe80::1",
      "fe80::1%eth0",
      "fec0::1",
      "ff02::1",
      "64:ff9b::7f00:1",
      "64:ff9b::a9fe:a9fe",
      "2002:7f00:1::1",
      "2001::1",
    ],
    ...["::ffff:169.254.169.254", "::127.0.0.1", "not an address", ""],
    // IPv4 inside of IPv6, and what is not routed.
    ...["::7f00:1", "::a00:1", "::808:808", "::5efe:7f00:1", "64:ff9b:1::7f00:1", "::ffff:0:7f00:1", "4000::1"],
    // The addresses at which clouds answer their machines.
    ...["168.63.129.16", "::ffff:168.63.129.16", "100.100.100.200", "fd00:ec2::254", "fd20:ce::254"],
  ];
  const CASES: [string, string, string[], string[]][] = [
    ["the very name", "http://ci.example.com/", ["ci.example.com"], [...PUBLIC, ...PRIVATE]],
    ["a name without a domain", "http://receiver/", ["receiver"], [...PUBLIC, ...PRIVATE]],
    ["a name below a public domain", "http://a.example.com/", ["*.example.com"], PUBLIC],
    ["a name below `internal`", "http://a.internal/", ["*.internal"], [...PUBLIC, ...PRIVATE]],
    ["a name below a part of `home.arpa`", "http://a.b.home.arpa/", ["*.b.home.arpa"], [...PUBLIC, ...PRIVATE]],
    ["a name that only ends like `internal`", "http://a.myinternal/", ["*.myinternal"], PUBLIC],
    ["a name in the list twice", "http://a.example.com/", ["*.example.com", "a.example.com"], [...PUBLIC, ...PRIVATE]],
    ["localhost", "http://localhost/", ["localhost"], [...PUBLIC, ...PRIVATE, "127.0.0.1", "::1", "::127.0.0.1"]],
    [
      "a listed address",
      "http://a.example.com/",
      ["*.example.com", "10.0.0.1"],
      [...PUBLIC, "10.0.0.1", "::ffff:10.0.0.1"],
    ],
    ["a listed address of another port", "http://a.example.com/", ["*.example.com", "10.0.0.1:81"], PUBLIC],
  ];
  for (const [title, url, hosts, allowed] of CASES) {
    it(`allows for ${title} exactly the permitted ranges`, () => {
      const found = [...PUBLIC, ...PRIVATE, ...NEVER].filter((address) => isAllowed(address, url, hosts));

      expect(found).to.have.members(allowed);
    });
  }
});
