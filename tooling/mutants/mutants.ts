/**
 * `npm run mutants -- FILE…`: changes one thing in a source file, runs the tests that reach it, and reports each change
 * that no test notices.
 *
 * A first run of all tests records the code that each test file reaches. Files are never written. Child processes that
 * tests start load the unchanged sources. Survivors are information: they do not fail the command.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { parseArgs } from 'node:util'

import {
  addProbes,
  applyMutant,
  findMutants,
  sampleMutants,
  type Mutant,
} from './lib/find-mutants.ts'
import { TestRuns } from './lib/test-runs.ts'

const USAGE = `Usage: npm run mutants -- [options] FILE[:LINE,LINE…]…

  --sample N       mutants of each file, chosen by the seed; all without it
  --seed TEXT      seed of the sample (1)
  --tests PATHS    folders of test files, or files, separated by commas (the packages of the files)
  --seconds N      maximum duration of the test files of one mutant (10)
`

/** Exit code for an invalid command line, as shells use it. */
const EXIT_USAGE = 2

const ROOT = resolve(import.meta.dirname, '..', '..')

/** Maximum duration of the first run, in milliseconds. */
const SURVEY_TIMEOUT_MS = 1_800_000

/** Time for a run with a mutant: this many times the normal one, and a start. */
const SLOWDOWN = 3
const START_MS = 15_000

interface Target {
  readonly path: string
  readonly text: string
  readonly mutants: readonly Mutant[]
}

/** Results of the first run. */
interface Survey {
  readonly durations: ReadonlyMap<string, number>
  /** Test files by the path of a source file and the start of the code that they reach. */
  readonly reached: ReadonlyMap<string, ReadonlySet<string>>
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    sample: { type: 'string' },
    seed: { type: 'string', default: '1' },
    tests: { type: 'string' },
    seconds: { type: 'string', default: '10' },
    help: { type: 'boolean', default: false },
  },
})
const size = values.sample === undefined ? Infinity : Number(values.sample)
const maxMs = Number(values.seconds) * 1_000
if (values.help || positionals.length === 0 || !(size > 0) || !(maxMs > 0)) {
  console[values.help ? 'log' : 'error'](USAGE)
  process.exit(values.help ? 0 : EXIT_USAGE)
}
const runs = new TestRuns()
await main()
await runs.close()
process.exit(0)

async function main(): Promise<void> {
  const targets = positionals.map(readTarget)
  const folders = new Set(targets.map(({ path }) => relative(ROOT, path).split('/', 2).join('/')))
  const tests = await runs.start(ROOT, values.tests?.split(',') ?? [...folders])
  console.log(`Running ${tests.length} test files without a mutant`)
  const survey = await runSurvey(targets, tests)
  let [killed, total] = [0, 0]
  for (const target of targets) {
    const counted = await testMutants(target, survey)
    killed += counted
    total += target.mutants.length
  }
  console.log(`Killed ${killed} of ${total} mutants of ${targets.length} files`)
}

function readTarget(word: string): Target {
  const [name = '', lines] = word.split(':')
  const path = resolve(name)
  const text = readFileSync(path, 'utf8')
  const all = findMutants(path, text)
  const wanted = lines?.split(',').map(Number)
  if (wanted === undefined)
    return { path, text, mutants: sampleMutants(text, all, { size, seed: values.seed }) }
  return { path, text, mutants: all.filter(({ line }) => wanted.includes(line)) }
}

