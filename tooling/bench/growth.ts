/**
 * Measures how work grows with each dimension of a run: the exponent of the work over the size, 1 for linear growth.
 *
 * It counts work instead of time, so the result is the same on every machine. In the short form an exponent above its
 * maximum is a failure: an algorithm became quadratic, or a list reads all runs.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { defineTextTool, type ToolCall } from '@tutti/core'
import { ensemble, run, task } from '@tutti/ensemble'
import { RunProjection, RunStateFold, type RunEvent } from '@tutti/protocol'

import { builtPackage } from './lib/built.ts'
import { countWork, type CountedWork } from './lib/count-work.ts'
import { fitExponent } from './lib/fit-exponent.ts'
import { isShort, sized } from './lib/form.ts'
import { formatNumber, printClaim, printTable } from './lib/report.ts'
import { awaitEnd } from './lib/runs-services.ts'

import { TaskView } from '../../packages/gateway/src/a2a/view.ts'
import { AguiRun } from '../../packages/gateway/src/ag-ui/events.ts'

import type { ChatModel } from '../../packages/ensemble/src/adapter.ts'
import type { RunJournal, RunStep } from '../../packages/ensemble/src/internal.ts'
import type { RunService, RunServiceOptions } from '../../packages/runs/src/index.ts'

type RunsDoor = typeof import('../../packages/runs/src/index.ts')

/** Greatest exponent of linear growth: small sizes and logarithms blur it. */
const LINEAR = 1.1

/** Greatest exponent of work that does not grow: an index of more levels and pages takes a little more. */
const FLAT = 0.5

const UNITS = ['blocks', 'json', 'read'] as const

/** One dimension: counts the work of a size. */
interface Dimension {
  readonly name: string
  readonly sizes: readonly number[]
  /** @default LINEAR */
  readonly maxExponent?: number
  measure(size: number): Promise<CountedWork>
}

const usage = { inputTokens: 1, outputTokens: 1 }

/** Makes `turns` turns of `calls` tool calls, then answers in `deltas` parts of `length` characters. */
function plannedModel({ turns = 0, calls = 1, deltas = 1, length = 2 }): ChatModel {
  return {
    provider: 'growth',
    name: 'model',
    async *stream({ messages }) {
      const made = messages.filter(({ role }) => role === 'assistant').length
      if (made < turns) {
        const toolCalls: ToolCall[] = Array.from({ length: calls }, (_, at) => ({
          id: `call-${made}-${at}`,
          name: 'note',
          arguments: '{"input":"x"}',
        }))
        yield { type: 'reply', reply: { text: '', toolCalls, usage } }
        return
      }
      const part = 'x'.repeat(length)
      for (let at = 0; at < deltas; at += 1) yield { type: 'text', text: part }
      yield { type: 'reply', reply: { text: part.repeat(deltas), toolCalls: [], usage } }
    },
  }
}

function noteTool(name = 'note') {
  return defineTextTool({ name, description: 'Notes', execute: () => 'noted' })
}

/** Counts the work of one task in process. */
function runTask(plan: Parameters<typeof plannedModel>[0], tools = 1): Promise<CountedWork> {
  const given = Array.from({ length: tools }, (_, at) => noteTool(at === 0 ? 'note' : `note_${at}`))
  const work = task({ name: 'work', description: 'Work', tools: given, maxIterations: 100_000 })
  return countWork(() => run(plannedModel(plan), [work]))
}

/** Counts the work of tasks in sequence. */
function runTasks(size: number): Promise<CountedWork> {
  const tasks = Array.from({ length: size }, (_, at) =>
    task({ name: `task-${at}`, description: 'Work', handler: () => 'done' }),
  )
  return countWork(() => ensemble({ name: 'growth', model: plannedModel({}), tasks }).run({}))
}

