/**
 * Runs the checks of CI other than tests. Every step runs even if another fails, so that all problems are
 * reported at once. With `--write` only the steps run that compare generated files, and they write these
 * files.
 */
import { spawn } from 'node:child_process'
import { parseArgs } from 'node:util'

interface Step {
  readonly name: string
  /** Advice when the step fails. */
  readonly remedy: string
  readonly command: readonly [program: string, ...words: string[]]
  /** Arguments that make the command compare or write generated files. */
  readonly modes?: { readonly check: readonly string[]; readonly write: readonly string[] }
}

const TO_WRITE = { check: [], write: ['--write'] } as const

const STEPS: readonly Step[] = [
  { name: 'format', remedy: 'run oxfmt', command: ['oxfmt', '--check'] },
  { name: 'lint', remedy: 'fix what it names', command: ['oxlint'] },
  { name: 'types', remedy: 'fix what it names', command: ['tsc', '-p', 'tsconfig.json'] },
  {
    name: 'dashboard types',
    remedy: 'fix what it names',
    command: ['tsc', '-p', 'apps/dashboard/tsconfig.json'],
  },
  {
    name: 'layers',
    remedy: 'each rule in .dependency-cruiser.mjs has a reason',
    command: ['depcruise', 'packages', 'apps', 'tooling', '--config', '.dependency-cruiser.mjs'],
  },
  { name: 'unused', remedy: 'remove the unused code', command: ['knip'] },
  {
    name: 'names',
    remedy: 'rename all but one: an exported name has one meaning in the workspace',
    command: ['node', 'tooling/tasks/counts.ts', '--check'],
  },
  {
    name: 'packages',
    remedy: 'fix the package.json that it names',
    command: ['node', 'tooling/checks/packages.ts'],
  },
  {
    name: 'generated',
    remedy: 'run "npm run gen" and commit what it writes',
    command: ['node', '--conditions=@tutti/source', 'tooling/tasks/generate.ts'],
    modes: { check: ['--check'], write: [] },
  },
  {
    name: 'docs',
    remedy: 'fix the page that it names',
    command: ['node', '--conditions=@tutti/source', 'tooling/docs/check-docs.ts'],
  },
  {
    name: 'language',
    remedy: 'reword what it names; tooling/checks/language.ts has the words and the exceptions',
    command: ['node', 'tooling/checks/language.ts'],
  },
  {
    name: 'api',
    remedy: 'if the types are meant to change, run "npm run check -- --write api"',
    command: ['node', 'tooling/checks/api.ts'],
    modes: TO_WRITE,
  },
  {
    name: 'sizes',
    remedy:
      'run "npm run check -- --write sizes"; what exceeds a budget is raised by hand in tooling/packages/budgets.json',
    command: ['node', 'tooling/checks/sizes.ts'],
    modes: TO_WRITE,
  },
  {
    name: 'benches',
    remedy: 'run "npm run bench -- --short" and fix the benchmark that stops it',
    command: ['node', 'tooling/bench/bench.ts', '--short'],
  },
  {
    name: 'ship',
    remedy: 'fix what it names; see CONTRIBUTING.md',
    command: ['vitest', 'run', '--config', 'tooling/checks/ship.config.ts'],
  },
]

/** Number of concurrent steps; most of them use one core. */
const AT_A_TIME = 2

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
for (const { name, remedy } of failed) console.error(`check ${name} failed: ${remedy}`)
console.log(`checks: ${chosen.length - failed.length} passed, ${failed.length} failed`)
process.exitCode = failed.length === 0 ? 0 : 1

async function takeSteps(): Promise<void> {
  for (let step = waiting.shift(); step !== undefined; step = waiting.shift()) {
    if (!(await passes(step))) failed.push(step)
  }
}

async function passes({ name, command: [program, ...words], modes }: Step): Promise<boolean> {
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
