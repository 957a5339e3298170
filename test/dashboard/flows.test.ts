import { describeFlows } from "./flows.ts";

describeFlows({ "by mouse": { operate: (control) => control.click() } });
