import type { TSchema } from "typebox";
import { toAppError } from "../shared/errors.ts";
import type { ApiDeps } from "./deps.ts";
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
    const schema: TSchema | undefined = r.answers[answer.status];
    // validates the serialized response, in which undefined properties are absent
    const validate = schema && compileBody(schema);
    if (!validate?.(JSON.parse(JSON.stringify(answer.body)))) {
      const faults = validate?.errors?.map(({ instancePath, message }) => `${instancePath} ${message}`);
      throw new Error(
        `${r.operationId} answered ${answer.status} with a body that does not match its schema: ${faults?.join(", ")}`,
      );
    }
    return answer;
  };
}
