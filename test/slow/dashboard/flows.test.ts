import { expect } from "chai";
import { describeFlows } from "../../dashboard/flows.ts";
import { untilPasses } from "../../support/eventually.ts";

describeFlows({
  "by keyboard": {
    operate: async (control) => {
      await control.waitFor();
      await untilPasses(async () =>
        expect(await control.evaluate((element) => (element as unknown as { tabIndex: number }).tabIndex)).to.equal(0),
      );
      await control.focus();
      await control.press("Enter");
    },
  },
  "by touch at 390 px": {
    options: { viewport: { width: 390, height: 780 }, hasTouch: true, isMobile: true },
    operate: (control) => control.tap(),
  },
});
