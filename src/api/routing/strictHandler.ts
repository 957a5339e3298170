import type { TSchema } from "typebox";
import { toAppError } from "../../shared/errors.ts";
import type { ApiDeps } from "../deps.ts";
import { receiptOf } from "../receipt.ts";
import { type Answer, type Answers, type AnyRoute, errorsOf, type Input, type RouteSchemas } from "./route.ts";
import { compileBody } from "./validate.ts";

/**
 * Returns the handler of a route with a check of its response, for tests: a response that does not match the schema of the
 * route, or an error code that the route does not list, is an error of its own.
 */
export function strictHandler(r: AnyRoute): (input: Input<RouteSchemas>, deps: ApiDeps) => Promise<Answer<Answers>> {
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
