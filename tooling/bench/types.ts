/**
 * Measures how long the type checker takes for a user's file of 30 typed tools and 5 pipelines, in addition to an
 * empty project with the same settings: those of a new project. Projects take turns; results are medians of new
 * processes. The packages are imported in their published form.
 */
import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { hasPeers, sized } from './lib/form.ts'
import { median } from './lib/measure.ts'
import { installPeers } from './lib/peers.ts'
import { formatNumber, printClaim, printTable } from './lib/report.ts'

const ROUNDS = sized(7, 1, 3)
const TOOLS = 30
const PIPELINES = 5
const STEPS = 6

/** Limit of the additional time, in milliseconds. */
const LIMIT_MS = 1_000

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const FOLDER = join(ROOT, 'node_modules/.cache/tutti/types')
const PROJECTS = ['empty', 'tools'] as const

rmSync(FOLDER, { recursive: true, force: true })
mkdirSync(join(FOLDER, 'node_modules/@tutti'), { recursive: true })
for (const name of ['core', 'pipeline']) {
  symlinkSync(join(ROOT, 'packages', name), join(FOLDER, 'node_modules/@tutti', name))
}
for (const project of PROJECTS) {
  mkdirSync(join(FOLDER, project))
  const settings = join(ROOT, 'packages/create-tutti/template/tsconfig.json')
  copyFileSync(settings, join(FOLDER, project, 'tsconfig.json'))
}
writeFileSync(join(FOLDER, 'empty/index.ts'), 'export {}\n')
writeFileSync(join(FOLDER, 'tools/index.ts'), userFile())

const compilers = [
  compilerIn(join(ROOT, 'node_modules/typescript'), 'bin/tsc'),
  ...(hasPeers() ? [compilerIn(join(installPeers(), 'node_modules/typescript'), 'bin/tsc')] : []),
]
const measured = compilers.map(({ version, program }) => {
  const times = { empty: [] as number[], tools: [] as number[] }
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const project of PROJECTS) {
      const ms = checkMs(program, project)
      // The first round reads the files into the cache of the system.
      if (round > 0) times[project].push(ms)
    }
  }
  return { version, empty: median(times.empty), tools: median(times.tools) }
})
printTable({
  title: `Type checking of ${TOOLS} typed tools and ${PIPELINES} pipelines of ${STEPS} steps`,
  columns: ['TypeScript', 'empty project, ms', 'with the file, ms', 'more, ms'],
  rows: measured.map(({ version, empty, tools }) => [
    version,
    formatNumber(Math.round(empty)),
    formatNumber(Math.round(tools)),
    formatNumber(Math.round(tools - empty)),
  ]),
})
for (const { version, empty, tools } of measured) {
  printClaim({
    text: `TypeScript ${version}: at most 1 s more than an empty project`,
    atMost: LIMIT_MS,
    measured: tools - empty,
    unit: ' ms',
  })
}

function compilerIn(folder: string, program: string): { version: string; program: string } {
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  return { version, program: join(folder, program) }
}

function checkMs(program: string, project: (typeof PROJECTS)[number]): number {
  const startedAt = performance.now()
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [program, '-p', join(FOLDER, project)],
    { encoding: 'utf8' },
  )
  if (status !== 0) throw new Error(`The file does not type-check: ${stdout}${stderr}`)
  return performance.now() - startedAt
}

/** Returns a file whose tools all have types of their own, so that the checker cannot reuse its work. */
function userFile(): string {
  const tools = Array.from({ length: TOOLS }, (_, at) => toolText(at))
  const pipelines = Array.from({ length: PIPELINES }, (_, at) => pipelineText(at * STEPS))
  return [
    `import { defineTool, Type } from '@tutti/core'`,
    `import { pipelineBuilder } from '@tutti/pipeline'`,
    ...tools,
    ...pipelines,
  ].join('\n\n')
}

function toolText(at: number): string {
  return `export const tool${at} = defineTool({
  name: 'tool${at}',
  description: 'Handles order ${at}',
  input: Type.Object({
    order${at}: Type.String({ minLength: 1 }),
    count${at}: Type.Integer({ minimum: 1 }),
    size: Type.Union([Type.Literal('s${at}'), Type.Literal('m${at}'), Type.Literal('l${at}')]),
    note: Type.Optional(Type.String()),
    lines: Type.Array(Type.Object({ item${at}: Type.String(), price: Type.Number() })),
  }),
  output: Type.Object({ total${at}: Type.Number(), items: Type.Array(Type.String()) }),
  execute: ({ count${at}, lines, size }) => ({
    total${at}: lines.reduce((sum, { price }) => sum + price * count${at}, 0),
    items: lines.map(({ item${at} }) => \`\${item${at}} \${size}\`),
  }),
})`
}

/** A pipeline of tools, each adapted to the input of the next. */
function pipelineText(first: number): string {
  const steps = Array.from({ length: STEPS }, (_, step) => {
    const at = first + step
    const adapter = `  .adapter(({ structured: { total${at - 1}, items } }) => ({
    order${at}: items.join(),
    count${at}: Math.max(1, Math.round(total${at - 1})),
    size: 's${at}' as const,
    lines: items.map((item) => ({ item${at}: item, price: total${at - 1} })),
  }))\n`
    return `${step === 0 ? '' : adapter}  .step(tool${at})`
  })
  return `export const pipeline${first} = pipelineBuilder({
  name: 'pipeline${first}',
  description: 'Handles orders from ${first} on',
})
${steps.join('\n')}
  .build()`
}
