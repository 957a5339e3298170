import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import Router from "@koa/router";
import { expect } from "chai";
import Koa from "koa";
import { fake } from "sinon";
import { mountDocs } from "../../../src/api/reference/docs.ts";
import type { OpenApi } from "../../../src/api/reference/document.ts";

describe("GET /openapi.json", () => {
  it("creates the document once, at the first request: this takes longer than the rest of a start", async () => {
    const createDocument = fake.returns({ openapi: "3.1.0" } as unknown as OpenApi);
    const router = new Router();
    mountDocs(router, createDocument);
    const before = createDocument.callCount;
    const server = createServer(new Koa().use(router.routes()).callback()).listen(0, "127.0.0.1");
    await once(server, "listening");
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/openapi.json`;

    const bodies = [await (await fetch(url)).json(), await (await fetch(url)).json()];
    server.closeAllConnections();
    server.close();

    expect([before, createDocument.callCount]).to.deep.equal([0, 1]);
    expect(bodies).to.deep.equal([{ openapi: "3.1.0" }, { openapi: "3.1.0" }]);
  });
});
