import { Tokenizer } from "@huggingface/tokenizers";
import { expect } from "chai";
import { get_encoding } from "tiktoken";
import { neutralize } from "../../../src/agents/prompt/neutralize.ts";
import { FAMILIES, TOKENS, turnOf } from "../../agents/prompt/specialTokens.ts";

/** Returns the ids of the special tokens that a tokenizer finds in a text. */
type Special = (text: string) => number[];

const BYTES = 256;

/** Returns the characters with which a byte-level tokenizer represents the 256 bytes. */
function byteCharacters(): string[] {
  let next = 256;
  const isVisible = (byte: number) => (byte > 32 && byte < 127) || (byte > 160 && byte !== 173);
  return Array.from({ length: BYTES }, (_, byte) => String.fromCharCode(isVisible(byte) ? byte : next++));
}

/** Returns a tokenizer with a family's special tokens and a vocabulary of bytes. It finds special tokens before all others. */
function tokenizerOf(tokens: readonly string[]): Special {
  const added = tokens.map((content, i) => ({
    id: BYTES + i,
    content,
    special: true,
    normalized: false,
    single_word: false,
    lstrip: false,
    rstrip: false,
  }));
  const vocab = Object.fromEntries(byteCharacters().map((char, byte) => [char, byte]));
  const byteLevel = { type: "ByteLevel", add_prefix_space: false, trim_offsets: true, use_regex: true };
  const tokenizer = new Tokenizer(
    {
      version: "1.0",
      truncation: null,
      padding: null,
      normalizer: null,
      post_processor: null,
      added_tokens: added,
      pre_tokenizer: byteLevel,
      decoder: byteLevel,
      model: { type: "BPE", vocab, merges: [], unk_token: null, byte_fallback: false, ignore_merges: false },
    },
    {},
  );
  return (text) => tokenizer.encode(text, { add_special_tokens: false }).ids.filter((id: number) => id >= BYTES);
}

function tiktokenOf(name: "cl100k_base" | "o200k_base", first: number): Special {
  let encoding: ReturnType<typeof get_encoding> | undefined;
  return (text) => {
    encoding ??= get_encoding(name);
    return [...encoding.encode(text, "all")].filter((id) => id >= first);
  };
}

const SHIPPED: Readonly<Record<string, { special: Special; tokens: readonly string[] }>> = {
  "GPT-4 (tiktoken, cl100k_base)": {
    special: tiktokenOf("cl100k_base", 100_257),
    tokens: ["<|endoftext|>", "<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>", "<|endofprompt|>"],
  },
  "GPT-4o (tiktoken, o200k_base)": {
    special: tiktokenOf("o200k_base", 199_998),
    tokens: ["<|endoftext|>", "<|endofprompt|>"],
  },
};

describe("A tokenizer that accepts special tokens in a message", () => {
  for (const { family, tokens } of FAMILIES) {
    it(`with the tokens of ${family} finds none in a neutralized text`, () => {
      const special = tokenizerOf(tokens);

      for (const token of tokens) expect(special(turnOf(token)), token).to.not.be.empty;
      for (const token of TOKENS) expect(special(neutralize(turnOf(token))), token).to.be.empty;
      expect(special(neutralize(TOKENS.join("")))).to.be.empty;
    });
  }

  for (const [name, { special, tokens }] of Object.entries(SHIPPED)) {
    it(`of the package for ${name} finds none in a neutralized text`, () => {
      for (const token of tokens) expect(special(turnOf(token)), token).to.not.be.empty;
      for (const token of [...tokens, ...TOKENS]) expect(special(neutralize(turnOf(token))), token).to.be.empty;
      expect(special(neutralize(TOKENS.join("")))).to.be.empty;
    }).timeout(120_000);
  }
});
