/**
 * Everything that CI checks besides the tests. Each step runs, also after one has failed, so that all
 * problems are seen at once.
 */
import { spawnSync } from 'node:child_process'
import { parseArgs } from 'node:util'

interface Step {
  readonly name: string
  /** What to do when it fails. */
  readonly remedy: string
  readonly command: readonly [program: string, ...words: string[]]
}

const STEPS: readonly Step[] = [
  { name: 'format', remedy: 'run oxfmt', command: ['oxfmt', '--check'] },
  { name: 'lint', remedy: 'mend what it names', command: ['oxlint'] },
  { name: 'types', remedy: 'mend what it names', command: ['tsc', '-p', 'tsconfig.json'] },
  {
    name: 'dashboard types',
    remedy: 'mend what it names',
    command: ['tsc', '-p', 'apps/dashboard/tsconfig.json'],
  },
  {
    name: 'layers',
    remedy: 'each rule says its reason in .dependency-cruiser.mjs',
    command: ['depcruise', 'packages', 'apps', '--config', '.dependency-cruiser.mjs'],
  },
  { name: 'unused', remedy: 'remove what nobody uses', command: ['knip'] },
  {
    name: 'packages',
    remedy: 'mend the package.json that it names',
    command: ['node', 'tooling/checks/packages.ts'],
  },
  {
    name: 'generated',
    remedy: 'run "npm run gen" and commit what it writes',
    command: ['node', '--conditions=@tutti/source', 'tooling/tasks/generate.ts', '--check'],
  },
  {
    name: 'docs',
    remedy: 'mend the page that it names',
    command: ['node', '--conditions=@tutti/source', 'tooling/docs/check-docs.ts'],
  },
]

const { positionals } = parseArgs({ allowPositionals: true })
const chosen = STEPS.filter(({ name }) => positionals.length === 0 || positionals.includes(name))
const failed = chosen.filter((step) => !passes(step))
for (const { name, remedy } of failed) console.error(`check ${name} failed: ${remedy}`)
console.log(`checks: ${chosen.length - failed.length} passed, ${failed.length} failed`)
process.exitCode = failed.length === 0 ? 0 : 1

function passes({ name, command: [program, ...words] }: Step): boolean {
  const startedAt = performance.now()
  const { status, stdout, stderr, error } = spawnSync(program, words, { encoding: 'utf8' })
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
  console.log(`${status === 0 ? 'ok  ' : 'FAIL'} ${name} (${seconds} s)`)
  if (status !== 0) console.log([stdout, stderr, error?.message].filter(Boolean).join('\n'))
  return status === 0
}
