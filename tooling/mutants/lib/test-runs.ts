/** Runs tests in a Vitest that stays up, with other contents of some source files. */
import { Writable } from 'node:stream'

import {
  BaseSequencer,
  createVitest,
  ForksPoolWorker,
  type PoolOptions,
  type Reporter,
  type TestModule,
  type TestSpecification,
  type Vitest,
} from 'vitest/node'

import config from '../../../vitest.config.ts'

/** Outcome of a run of test files. */
export interface TestRun {
  /** Paths of test files that failed, in the order of their first failure. */
  readonly failed: readonly string[]
  readonly timedOut: boolean
  /** Milliseconds per test file. */
  readonly durations: ReadonlyMap<string, number>
}

/** Time limit of one test, in milliseconds; a changed source often makes one wait for something that never comes. */
const TEST_TIMEOUT_MS = 10_000

const NO_OUTPUT = new Writable({ write: (_chunk, _encoding, done) => done() })

class InGivenOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return files
  }
}

/** A Vitest with one worker. Changed contents exist in memory only: files are never written. */
export class TestRuns {
  readonly #contents = new Map<string, string>()
  #vitest: Vitest | undefined
  #worker: ForksPoolWorker | undefined
  readonly #reporter: Reporter = {}
  #specifications = new Map<string, TestSpecification>()

  /** Finds the test files below `folders`, which are paths relative to `root`, and returns their paths. */
  async start(root: string, folders: readonly string[]): Promise<string[]> {
    const createPoolWorker = (options: PoolOptions): ForksPoolWorker =>
      (this.#worker = Object.assign(new ForksPoolWorker(options), { name: 'mutants' }))
    this.#vitest = await createVitest(
      'test',
      {
        config: false,
        root,
        watch: false,
        include: folders.map((folder) =>
          folder.endsWith('.ts') ? folder : `${folder}/**/*.test.ts`,
        ),
        isolate: false,
        maxWorkers: 1,
        // The cache on disk would keep changed contents.
        fsModuleCache: false,
        pool: { name: 'mutants', createPoolWorker },
        testTimeout: TEST_TIMEOUT_MS,
        hookTimeout: TEST_TIMEOUT_MS,
        sequence: { sequencer: InGivenOrder },
        reporters: [this.#reporter],
      },
      {
        ...(config.resolve === undefined ? {} : { resolve: config.resolve }),
        ...(config.ssr === undefined ? {} : { ssr: config.ssr }),
        plugins: [
          {
            name: 'mutants',
            enforce: 'pre',
            load: (id) => this.#contents.get(id.split('?')[0] ?? id),
          },
        ],
      },
      { stdout: NO_OUTPUT, stderr: NO_OUTPUT },
    )
    const found = await this.#vitest.globTestSpecifications()
    this.#specifications = new Map(found.map((file) => [file.moduleId, file]))
    return [...this.#specifications.keys()]
  }

  /** Gives a source file other contents; undefined restores those on disk. */
  setContents(path: string, contents: string | undefined): void {
    if (contents === undefined) this.#contents.delete(path)
    else this.#contents.set(path, contents)
    this.#vitest?.invalidateFile(path)
  }

  /** Runs test files in the order of `tests`, up to the first failure if `bail` is true. */
  async run(
    tests: readonly string[],
    { bail, timeoutMs }: { readonly bail: boolean; readonly timeoutMs: number },
  ): Promise<TestRun> {
    const vitest = this.#vitest
    if (vitest === undefined) throw new Error('Vitest was not started')
    const failed = new Set<string>()
    const durations = new Map<string, number>()
    const onFailure = ({ moduleId }: TestModule): void => {
      failed.add(moduleId)
      if (bail) void vitest.cancelCurrentRun('test-failure')
    }
    this.#reporter.onTestCaseResult = (test) => {
      if (test.result().state === 'failed') onFailure(test.module)
    }
    this.#reporter.onTestModuleEnd = (module) => {
      const { duration, collectDuration } = module.diagnostic()
      durations.set(module.moduleId, duration + collectDuration)
      if (module.state() === 'failed') onFailure(module)
    }
    let timedOut = false
    const timer = setTimeout(() => {
      timedOut = true
      void this.#worker?.stop()
    }, timeoutMs)
    const specifications = tests.flatMap((test) => this.#specifications.get(test) ?? [])
    const { unhandledErrors } = await vitest.rerunTestSpecifications(specifications)
    clearTimeout(timer)
    if (unhandledErrors.length > 0 && failed.size === 0) failed.add('an unhandled error')
    return { failed: [...failed], timedOut, durations }
  }

  /** Returns the test files that import a source file, directly or not. */
  findImporters(path: string): string[] {
    const graph = this.#vitest?.vite.environments.ssr?.moduleGraph
    const pending = [...(graph?.getModulesByFile(path) ?? [])]
    const seen = new Set(pending)
    for (const { importers } of pending) {
      for (const importer of importers) {
        if (!seen.has(importer)) pending.push(importer)
        seen.add(importer)
      }
    }
    return pending.flatMap(({ file }) => (this.#specifications.has(file ?? '') ? (file ?? []) : []))
  }

  async close(): Promise<void> {
    await this.#vitest?.close()
  }
}