/** Returns an ensemble whose handler adds `size` tasks. */
function growingTeam(size: number) {
  // Items of the same length, so that their texts grow with their number only.
  const items = Array.from({ length: size }, (_, at) => 10_000 + at)
  const child = task({ name: 'child', description: 'Work on {item}', handler: () => 'done' })
  const grow = task({
    name: 'grow',
    description: 'Grow',
    handler: async ({ map }) => (await map(items, child, { maxItems: size })).length,
  })
  return ensemble({ name: 'growth', tasks: [grow] })
}

/** Counts the work of a handler that adds tasks. */
function addTasks(size: number): Promise<CountedWork> {
  return countWork(() => growingTeam(size).run({}))
}

/** Counts the work of a run that is resumed when half of the added tasks have ended. */
async function resumeAddedTasks(size: number): Promise<CountedWork> {
  const steps: RunStep[] = []
  const journal: RunJournal = {
    emit: (_, step) => {
      if (step !== undefined) steps.push(step)
    },
    commit: (step) => {
      steps.push(step)
      return Promise.resolve()
    },
  }
  await growingTeam(size).run({}, { journal })
  const half = { steps: steps.slice(0, steps.length / 2) }
  const sink: RunJournal = { emit: () => undefined, commit: () => Promise.resolve() }
  return countWork(() => growingTeam(size).run({}, { journal: sink, resume: half }))
}

/** Counts the work of readers that fold the events of a handler that adds tasks. */
async function foldAddedTasks(size: number): Promise<CountedWork> {
  const events: RunEvent[] = []
  const journal: RunJournal = {
    emit: (event) => void events.push(event),
    commit: () => Promise.resolve(),
  }
  await growingTeam(size).run({}, { journal })
  return countWork(() => {
    const state = new RunStateFold()
    const projection = new RunProjection()
    const agui = new AguiRun({
      ids: { threadId: 'thread', runId: 'run' },
      run: { runId: 'run', ensemble: 'growth' },
      state: undefined,
      messages: [],
      answered: new Set(),
    })
    const view = new TaskView({ createdAt: 0 })
    agui.start()
    for (const [seq, event] of events.entries()) {
      const logged = { ...event, seq, runId: 'run', id: `run:${seq}` }
      state.take(event)
      projection.take(event)
      agui.after([logged])
      view.take(logged)
    }
    const { tasks } = state.state
    return Promise.resolve([tasks, projection.isWaiting, agui.isDone, view.outputs])
  })
}

/** Opens a service over the embedded store in `directory`. */
async function openService(directory: string, options: RunServiceOptions): Promise<RunService> {
  const { createRunService, sqliteRunStorage } = await builtPackage<RunsDoor>('runs')
  const team = ensemble({
    name: 'growth',
    model: plannedModel({ turns: 20 }),
    tasks: [task({ name: 'work', description: 'Work on {topic}', tools: [noteTool()] })],
  })
  const service = createRunService(
    // Only this thread is counted.
    await sqliteRunStorage(directory, { synchronous: 'NORMAL', ownThread: false }),
    [team],
    options,
  )
  await service.start()
  return service
}

/** Counts the work of late readers of an ended run. */
async function readRun(readers: number): Promise<CountedWork> {
  return inDirectory(async (directory) => {
    const service = await openService(directory, {})
    const { runId } = await service.submit({ ensemble: 'growth', inputs: { topic: 'x' } })
    await awaitEnd(service, runId)
    const counted = await countWork(() =>
      Promise.all(Array.from({ length: readers }, () => awaitEnd(service, runId))),
    )
    await service.close({ drainTimeoutMs: 0 })
    return counted
  })
}

/** Counts the work of lists, each of one run, in a store that has just been opened. */
async function listRuns(size: number): Promise<CountedWork> {
  return inDirectory(async (directory) => {
    const options = { executes: false, maxQueuedRuns: size + 1 }
    const filling = await openService(directory, options)
    for (let at = 0; at < size; at += 1) {
      const topic = `${'filler '.repeat(100)}${uniqueWord(at)}`
      await filling.submit({ ensemble: 'growth', inputs: { topic }, tags: { at } })
    }
    await filling.close({ drainTimeoutMs: 0 })
    const service = await openService(directory, options)
    const counted = await countWork(async () => {
      await service.list({ limit: 1, tag: { key: 'at', value: '7' } })
      await service.list({ limit: 1, text: uniqueWord(7) })
      await service.list({ limit: 1, text: 'zz' })
      await service.list({ limit: 1, statuses: ['FAILED'] })
      await service.listByChange({ ensembles: ['growth'], statuses: ['FAILED'], limit: 1 })
    })
    await service.close({ drainTimeoutMs: 0 })
    return counted
  })
}

