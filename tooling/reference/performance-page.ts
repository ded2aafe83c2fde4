/** Generates the performance page from the recorded results of the benchmarks. */
import { table } from './markdown.ts'

import type { Results } from '../bench/lib/results.ts'

const NOTE = '<!-- Written by "npm run gen" from docs/performance.json; do not edit. -->'

/** Headings of the benchmarks, in the order of the page. */
const HEADINGS: Readonly<Record<string, string>> = {
  server: 'Over HTTP',
  agent: 'One agent in process',
  workflow: 'Ten tasks in process',
  tools: 'One tool call in process',
  runs: 'Durable runs without HTTP',
  queries: 'A large database',
  scale: 'One Postgres',
  nats: 'Postgres and NATS',
  disk: 'Disk space',
  memory: 'Memory in process',
  dashboard: 'Dashboard',
  types: 'Type checking',
  'import-cost': 'Imports',
  suite: 'Tests of this repository',
}

/** Returns the text of `docs/performance.md`. */
export function performancePage({ machine, areas }: Results): string {
  const order = Object.keys(HEADINGS)
  const unknown = areas.find(({ area }) => !order.includes(area))
  if (unknown !== undefined) throw new Error(`The benchmark "${unknown.area}" has no heading`)
  const sorted = areas.toSorted((a, b) => order.indexOf(a.area) - order.indexOf(b.area))
  const claims = sorted.flatMap(({ area, claims: own }) =>
    own.map(({ text, measured, isMet }) => [
      HEADINGS[area] ?? area,
      text,
      measured,
      isMet ? 'met' : 'NOT met',
    ]),
  )
  return [
    NOTE,
    '',
    '# Performance',
    '',
    'How fast Tutti is next to LangGraph, Mastra, VoltAgent and the AI SDK, and which of our goals it meets. `npm run bench -- --peers`',
    'prints all of it on your machine: compare the ratios, since rates depend on the machine and its disk.',
    '',
    `Measured on ${machine.cores} cores (${machine.processor}), ${machine.memoryGiB} GiB of memory, Node ${machine.node}. Results are`,
    'medians. A link in each section leads to the program, which says how it is fair.',
    '',
    '## Goals',
    '',
    ...table(['area', 'goal', 'measured', ''], claims),
    '',
    ...sorted.flatMap(({ area, date, tables }) => [
      `## ${HEADINGS[area]}`,
      '',
      `[\`${programOf(area)}\`](../${programOf(area)}), ${date}.`,
      '',
      ...tables.flatMap(({ title, columns, rows }) => [
        `**${title}**`,
        '',
        ...table(columns, rows),
        '',
      ]),
    ]),
  ].join('\n')
}

/** Returns the path of the program that measures an area. */
function programOf(area: string): string {
  return area === 'scale' ? 'tooling/scale/scale.ts' : `tooling/bench/${area}.ts`
}
