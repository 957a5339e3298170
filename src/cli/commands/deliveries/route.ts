import type { Command } from "commander";
import { channelCalls } from "../../../client/calls/channels.ts";
import type { CurrentReplyTarget } from "../../../wire/channel.ts";
import { channelArgument, parseRecipient } from "../../arguments.ts";
import { type Define, type Environment, type JsonOptions, serviceCommand, withExamples } from "../../command.ts";
import { withService } from "../../service.ts";
import { cleanJson, cleanLine } from "../../terminal/cleanText.ts";
import { print } from "../../terminal/words.ts";

type Calls = ReturnType<typeof channelCalls>;

/** `route show`: prints where replies of the main session go. */
export const showRoute: Define = (command, environment) =>
  withExamples(routeCommand(command), "signalbox route show").action((options: JsonOptions) =>
    printTarget(environment, options, ({ replyTarget }) => replyTarget()),
  );

/** `route set CHANNEL TO`: sends replies of the main session there from now on. */
export const setRoute: Define = (command, environment) =>
  withExamples(
    routeCommand(
      command.addArgument(channelArgument()).argument("<to>", "recipient, in the form that the channel uses", String), // not part of a URL
    ),
    "signalbox route set telegram 12345",
  ).action((channel: string, typed: string, options: JsonOptions) => {
    const to = parseRecipient(typed);
    return printTarget(environment, options, ({ setReplyTarget }) => setReplyTarget({ channel, to }));
  });

/** `route clear`: lets `session.main` of the configuration apply again. */
export const clearRoute: Define = (command, environment) =>
  withExamples(routeCommand(command), "signalbox route clear").action((options: JsonOptions) =>
    printTarget(environment, options, ({ clearReplyTarget }) => clearReplyTarget()),
  );

const routeCommand = (command: Command) => serviceCommand(command.option("--json", "print one line of JSON"));

async function printTarget(
  environment: Environment,
  options: JsonOptions,
  act: (calls: Calls) => Promise<CurrentReplyTarget>,
): Promise<void> {
  return withService(await environment(), options, async ({ client }) => {
    const current = await act(channelCalls(client.call));
    print([options.json ? cleanJson(current) : targetLine(current)]);
  });
}

function targetLine({ replyTarget, source }: CurrentReplyTarget): string {
  if (!replyTarget) return "No reply target is set. Set one with `signalbox route set CHANNEL TO`.";
  const { channel, to } = replyTarget;
  return `${channel} ${cleanLine(to)}${source === "configuration" ? " (session.main)" : ""}`;
}
