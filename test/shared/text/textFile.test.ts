import { expect } from "chai";
import { decodeText } from "../../../src/shared/text/textFile.ts";
import { ENCODINGS } from "../../support/encodings.ts";

describe("decodeText", () => {
  for (const [encoding, encode] of ENCODINGS)
    it(`decodes ${encoding} and leaves out the byte order mark`, () => {
      expect(decodeText(encode("A=Größe 真 🙂\r\n"))).to.equal("A=Größe 真 🙂\r\n");
    });

  for (const text of ["", "A", "AB"])
    it(`decodes ${JSON.stringify(text)}, which is shorter than a mark`, () => {
      expect(decodeText(Buffer.from(text))).to.equal(text);
    });

  for (const [what, bytes] of [
    ["a code page of Windows", [0x41, 0x3d, 0xfc]],
    ["an odd number of bytes after the mark of UTF-16", [0xff, 0xfe, 0x41]],
  ] as const)
    it(`throws an error with the fix for ${what}`, () => {
      expect(() => decodeText(Uint8Array.from(bytes))).to.throw("save it as UTF-8");
    });
});
