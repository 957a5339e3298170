import { AppError } from "../../shared/errors.ts";
import { isDuplicateKey } from "./mongoErrors.ts";

/** Maximum attempts of an upsert. More than two are needed only if the document is created and deleted again meanwhile. */
const MAX_UPSERT_ATTEMPTS = 5;

/** Runs an upsert, and runs it again if a concurrent one created the document first. */
export async function retryUpsert<T>(upsert: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await upsert();
    } catch (error) {
      if (!isDuplicateKey(error) || attempt === MAX_UPSERT_ATTEMPTS) throw error;
    }
  }
}

/**
 * Runs an idempotent operation, and runs it once more if it fails with an error that passes by itself: MongoDB may have carried
 * out the first one without its answer.
 */
export async function retryOnce<T>(operation: () => Promise<T>): Promise<T> {
  try {
    return await operation();
  } catch (error) {
    if (!(error instanceof AppError && error.code === "unavailable")) throw error;
    return operation();
  }
}
