import { APIError } from "openai";

/** The codes and types by which servers refuse a field that they do not support, without naming it. */
const UNKNOWN_FIELD: readonly unknown[] = ["unknown_parameter", "unsupported_parameter", "extra_forbidden"];

/**
 * Sends a request that asks for usage, and sends it again without `stream_options` if the server refuses that field.
 * @param refusing the models that refuse the field. Contains only models that have answered without it.
 * @param send sends the request with further fields
 */
export async function askForUsage<T>(
  model: string,
  refusing: Set<string>,
  send: (fields: object) => Promise<T>,
): Promise<T> {
  if (refusing.has(model)) return send({});
  try {
    return await send({ stream_options: { include_usage: true } });
  } catch (thrown) {
    if (!refusesStreamOptions(thrown)) throw thrown;
    const answer = await send({});
    refusing.add(model);
    return answer;
  }
}

/**
 * Returns whether an error says that a field is not supported. Servers name the field in any part of the error. With status 422
 * they may report it in another form, which the SDK drops.
 */
function refusesStreamOptions(thrown: unknown): boolean {
  if (!(thrown instanceof APIError) || !(thrown.status === 400 || thrown.status === 422)) return false;
  const error: unknown = thrown.error;
  if (error === undefined) return thrown.status === 422;
  return [thrown.code, thrown.type].some((name) => UNKNOWN_FIELD.includes(name)) || namesField(error);
}

const namesField = (error: unknown): boolean => /stream_options|include_usage/.test(JSON.stringify(error) ?? "");