async function runSurvey(targets: readonly Target[], tests: readonly string[]): Promise<Survey> {
  const begun = performance.now()
  const folder = mkdtempSync(join(tmpdir(), 'mutants-'))
  const record = join(folder, 'reached')
  try {
    for (const { path, text, mutants } of targets)
      runs.setContents(path, recorder(path, record) + addProbes(text, mutants, '__reach'))
    const { failed, durations } = await runs.run(tests, {
      bail: false,
      timeoutMs: SURVEY_TIMEOUT_MS,
    })
    for (const path of failed)
      console.log(`Ignoring ${relative(ROOT, path)}: it fails without a mutant`)
    const reached = new Map<string, Set<string>>()
    for (const line of new Set(
      readFileSync(record, { encoding: 'utf8', flag: 'a+' }).split('\n'),
    )) {
      const [code = '', test = ''] = line.split('\t')
      if (!failed.includes(test)) reached.set(code, (reached.get(code) ?? new Set()).add(test))
    }
    console.log(`Took ${Math.round((performance.now() - begun) / 1_000)} s`)
    const passed = [...durations].filter(([test]) => !failed.includes(test))
    return { durations: new Map(passed), reached }
  } finally {
    for (const { path } of targets) runs.setContents(path, undefined)
    rmSync(folder, { recursive: true })
  }
}

/** Declares `__reach`, which appends the path, a position and the running test file to a file. One line of code. */
function recorder(path: string, record: string): string {
  return [
    `import { appendFileSync as __append } from 'node:fs'`,
    `const __last = new Map()`,
    `const __reach = (at) => { const test = globalThis.__vitest_worker__?.filepath; ` +
      `if (__last.get(at) !== test) __append(${JSON.stringify(record)}, ${JSON.stringify(path)} + ':' + at + '\\t' + test + '\\n'); ` +
      `__last.set(at, test) };`,
  ].join('; ')
}

/** Tests the mutants of a file, prints those that survive, and returns the number of the others. */
async function testMutants(target: Target, survey: Survey): Promise<number> {
  const { path, text, mutants } = target
  const name = relative(ROOT, path)
  let killed = 0
  for (const mutant of mutants) {
    const tests = chooseTests(path, mutant, survey)
    const chosen = tests.slice(0, countWithin(tests, survey))
    const normal = chosen.reduce((sum, test) => sum + (survey.durations.get(test) ?? 0), 0)
    runs.setContents(path, applyMutant(text, mutant))
    const { failed, timedOut } = await runs.run(chosen, {
      bail: true,
      timeoutMs: START_MS + SLOWDOWN * normal,
    })
    if (failed.length > 0 || timedOut) killed += 1
    else printSurvivor(name, text, mutant)
    const killer = timedOut ? 'timeout' : relative(ROOT, failed[0] ?? '')
    const outcome = failed.length > 0 || timedOut ? `killed by ${killer}` : 'survived'
    console.log(
      `  ${name}:${mutant.line} ${mutant.operator} ${outcome}, ${chosen.length} of ${tests.length} test files`,
    )
  }
  runs.setContents(path, undefined)
  console.log(`${name}: killed ${killed} of ${mutants.length}`)
  return killed
}

/** Returns the test files that reach a mutant: its own first, then those of its folder, then the fastest ones. */
function chooseTests(
  path: string,
  { reachedAt }: Mutant,
  { durations, reached }: Survey,
): string[] {
  const tests =
    reachedAt === undefined
      ? runs.findImporters(path).filter((test) => durations.has(test))
      : [...(reached.get(`${path}:${reachedAt.start}`) ?? [])]
  const own = join(dirname(path), basename(path).replace(/\.ts$/u, '.test.ts'))
  const rank = (test: string): number =>
    test === own ? 0 : dirname(test) === dirname(path) ? 1 : 2
  const cost = (test: string): number => durations.get(test) ?? 0
  return tests.toSorted((a, b) => rank(a) - rank(b) || cost(a) - cost(b))
}

/** Counts the first test files that together stay within the maximum duration; at least one. */
function countWithin(tests: readonly string[], { durations }: Survey): number {
  let sum = 0
  const end = tests.findIndex((test) => (sum += durations.get(test) ?? 0) > maxMs)
  return end === -1 ? tests.length : Math.max(1, end)
}

function printSurvivor(name: string, text: string, mutant: Mutant): void {
  const before = text.split('\n')[mutant.line - 1]?.trim()
  const replaced = text.slice(mutant.start, mutant.end).replaceAll(/\s+/gu, ' ')
  console.log(
    `SURVIVED ${name}:${mutant.line} ${mutant.operator}: "${replaced}" → "${mutant.replacement}"`,
  )
  console.log(`  ${before}`)
}
