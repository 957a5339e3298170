import { isObject } from "../../shared/text/json.ts";

const ANSWER_WITHIN_MS = 5_000;

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** The JSON object of the body; an empty one for another body. */
  readonly body: Record<string, unknown>;
}

/** Requests a URL. Returns the answer, or the code of the error. */
export async function ask(url: string): Promise<Answer | { readonly code: string }> {
  try {
    const response = await fetch(url, { redirect: "manual", signal: AbortSignal.timeout(ANSWER_WITHIN_MS) });
    const { status, headers } = response;
    return { status, headers, body: readObject(await response.text()) };
  } catch (error) {
    const { name, cause } = error as Error & { cause?: { code?: string } };
    return { code: cause?.code ?? name };
  }
}

function readObject(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}
