import { writeFileSync } from "node:fs";
import { relative } from "node:path";
import Mocha from "mocha";

const { EVENT_TEST_PASS, EVENT_TEST_FAIL, EVENT_SUITE_END, EVENT_RUN_END } = Mocha.Runner.constants;

/**
 * Prints a line for each finished file with its failures, and at the end all failures in full, each with the command that repeats
 * it. The numbers of each file go to the command that has started mocha (script/test.mjs), which prints the sums.
 */
class FileReporter extends Mocha.reporters.Base {
  readonly #failed: { readonly file: string; readonly title: string }[] = [];
  readonly #results: Record<string, { passed: number; failed: number }> = {};
  /** The events of a file arrive together, after it has ended. */
  #file = "";
  #passed = 0;
  #failedInFile: string[] = [];

  constructor(runner: Mocha.Runner, options: Mocha.MochaOptions) {
    super(runner, options);
    runner.on(EVENT_TEST_PASS, (test) => {
      this.#continueIn(fileOf(test));
      this.#passed++;
    });
    runner.on(EVENT_TEST_FAIL, (test, error) => {
      this.#continueIn(fileOf(test));
      this.#failedInFile.push(`    ${test.fullTitle()}: ${error.message}`);
      this.#failed.push({ file: this.#file, title: test.fullTitle() });
    });
    runner.on(EVENT_SUITE_END, (suite) => {
      if (suite.root) this.#printFile();
    });
    runner.once(EVENT_RUN_END, () => {
      this.#printFile();
      const { SIGNALBOX_TEST_RESULTS } = process.env;
      if (SIGNALBOX_TEST_RESULTS) writeFileSync(SIGNALBOX_TEST_RESULTS, JSON.stringify(this.#results));
      if (this.failures.length > 0) Mocha.reporters.Base.list(this.failures);
      if (this.#failed.length > 0) console.log(`To repeat a failure:\n${this.#failed.map(commandOf).join("\n")}\n`);
    });
  }

  /** Begins another file, also after one that could not be loaded, whose end is not reported. */
  #continueIn(file: string | undefined): void {
    if (file === undefined || file === this.#file) return;
    this.#printFile();
    this.#file = file;
  }

  #printFile(): void {
    if (this.#passed === 0 && this.#failedInFile.length === 0) return;
    this.#results[this.#file] = { passed: this.#passed, failed: this.#failedInFile.length };
    const failed = this.#failedInFile.length > 0 ? `, ${this.#failedInFile.length} failed` : "";
    console.log(`${failed ? "✘" : "✔"} ${this.#file}: ${this.#passed} passed${failed}`);
    for (const failure of this.#failedInFile) console.log(failure); // They are known even if the run is ended.
    this.#passed = 0;
    this.#failedInFile = [];
  }
}

/** Root hooks belong to no file. */
const fileOf = ({ file }: { readonly file?: string | undefined }): string | undefined =>
  file && relative(process.cwd(), file);

/** A failed hook is repeated with the test that it ran for, or with the whole file if there is none. */
function commandOf({ file, title }: { readonly file: string; readonly title: string }): string {
  const isTest = !/"(before|after) (all|each)" hook/.test(title);
  return `  npx mocha ${file}${isTest ? ` -f ${quote(title)}` : ""}`;
}

const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

export { FileReporter as "module.exports" };
