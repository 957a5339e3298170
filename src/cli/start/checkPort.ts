import { once } from "node:events";
import { createServer } from "node:net";
import { StartError } from "../../shared/process/lifecycle.ts";

/**
 * Checks that nothing listens at the address of the API, before the servers and processes start, so that the error is not
 * lost among their messages. Other problems of the address are reported by the web process.
 * @throws StartError if the port is taken
 */
export async function checkPort({ port, host }: { readonly port: number; readonly host: string }): Promise<void> {
  const server = createServer();
  try {
    await once(server.listen({ port, host, exclusive: true }), "listening");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EADDRINUSE") return;
    throw new StartError(
      `Port ${port} on ${host} is taken: stop the program that uses it, or set PORT to another (server.port).`,
    );
  } finally {
    server.close();
  }
}
