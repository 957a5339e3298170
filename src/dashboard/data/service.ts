import { createClient } from "../../client/client.ts";
import { BASE_PATH } from "../basePath.ts";
import { setServerTime } from "../clock.ts";

/** The client of the service that served this page; the browser sends the login's cookie. */
export const service = createClient({
  url: BASE_PATH,
  async fetch(...request) {
    const response = await fetch(...request);
    setServerTime(response.headers.get("Date"));
    return response;
  },
});
