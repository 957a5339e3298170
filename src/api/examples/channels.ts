import type { Example } from "./example.ts";

const REPLY_TARGET = { channel: "telegram", to: "123456789" } as const;

const CHANNEL = {
  channel: "telegram",
  configured: true,
  pending: 0,
  failed: 0,
  lastSentAt: "2026-01-31T18:00:10.000Z",
  lastFailure: null,
  state: "ready",
  stoppedSince: null,
  reason: null,
  nextTryAt: null,
} as const;

const params = { channel: "telegram" } as const;

export const listChannels: Example = { answers: { 200: { channels: [CHANNEL], route: REPLY_TARGET } } };

export const testChannel: Example = {
  params,
  body: { to: "123456789", text: "The backup is *done*." },
  answers: {
    202: {
      deliveryId: "3b1f6c52-8f0e-4d0c-9d56-0d4f6f3b8a11",
      runId: null,
      kind: "channel",
      rule: null,
      eventType: "test",
      preview: "The backup is *done*.",
      channel: "telegram",
      to: "123456789",
      state: "pending",
      attempts: 0,
      lastStatus: null,
      parts: [],
      maybeTwice: false,
      reason: null,
      notBefore: null,
      createdAt: "2026-01-31T18:00:09.000Z",
      sentAt: null,
    },
  },
};

export const resumeChannel: Example = {
  params,
  answers: {
    202: {
      ...CHANNEL,
      pending: 3,
      state: "stopped",
      stoppedSince: "2026-01-31T17:00:00.000Z",
      reason: "Telegram answered 401: Unauthorized.",
    },
  },
};

export const checkChannel: Example = {
  params,
  answers: { 200: { channel: "telegram", ok: true, detail: "sends as @signalbox_bot" } },
};

export const getReplyTarget: Example = {
  answers: { 200: { replyTarget: REPLY_TARGET, source: "configuration" } },
};

export const setReplyTarget: Example = {
  body: REPLY_TARGET,
  answers: { 200: { replyTarget: REPLY_TARGET, source: "set" } },
};

export const clearReplyTarget: Example = {
  answers: { 200: { replyTarget: REPLY_TARGET, source: "configuration" } },
};
