/**
 * Runs the checks of CI other than tests. Every step runs even if another fails, so that all problems are
 * reported at once. With `--write` only the steps run that compare generated files, and they write these
 * files.
 */
import { spawn } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'

interface StepOptions {
  /** Advice when the step fails. @default fix what it names */
  readonly remedy?: string
  /** Arguments that make the command compare or write generated files. */
  readonly modes?: { readonly check: readonly string[]; readonly write: readonly string[] }
}

interface Step extends StepOptions {
  readonly name: string
  readonly program: string
  readonly words: readonly string[]
}

const TO_WRITE = { check: [], write: ['--write'] } as const
const SOURCES = 'node --conditions=@tutti/source'

/** The longest first, so that no step is left alone at the end. */
const STEPS: readonly Step[] = [
  toStep('ship', 'vitest run --config tooling/checks/ship.config.ts', {
    remedy: 'fix what it names; see CONTRIBUTING.md',
  }),
  toStep('benches', 'node tooling/bench/bench.ts --short', {
    remedy: 'run "npm run bench -- --short" and fix the benchmark that stops it',
  }),
  toStep('lint', 'oxlint'),
  // With a fixed seed, a failure can be reproduced.
  toStep('fuzz', `${SOURCES} tooling/fuzz/fuzz.ts --seconds 30 --seed 20`, {
    remedy: 'run "npm run fuzz -- --seed 20" and fix the violation',
  }),
  // Slow answers do not fail it.
  toStep('hostile', `${SOURCES} tooling/hostile/hostile.ts --seconds 20`, {
    remedy: 'run "npm run hostile" and fix the violation',
  }),
  toStep('format', 'oxfmt --check', { remedy: 'run oxfmt' }),
  toStep('types', 'tsc -p tsconfig.json'),
  toStep('dashboard types', 'tsc -p apps/dashboard/tsconfig.json'),
  toStep('layers', 'depcruise packages apps tooling --config .dependency-cruiser.mjs', {
    remedy: 'each rule in .dependency-cruiser.mjs has a reason',
  }),
  toStep('unused', 'knip', { remedy: 'remove the unused code' }),
  toStep('names', 'node tooling/tasks/counts.ts --check', {
    remedy: 'rename all but one: an exported name has one meaning in the workspace',
  }),
  toStep('packages', 'node tooling/checks/packages.ts', {
    remedy: 'fix the package.json that it names',
  }),
  toStep('generated', `${SOURCES} tooling/tasks/generate.ts`, {
    remedy: 'run "npm run gen" and commit what it writes',
    modes: { check: ['--check'], write: [] },
  }),
  toStep('docs', `${SOURCES} tooling/docs/check-docs.ts`, { remedy: 'fix the page that it names' }),
  toStep('language', 'node tooling/checks/language.ts', {
    remedy: 'reword what it names; tooling/checks/language.ts has the words and the exceptions',
  }),
  toStep('api', 'node tooling/checks/api.ts', {
    remedy: 'if the types are meant to change, run "npm run check -- --write api"',
    modes: TO_WRITE,
  }),
  toStep('sizes', 'node tooling/checks/sizes.ts', {
    remedy:
      'run "npm run check -- --write sizes"; what exceeds a budget is raised by hand in tooling/packages/budgets.json',
    modes: TO_WRITE,
  }),
]

/** One step more than cores, because benchmarks and attacks of servers wait most of the time. */
const AT_A_TIME = availableParallelism() + 1

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { write: { type: 'boolean', default: false } },
})
const mode = values.write ? 'write' : 'check'
const able = values.write ? STEPS.filter(({ modes }) => modes !== undefined) : STEPS
const unknown = positionals.filter((name) => !able.some((step) => step.name === name))
if (unknown.length > 0) {
  console.error(
    `No such step: ${unknown.join(', ')}. Known: ${able.map((step) => step.name).join(', ')}`,
  )
  process.exit(2)
}
const chosen = able.filter(({ name }) => positionals.length === 0 || positionals.includes(name))
const failed: Step[] = []
const waiting = [...chosen]
await Promise.all(Array.from({ length: AT_A_TIME }, takeSteps))
for (const { name, remedy = 'fix what it names' } of failed)
  console.error(`check ${name} failed: ${remedy}`)
console.log(`checks: ${chosen.length - failed.length} passed, ${failed.length} failed`)
process.exitCode = failed.length === 0 ? 0 : 1

function toStep(name: string, command: string, options: StepOptions = {}): Step {
  const [program = '', ...words] = command.split(' ')
  return { name, program, words, ...options }
}

async function takeSteps(): Promise<void> {
  for (let step = waiting.shift(); step !== undefined; step = waiting.shift()) {
    if (!(await passes(step))) failed.push(step)
  }
}

async function passes({ name, program, words, modes }: Step): Promise<boolean> {
  const startedAt = performance.now()
  const child = spawn(program, [...words, ...(modes?.[mode] ?? [])], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const output: string[] = []
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => output.push(text))
  }
  const code = await new Promise<number | null>((resolve) => {
    child.once('close', resolve)
    child.once('error', (error) => output.push(error.message))
  })
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
  console.log(`${code === 0 ? 'ok  ' : 'FAIL'} ${name} (${seconds} s)`)
  if (code !== 0) console.log(output.join(''))
  return code === 0
}
