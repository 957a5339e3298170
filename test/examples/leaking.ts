/** Loaded into a process: whatever it serves over HTTP leaves something behind. */
import { subscribe } from "node:diagnostics_channel";

const BYTES = 500_000;
const left: Buffer[] = [];

subscribe("http.server.request.start", () => left.push(Buffer.alloc(BYTES)));
