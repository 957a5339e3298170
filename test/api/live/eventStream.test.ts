import { once } from "node:events";
import { expect } from "chai";
import { EventStream, eventText } from "../../../src/api/live/eventStream.ts";

const event = (n: number) => eventText("job", { n, filling: "x".repeat(10_000) });
/** What the stream has for its client now. */
const take = (stream: EventStream): string => (stream.read() as string | null) ?? "";

describe("a stream of events", () => {
  it("gives the events of a moment together, and the place to resume with the last", () => {
    const stream = new EventStream();

    stream.send([eventText("job", { jobId: "a\nb" }), eventText("job", { jobId: "c" })], "5-1");

    expect(take(stream)).to.equal(
      'retry: 2000\n\nevent: job\ndata: {"jobId":"a\\nb"}\n\nevent: job\ndata: {"jobId":"c"}\nid: 5-1\n\n',
    );
  });

  it("keeps no more than a bound for a client that takes nothing, and has it read again once it does", async () => {
    const stream = new EventStream();

    for (let n = 0; n < 1_000; n++) stream.send([event(n)], `${n}-0`);
    const kept = stream.readableLength;
    const waited = take(stream) + take(stream);
    stream.send([event(1_000)], "1000-0");
    const after = take(stream);

    expect(kept).to.be.below(300_000);
    expect(waited).to.include('"n":0').and.not.include('"n":100,');
    expect(waited.endsWith('event: reload\ndata: {"reason":"behind"}\nid: 999-0\n\n')).to.equal(true);
    expect(after).to.include('"n":1000').and.include("id: 1000-0");
  });

  it("tells with its heart-beat where to resume, but not before what waits", () => {
    const stream = new EventStream();
    take(stream);

    stream.beat("7-0");
    const beat = take(stream);
    stream.beat(null);
    const unknown = take(stream);
    stream.send([event(1)], "8-0");
    stream.beat("9-0");

    expect(beat).to.equal(":\nid: 7-0\n\n");
    expect(unknown).to.equal(":\n\n");
    expect(take(stream)).to.not.include("9-0");
  });

  it("ends for a client that has taken nothing of what waits for some heart-beats, not for one that has", () => {
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
      for (const stream of [idle, slow]) stream.beat("9-0");
      return over.idle;
    });

    expect(overAfter).to.deep.equal([false, false, false, true, true]);
    expect(over.slow).to.equal(false);
  });

  it("ends, and takes nothing more", async () => {
    const stream = new EventStream();
    stream.end();
    stream.send([event(1)], "1-0");
    stream.beat("2-0");
    stream.end();

    const text = take(stream);
    stream.resume();
    await once(stream, "end");

    expect(text).to.equal("retry: 2000\n\n");
  });
});
