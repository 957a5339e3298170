import type { TObject, TSchema } from "typebox";
import { toAppError } from "../shared/errors.ts";
import { type Caller, mayDo } from "./auth/caller.ts";
import type { ApiDeps } from "./deps.ts";
import { renameMetadata, takesMetadata } from "./metadataFilter.ts";
import { type Answer, type Answers, type AnyRoute, errorsOf, type Input, type RouteSchemas } from "./route.ts";
import { bodyCheck, compileBody, urlCheck } from "./validate.ts";

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
      const answer = await handler(input, deps).catch(async (thrown: unknown) => {
        const { code } = toAppError(thrown);
        if (early && code !== "unavailable" && code !== "internal") await audit.remove(early).catch(() => {});
        throw thrown;
      });
      if (!isDeletion && !answer.changedNothing) await add();
      return getsReceipt(input.authContext as never, r) ? receiptOf(answer, r) : answer;
    },
  };
}

/** Returns whether a caller receives the receipt of a route in place of its whole response. */
export const getsReceipt = (caller: Pick<Caller, "scopes">, { receipt }: Pick<AnyRoute, "receipt">): boolean =>
  receipt !== undefined && !mayDo(caller, receipt.unless);

/** Returns the fields of a response that its receipt has. */
function receiptOf(answer: Answer<Answers>, { receipt }: Pick<AnyRoute, "receipt">): Answer<Answers> {
  const names = Object.keys(receipt?.schema.properties ?? {});
  const fields = Object.entries(answer.body as object).filter(([name]) => names.includes(name));
  return { ...answer, body: Object.fromEntries(fields) };
}

/**
 * Returns the handler of a route with a check of its response, for tests: a response that does not match the schema of the
 * route, or an error code that the route does not list, is an error of its own.
 */
function strictHandler(r: AnyRoute): (input: Input<RouteSchemas>, deps: ApiDeps) => Promise<Answer<Answers>> {
  const listed = errorsOf(r);
  return async (input, deps) => {
    const answer = await r.handler(input, deps).catch((thrown: unknown) => {
      const { code } = toAppError(thrown);
      if (code !== "internal" && !listed.includes(code))
        throw new Error(`${r.operationId} does not list the error code ${code}`);
      throw thrown;
    });
    if (r.stream || [204, 304].includes(answer.status)) return answer;
    checkBody(r, answer, r.answers[answer.status]);
    if (r.receipt) checkBody(r, receiptOf(answer, r), r.receipt.schema);
    return answer;
  };
}

/** Validates the serialized response, in which undefined properties are absent. @throws Error */
function checkBody({ operationId }: AnyRoute, { status, body }: Answer<Answers>, schema: TSchema | undefined): void {
  const validate = schema && compileBody(schema);
  if (validate?.(JSON.parse(JSON.stringify(body)))) return;
  const faults = validate?.errors?.map(({ instancePath, message }) => `${instancePath} ${message}`);
  throw new Error(
    `${operationId} answered ${status} with a body that does not match its schema: ${faults?.join(", ")}`,
  );
}
