/** Generates the performance page from the recorded results of the benchmarks. */
import { table } from './markdown.ts'

import type { Table } from '../bench/lib/report.ts'
import type { Results } from '../bench/lib/results.ts'

const NOTE = '<!-- Written by "npm run gen" from docs/performance.json; do not edit. -->'

/** Headings of the benchmarks, in the order of the page. */
const HEADINGS: Readonly<Record<string, string>> = {
  server: 'Over HTTP',
  processes: 'Several processes on one machine',
  agent: 'One agent in process',
  workflow: 'Ten tasks in process',
  tools: 'One tool call in process',
  runs: 'Durable runs without HTTP',
  queries: 'A large database',
  scale: 'One Postgres',
  nats: 'Postgres and NATS',
  disk: 'Disk space',
  growth: 'Growth',
  memory: 'Memory in process',
  children: 'Runs with many tasks',
  parked: 'Runs that only wait',
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
    ...answers(sorted),
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

/** Returns what a reader needs to choose: how many runs and streams a machine serves, the delay, and the limit. */
function answers(areas: Results['areas']): readonly string[] {
  const server = areas.find(({ area }) => area === 'server')
  const [runs] = server?.tables ?? []
  const streams = server?.tables.find(({ title }) => title.includes('WebSocket readers'))
  if (runs === undefined || streams === undefined) return []
  const tutti = (column: string): string => cellOf(runs, 'Tutti', column)
  return [
    `- **Runs**: one process with a file serves ${tutti('runs/s, 20 at once')} runs of an agent with one tool call per second, each event synced to disk, at ${tutti('memory, MiB')} MiB. Models and tools took no time there; with real ones, a run waits nearly all of its time, and the process serves as many at once as its memory holds.`,
    `- **Streams**: it sends ${cellOf(streams, 'Tutti', 'messages/s')} events per second to 1,000 readers of one run.`,
    `- **Delay**: a run that is alone has its result after ${tutti('result, ms')} ms. With 100 runs arriving per second it takes ${tutti('100 arrivals/s: result, ms')} ms at the median, and 99 % of other requests take at most ${tutti('p99 of another request, ms')} ms.`,
    `- **Limit**: processor time, ${tutti('processor ms a run, 20 at once')} ms a run, of one event loop. [More cores](production.md#how-many-processes) need more processes, and so Postgres.`,
    '',
  ]
}

/** @throws {Error} when the table has no such cell. */
function cellOf({ title, columns, rows }: Table, row: string, column: string): string {
  const cell = rows.find(([name]) => name === row)?.[columns.indexOf(column)]
  if (cell === undefined) throw new Error(`"${title}" has no "${column}" of ${row}`)
  return cell
}

/** Returns the path of the program that measures an area. */
function programOf(area: string): string {
  return area === 'scale' ? 'tooling/scale/scale.ts' : `tooling/bench/${area}.ts`
}
