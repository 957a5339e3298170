import { hash } from "node:crypto";
import { EventEmitter } from "node:events";
import type { IncomingMessage, Server } from "node:http";
import type { Duplex } from "node:stream";

const GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
const [TEXT, CLOSE, PING] = [1, 8, 9];

/** One connection, as the server of a WebSocket sees it. Emits `text` and `close`. Every message is one short frame. */
export class ServerSocket extends EventEmitter<{ text: [string]; close: [] }> {
  readonly #stream: Duplex;
  #bytes = Buffer.alloc(0);

  constructor(stream: Duplex) {
    super();
    this.#stream = stream;
    stream.on("data", (chunk: Buffer) => this.#read(chunk));
    stream.on("error", () => {});
    stream.on("close", () => this.emit("close"));
  }

  sendText(text: string): void {
    this.#write(TEXT, Buffer.from(text));
  }

  ping(): void {
    this.#write(PING, Buffer.alloc(0));
  }

  /** Ends the connection without a closing handshake, as a network does. */
  destroy(): void {
    this.#stream.destroy();
  }

  #write(opcode: number, body: Buffer): void {
    const length = body.length < 126 ? [body.length] : [126, body.length >> 8, body.length & 255];
    this.#stream.write(Buffer.concat([Buffer.from([0x80 | opcode, ...length]), body]));
  }

  /** Reads frames of the client, which are masked. */
  #read(chunk: Buffer): void {
    this.#bytes = Buffer.concat([this.#bytes, chunk]);
    for (;;) {
      const [first = 0, second = 0] = this.#bytes;
      const isLong = (second & 127) === 126;
      const start = (isLong ? 4 : 2) + 4;
      if (this.#bytes.length < start) return;
      const length = isLong ? this.#bytes.readUInt16BE(2) : second & 127;
      if (this.#bytes.length < start + length) return;
      const mask = this.#bytes.subarray(start - 4, start);
      const body = this.#bytes.subarray(start, start + length).map((byte, i) => byte ^ (mask[i % 4] ?? 0));
      this.#bytes = this.#bytes.subarray(start + length);
      if ((first & 15) === TEXT) this.emit("text", Buffer.from(body).toString());
      if ((first & 15) === CLOSE) {
        this.#write(CLOSE, Buffer.from(body));
        this.#stream.end();
      }
    }
  }
}

/** Accepts WebSocket connections on a server of HTTP. */
export function acceptSockets(server: Server, onSocket: (socket: ServerSocket) => void): void {
  server.on("upgrade", ({ headers }: IncomingMessage, stream: Duplex) => {
    const accept = hash("sha1", `${headers["sec-websocket-key"]}${GUID}`, "base64");
    stream.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
    );
    onSocket(new ServerSocket(stream));
  });
}
