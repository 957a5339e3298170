import { once } from "node:events";
import { expect } from "chai";
import { EventStream, formatLiveEvent } from "../../../src/api/live/eventStream.ts";

const event = (n: number) => formatLiveEvent("job", { n, filling: "x".repeat(10_000) });
/** Reads everything that the stream has buffered. */
const take = (stream: EventStream): string => (stream.read() as string | null) ?? "";

describe("EventStream", () => {
  it("send: writes the events together, with the position after the last one", () => {
    const stream = new EventStream();

    stream.send([formatLiveEvent("job", { jobId: "a\nb" }), formatLiveEvent("job", { jobId: "c" })], "5-1");

    expect(take(stream)).to.equal(
      'retry: 2000\n\nevent: job\ndata: {"jobId":"a\\nb"}\n\nevent: job\ndata: {"jobId":"c"}\nid: 5-1\n\n',
    );
  });

  it("send: limits the buffer of a client that reads nothing, and sends it a reload once it reads", async () => {
    const stream = new EventStream();

    for (let n = 0; n < 1_000; n++) stream.send([event(n)], `${n}-0`);
    const buffered = stream.readableLength;
    const received = take(stream) + take(stream);
    stream.send([event(1_000)], "1000-0");
    const after = take(stream);

    expect(buffered).to.be.below(300_000);
    expect(received).to.include('"n":0').and.not.include('"n":100,');
    expect(received.endsWith('event: reload\ndata: {"reason":"behind"}\nid: 999-0\n\n')).to.equal(true);
    expect(after).to.include('"n":1000').and.include("id: 1000-0");
  });

  it("sendHeartbeat: sends the position to resume at, unless events are buffered", () => {
    const stream = new EventStream();
    take(stream);

    stream.sendHeartbeat("7-0");
    const heartbeat = take(stream);
    stream.sendHeartbeat(null);
    const unknown = take(stream);
    stream.send([event(1)], "8-0");
    stream.sendHeartbeat("9-0");

    expect(heartbeat).to.equal(":\nid: 7-0\n\n");
    expect(unknown).to.equal(":\n\n");
    expect(take(stream)).to.not.include("9-0");
  });

  it("sendHeartbeat: ends the stream of a client that reads nothing, but not of a slow one", () => {
    const [idle, slow] = [new EventStream(), new EventStream()];
    const over = { idle: false, slow: false };
    idle.once("over", () => {
      over.idle = true;
    });
    slow.once("over", () => {
      over.slow = true;
    });

    const overAfter = [1, 2, 3, 4, 5].map((n) => {
      slow.send([event(n)], `${n}-0`);
      take(slow);
      slow.send([event(n)], `${n}-1`);
      for (const stream of [idle, slow]) stream.sendHeartbeat("9-0");
      return over.idle;
    });

    expect(overAfter).to.deep.equal([false, false, false, true, true]);
    expect(over.slow).to.equal(false);
  });

  it("end: ends the stream, and nothing is written after it", async () => {
    const stream = new EventStream();
    stream.end();
    stream.send([event(1)], "1-0");
    stream.sendHeartbeat("2-0");
    stream.end();

    const text = take(stream);
    stream.resume();
    await once(stream, "end");

    expect(text).to.equal("retry: 2000\n\n");
  });
});
