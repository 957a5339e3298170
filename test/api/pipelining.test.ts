import type { IncomingMessage, ServerResponse } from "node:http";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { expect } from "chai";
import { type HttpServer, listen } from "../../src/api/server.ts";

describe("requests that a client sends on one connection without waiting for responses", () => {
  let server: HttpServer;
  /** The requests that are in flight, and the most of them at any time. */
  const inFlight: [IncomingMessage, ServerResponse][] = [];
  let most = 0;
  let started = 0;
  const respond = () => inFlight.shift()?.[1].end(`<${++started}>`);
  beforeEach(async () => {
    [most, started] = [0, 0];
    server = await listen(
      (req, res) => {
        most = Math.max(most, inFlight.push([req, res]));
        req.resume().once("end", () => setImmediate(respond));
      },
      { port: 0, host: "127.0.0.1", isStopping: () => false, idleGraceMs: 1 },
    );
  });
  afterEach(async () => {
    inFlight.length = 0;
    await server.close();
  });

  /** Sends requests with bodies at once. Returns all data until the service closes the connection. */
  function send(count: number): Promise<string> {
    const socket = connect(Number(new URL(server.url).port), "127.0.0.1");
    socket.on("error", () => {}); // The service may close it during a write.
    const request = (headers: string) => `POST / HTTP/1.1\r\nHost: a\r\n${headers}Content-Length: 2\r\n\r\n{}`;
    socket.write(request("").repeat(count - 1) + request("Connection: close\r\n"));
    return text(socket);
  }

  it("are handled one after the other, and answered in their order", async () => {
    const answered = await send(100);

    expect(answered.match(/<\d+>/g)).to.deep.equal(Array.from({ length: 100 }, (_, i) => `<${i + 1}>`));
    expect(most).to.equal(1);
  });

  it("are handled apart from those of other connections", async () => {
    await Promise.all([send(3), send(3), send(3)]);

    expect(started).to.equal(9);
  });

  it("end the connection once more than a hundred wait", async () => {
    const answered = await send(1_000);

    expect(answered).to.equal("");
    expect(most).to.equal(1);
    expect(await send(1)).to.include("<");
  });
});
