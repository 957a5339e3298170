import { expect } from "chai";
import { modelEntries, resolveModel } from "../../../src/config/agents/agent.ts";

const LIST = ["small", { id: "openai/gpt-5", alias: "large" }, { id: "bare" }];
const MAP = { small: {}, "openai/gpt-5": { alias: "large" }, bare: {} };

describe("resolveModel", () => {
  const cases: [string, Parameters<typeof resolveModel>[0], string | undefined, string | undefined][] = [
    ["no model without a default", {}, undefined, undefined],
    ["the default when none is requested", { model: "a" }, undefined, "a"],
    ["any model without an allow-list", { model: "a" }, "b", "b"],
    ["a listed id", { models: LIST }, "small", "small"],
    ["a listed id with a provider", { models: LIST }, "openai/gpt-5", "openai/gpt-5"],
    ["an alias as its id", { models: LIST }, "large", "openai/gpt-5"],
    ["a key of a map", { models: MAP }, "small", "small"],
    ["an alias of a map as its id", { models: MAP }, "large", "openai/gpt-5"],
    ["a default given by alias as its id", { model: "large", models: MAP }, undefined, "openai/gpt-5"],
    ["no model with an allow-list and no default", { models: LIST }, undefined, undefined],
  ];
  for (const [title, defaults, requested, model] of cases) {
    it(`returns ${title}`, () => {
      expect(resolveModel(defaults, requested)).to.deep.equal({ ok: true, model });
    });
  }

  for (const models of [LIST, MAP]) {
    for (const requested of ["other", "gpt-5", "Large", "", "constructor", "__proto__"]) {
      it(`refuses "${requested}", which is not in ${Array.isArray(models) ? "a list" : "a map"}`, () => {
        const allowed = ["small", "openai/gpt-5", "large", "bare"];

        expect(resolveModel({ model: "small", models }, requested)).to.deep.equal({ ok: false, allowed });
      });
    }
  }

  it("modelEntries: returns the same entries for a list and a map", () => {
    const plain = (models: typeof LIST | typeof MAP) => modelEntries(models).map(({ id, alias }) => [id, alias]);

    expect(plain(LIST)).to.deep.equal(plain(MAP));
  });
});
