import { readSlackAct } from "../../channels/slack/inbound.ts";
import { readSignature } from "../../hooks/signatures/readSignature.ts";
import { verifySignature } from "../../hooks/signatures/signature.ts";
import { type ChatRoute, parseObject } from "./chatRoute.ts";

/** Returns the address of Slack. Slack repeats what was not acknowledged; a repeated act is stored once. */
export const slackRoute = (secret: string): ChatRoute => ({
  channel: "slack",
  advice: "Check channels.slack.signingSecret and the clock of this machine.",
  verify: (headers, text, now) =>
    void verifySignature(readSignature({ type: "slack", secret }, headers), Buffer.from(text), now),
  read(text, type) {
    const json = type === "application/x-www-form-urlencoded" ? (new URLSearchParams(text).get("payload") ?? "") : text;
    const body = parseObject(json);
    const isCheck = body.type === "url_verification" && typeof body.challenge === "string";
    return { act: isCheck ? null : readSlackAct(body), response: isCheck ? body.challenge : "" };
  },
});