/** Returns a word that shares no trigram with other words. */
function uniqueWord(at: number): string {
  return String.fromCodePoint(0x4e00 + at).repeat(3)
}

async function inDirectory<T>(work: (directory: string) => Promise<T>): Promise<T> {
  const directory = mkdtempSync(join(tmpdir(), 'tutti-growth-'))
  try {
    return await work(directory)
  } finally {
    rmSync(directory, { recursive: true })
  }
}

const DIMENSIONS: readonly Dimension[] = [
  { name: 'tasks', sizes: sized([100, 400, 1_600], [100, 400]), measure: runTasks },
  { name: 'added tasks', sizes: sized([200, 1_000, 10_000], [100, 400]), measure: addTasks },
  {
    name: 'added tasks of a resumed run',
    sizes: sized([200, 1_000, 10_000], [100, 400]),
    measure: resumeAddedTasks,
  },
  {
    name: 'added tasks that readers fold',
    sizes: sized([200, 1_000, 10_000], [100, 400]),
    measure: foldAddedTasks,
  },
  {
    name: 'turns',
    sizes: sized([50, 200, 800], [50, 200]),
    measure: (turns) => runTask({ turns }),
  },
  {
    name: 'parallel calls',
    sizes: sized([50, 200, 800], [50, 200]),
    measure: (calls) => runTask({ turns: 1, calls }),
  },
  {
    name: 'tools',
    sizes: sized([50, 200, 800], [50, 200]),
    measure: (tools) => runTask({}, tools),
  },
  {
    name: 'deltas',
    sizes: sized([500, 2_000, 8_000], [500, 2_000]),
    measure: (deltas) => runTask({ deltas }),
  },
  {
    name: 'characters of an answer',
    sizes: sized([50_000, 200_000, 800_000], [50_000, 200_000]),
    measure: (length) => runTask({ length }),
  },
  { name: 'late readers', sizes: sized([5, 20, 80], [5, 20]), measure: readRun },
  {
    name: 'stored runs',
    sizes: sized([500, 2_000, 8_000], [250, 1_000]),
    maxExponent: FLAT,
    measure: listRuns,
  },
]

const rows: string[][] = []
const failed: string[] = []
for (const { name, sizes, maxExponent = LINEAR, measure } of DIMENSIONS) {
  // The first run also counts work that is done once.
  await measure(sizes[0] ?? 1)
  const counted: { readonly size: number; readonly work: CountedWork }[] = []
  for (const size of sizes) counted.push({ size, work: await measure(size) })
  const exponents = UNITS.map((unit) =>
    fitExponent(counted.map(({ size, work }) => ({ size, value: work[unit] }))),
  )
  rows.push([
    name,
    sizes.map(formatNumber).join(', '),
    ...UNITS.map(
      (unit, at) =>
        `${counted.map(({ work }) => formatNumber(work[unit])).join(', ')} (${formatNumber(exponents[at] ?? 0)})`,
    ),
  ])
  const measured = Math.max(...exponents)
  if (!(measured <= maxExponent)) failed.push(`${name} (${formatNumber(measured)})`)
  printClaim({
    text: `Work grows with the number of ${name} by an exponent of at most ${maxExponent}`,
    atMost: maxExponent,
    measured,
  })
}
printTable({
  title: 'Growth of work, with its exponent',
  columns: ['', 'sizes', 'blocks', 'characters of JSON', 'bytes read'],
  rows,
})
if (isShort() && failed.length > 0) {
  console.error(`Work grows too fast with the number of ${failed.join(', ')}`)
  process.exitCode = 1
}
