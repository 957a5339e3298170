/** A stage of a query plan that MongoDB explains. */
interface Stage {
  readonly stage: string;
  readonly inputStage?: Stage;
  readonly inputStages?: readonly Stage[];
}

/** Returns the names of a stage and of all stages before it. */
export const stagesOf = ({ stage, inputStage, inputStages = [] }: Stage): string[] => [
  stage,
  ...[...inputStages, ...(inputStage ? [inputStage] : [])].flatMap(stagesOf),
];
