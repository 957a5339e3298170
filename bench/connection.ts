import { once } from "node:events";
import { connect, type Socket } from "node:net";

/** One request of the load. */
export interface WorkRequest {
  readonly method: "GET" | "PUT" | "POST" | "DELETE";
  readonly path: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

/** Maximum wait for a response. A longer one means that the service hangs. */
const TIMEOUT_MS = 60_000;
const HEAD_END = "\r\n\r\n";

/** Encodes a request for a keep-alive connection. */
function encodeRequest({ method, path, headers, body }: WorkRequest, host: string): Buffer {
  const all = {
    Host: host,
    Connection: "keep-alive",
    ...headers,
    ...(body !== undefined && { "Content-Length": Buffer.byteLength(body) }),
  };
  const lines = [`${method} ${path} HTTP/1.1`, ...Object.entries(all).map(([name, value]) => `${name}: ${value}`)];
  return Buffer.from(`${lines.join("\r\n")}${HEAD_END}${body ?? ""}`);
}

/**
 * An HTTP connection that sends one request at a time. Node's own client uses several times as much processor time,
 * which the load takes from the measured services. Responses must have a Content-Length, or the status 204.
 */
export class Connection {
  readonly #socket: Socket;
  readonly #host: string;
  #received: Buffer = Buffer.alloc(0);
  #waiting: PromiseWithResolvers<string> | undefined;

  private constructor(socket: Socket, host: string) {
    this.#socket = socket;
    this.#host = host;
    const fail = (error: Error) => this.#waiting?.reject(error);
    socket.on("data", (chunk) => this.#read(chunk));
    socket.on("error", fail);
    socket.on("close", () => fail(new Error("the service closed a connection")));
    socket.setTimeout(TIMEOUT_MS, () => socket.destroy(new Error(`no response within ${TIMEOUT_MS} ms`)));
  }

  static async open(url: string): Promise<Connection> {
    const { hostname, port, host } = new URL(url);
    const socket = connect({ host: hostname, port: Number(port), noDelay: true });
    await once(socket, "connect");
    return new Connection(socket, host);
  }

  /** Returns the body of the response when all of it has arrived. @throws Error when its status is not 2xx */
  send(request: WorkRequest): Promise<string> {
    this.#waiting = Promise.withResolvers();
    this.#socket.write(encodeRequest(request, this.#host));
    return this.#waiting.promise;
  }

  close(): void {
    this.#socket.destroy();
  }

  #read(chunk: Buffer): void {
    this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk]);
    const headEnd = this.#received.indexOf(HEAD_END);
    if (headEnd === -1) return;
    const head = this.#received.toString("latin1", 0, headEnd);
    const isEmpty = head.startsWith("HTTP/1.1 204 ");
    const length = isEmpty ? "0" : /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
    if (length === undefined) {
      this.#waiting?.reject(new Error(`a response without Content-Length: ${head}`));
      return;
    }
    const bodyStart = headEnd + HEAD_END.length;
    if (this.#received.length < bodyStart + Number(length)) return;
    const isOk = head.startsWith("2", "HTTP/1.1 ".length);
    const body = this.#received.toString("utf8", bodyStart);
    this.#received = Buffer.alloc(0);
    if (isOk) this.#waiting?.resolve(body);
    else this.#waiting?.reject(new Error(`${head.split("\r\n", 1)[0]}: ${body}`));
  }
}
