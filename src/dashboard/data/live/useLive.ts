import { type Inputs, useEffect } from "preact/hooks";
import type { WatchOptions } from "../../../client/client.ts";
import { followLive, type LiveHandlers } from "./live.ts";

/**
 * Passes live events to the handlers while the component is shown.
 * @param inputs the values of the component that the handlers use, apart from signals and refs
 */
export const useLive = (what: WatchOptions, handlers: LiveHandlers, inputs: Inputs = []): void =>
  useEffect(() => followLive(what, handlers), inputs);
