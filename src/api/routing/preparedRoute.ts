import type { TObject } from "typebox";
import { toAppError } from "../../shared/errors.ts";
import type { ApiDeps } from "../deps.ts";
import { renameMetadata, takesMetadata } from "../metadataFilter.ts";
import { errorReceiptOf, getsReceipt, receiptOf } from "../receipt.ts";
import type { Answer, Answers, AnyRoute, Input, RouteSchemas } from "./route.ts";
import { strictHandler } from "./strictHandler.ts";
import { bodyCheck, urlCheck } from "./validate.ts";

/** The parts of a request before they are checked. The check converts and completes them in place. */
export interface RawRequest {
  readonly params: object;
  readonly query: Record<string, unknown>;
  readonly headers: object;
  readonly body: unknown;
}

/** A route that is ready to be called, over HTTP or by a tool of MCP. */
export interface PreparedRoute {
  /** Validates a request. @throws AppError invalid_query, invalid_body; they name the field */
  check(request: RawRequest): void;
  /** Calls the handler with a valid request, and adds the entry to the audit log. @throws AppError of the route */
  call(input: Input<RouteSchemas>): Promise<Answer<Answers>>;
}

const EMPTY = { type: "object", properties: {}, additionalProperties: false } as unknown as TObject;

/** Compiles the schemas of a route. @param strict see `RouterOptions` */
export function prepareRoute(r: AnyRoute, deps: ApiDeps, strict: boolean): PreparedRoute {
  const checkParams = urlCheck(r.schemas.params ?? EMPTY);
  const checkQuery = urlCheck(r.schemas.query ?? EMPTY);
  const checkHeaders = r.schemas.headers && urlCheck(r.schemas.headers);
  const checkBody = r.schemas.body && bodyCheck(r.schemas.body);
  const handler = strict ? strictHandler(r) : (input: Input<RouteSchemas>) => r.handler(input, deps);
  return {
    check({ params, query, headers, body }) {
      checkParams(params);
      if (takesMetadata(r)) renameMetadata(query);
      checkQuery(query);
      checkHeaders?.(headers);
      checkBody?.(body);
    },
    async call(input) {
      const { audit } = deps.stores;
      const entry = r.audit?.(input);
      const add = async () => entry && audit.add(input.authContext as never, entry.action, entry.target);
      // what is deleted cannot show it any more: the entry comes first, and goes if nothing was deleted
      const isDeletion = entry?.action.endsWith(".delete") ?? false;
      const early = isDeletion ? await add() : undefined;
      const asReceipt = getsReceipt(input.authContext as never, r);
      const answer = await handler(input, deps).catch(async (thrown: unknown) => {
        const { code } = toAppError(thrown);
        if (early && code !== "unavailable" && code !== "internal") await audit.remove(early).catch(() => {});
        throw asReceipt ? errorReceiptOf(thrown, r) : thrown;
      });
      if (!isDeletion && !answer.changedNothing) await add();
      return asReceipt ? receiptOf(answer, r) : answer;
    },
  };
}
