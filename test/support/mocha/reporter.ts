import { relative } from "node:path";
import Mocha from "mocha";

const { EVENT_TEST_PASS, EVENT_TEST_FAIL, EVENT_SUITE_END, EVENT_RUN_END } = Mocha.Runner.constants;

/**
 * Prints a line for each finished file with its failures, and at the end all failures in full, each with the command that repeats
 * it.
 */
class FileReporter extends Mocha.reporters.Base {
  readonly #failed: { readonly file: string; readonly title: string }[] = [];
  /** The events of a file arrive together, after it has ended. */
  #file = "";
  #passed = 0;
  #failedInFile: string[] = [];

  constructor(runner: Mocha.Runner, options: Mocha.MochaOptions) {
    super(runner, options);
    runner.on(EVENT_TEST_PASS, (test) => {
      this.#file = fileOf(test) ?? this.#file;
      this.#passed++;
    });
    runner.on(EVENT_TEST_FAIL, (test, error) => {
      this.#file = fileOf(test) ?? this.#file;
      this.#failedInFile.push(`    ${test.fullTitle()}: ${error.message}`);
      this.#failed.push({ file: this.#file, title: test.fullTitle() });
    });
    runner.on(EVENT_SUITE_END, (suite) => {
      if (suite.root) this.#printFile();
    });
    runner.once(EVENT_RUN_END, () => {
      this.epilogue();
      if (this.#failed.length > 0) console.log(`To repeat a failure:\n${this.#failed.map(commandOf).join("\n")}\n`);
    });
  }

  #printFile(): void {
    const failed = this.#failedInFile.length > 0 ? `, ${this.#failedInFile.length} failed` : "";
    if (this.#passed > 0 || failed) console.log(`${failed ? "✘" : "✔"} ${this.#file}: ${this.#passed} passed${failed}`);
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
