/** A run with many added tasks: its ensemble, and the checks that none of them is lost and none is done twice. */
import { ensemble, task, type Ensemble, type StepContext } from '@tutti/ensemble'
import { sqliteRunStorage } from '../../../packages/runs/src/index.ts'
import { postgresRunStorage } from '../../../packages/runs/src/stores/postgres/index.ts'

import type { LoggedRunEvent } from '@tutti/protocol'
import type { RunStorage } from '../../../packages/runs/src/adapter.ts'

/** Name of the ensemble, and of the task that adds the others. */
export const CHILDREN = 'children'

/** Time without a heartbeat after which another process continues a run, in milliseconds; the least that is possible. */
export const LEASE_MS = 1_000

/** Maximum number of tasks at the same time, so that each kill interrupts several steps. */
export const MAX_PARALLEL = 10

/** Opens the store in a directory, or in the database of a URL. */
export async function openStore(location: string): Promise<RunStorage> {
  return location.startsWith('postgres')
    ? postgresRunStorage({ connectionString: location, maxConnections: 4 })
    : sqliteRunStorage(location)
}

/** Makes an ensemble that adds `count` tasks, an input, each with one step that does `work`. */
export function makeChildren(work: (item: string, step: StepContext) => Promise<void>): Ensemble {
  const child = task({
    name: 'child',
    description: 'Append {item}',
    async handler({ step, inputs: { item = '' } }) {
      await step('append', (context) => work(item, context))
      return item
    },
  })
  const all = task({
    name: CHILDREN,
    description: 'Append {count} items',
    async handler({ map, inputs }) {
      const items = Array.from({ length: Number(inputs['count']) }, (_, index) => index)
      const options = { maxItems: Math.max(1, items.length), key: String }
      return (await map(items, child, options)).length
    },
  })
  return ensemble({ name: CHILDREN, tasks: [all], maxConcurrentTasks: MAX_PARALLEL })
}

/** A line that a step has appended. */
export interface AppendedLine {
  readonly item: string
  readonly idempotencyKey: string
  readonly pid: number
}

/** Returns the whole lines of the file. */
export function readLines(text: string): readonly AppendedLine[] {
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => {
      const [item = '', idempotencyKey = '', pid = ''] = line.split(' ')
      return { item, idempotencyKey, pid: Number(pid) }
    })
}

/** All that is known of a run after its end. */
export interface ChildrenEvidence {
  readonly count: number
  readonly lines: readonly AppendedLine[]
  /** Processes that were killed. */
  readonly killed: ReadonlySet<number>
  readonly events: readonly LoggedRunEvent[]
  /** Number of recorded ends of steps, by the name of their task. */
  readonly steps: ReadonlyMap<string, number>
}

/** Findings of {@link judgeChildren}. */
export interface ChildrenVerdict {
  readonly violations: readonly string[]
  /** Number of side effects that were repeated under the same key, because a process died before it recorded them. */
  readonly repeats: number
  /** Number of times that another process continued the run. */
  readonly takeovers: number
}

/**
 * Checks a run after its end: each item has exactly one task that was completed once, one recorded step and one idempotency
 * key; a side effect is repeated only if the process that performed it was killed; the log has no gap.
 */
export function judgeChildren(evidence: ChildrenEvidence): ChildrenVerdict {
  const { count, lines, killed, events, steps } = evidence
  const violations: string[] = []
  const expect = (isTrue: boolean, problem: string): void => {
    if (!isTrue) violations.push(problem)
  }
  const byItem = Map.groupBy(lines, ({ item }) => item)
  let repeats = 0
  for (let index = 0; index < count; index += 1) {
    const done = byItem.get(String(index)) ?? []
    expect(done.length > 0, `item ${index} is lost: its step was never performed`)
    const keys = new Set(done.map(({ idempotencyKey }) => idempotencyKey))
    expect(keys.size <= 1, `item ${index} was done under ${keys.size} keys: ${[...keys].join()}`)
    repeats += Math.max(0, done.length - 1)
    for (const { pid } of done.slice(0, -1)) {
      expect(killed.has(pid), `item ${index} was done again although process ${pid} was not killed`)
    }
    const recorded = steps.get(`${CHILDREN}/${index}`) ?? 0
    expect(recorded === 1, `the step of item ${index} is recorded ${recorded} times`)
  }
  expect(byItem.size === count, `${byItem.size} items were done instead of ${count}`)
  const most = killed.size * MAX_PARALLEL
  expect(
    repeats <= most,
    `${repeats} steps were repeated, more than ${most} in flight at the kills`,
  )
  const seqs = events.map(({ seq }) => seq)
  expect(
    seqs.every((seq, index) => seq === index),
    'the log has a gap or a repeated event',
  )
  for (const type of ['delegation_started', 'delegation_completed', 'task_completed'] as const) {
    const names = events.flatMap((event) => (event.type === type ? [nameOf(event)] : []))
    const children = names.filter((name) => name !== CHILDREN)
    expect(
      children.length === count && new Set(children).size === count,
      `${children.length} events ${type} of ${new Set(children).size} tasks instead of ${count}`,
    )
  }
  const status = events.flatMap((event) => (event.type === 'run_result' ? [event.status] : []))
  expect(status.join() === 'COMPLETED', `the run ended as ${status.join() || 'nothing'}`)
  const output = events.flatMap((event) =>
    event.type === 'task_completed' && event.taskName === CHILDREN ? [event.output] : [],
  )
  expect(output.join() === String(count), `the handler returned ${output.join()}, not ${count}`)
  const takeovers = events.filter(({ type }) => type === 'run_resumed').length
  return { violations, repeats, takeovers }
}

function nameOf(event: LoggedRunEvent): string {
  if ('workerTask' in event && event.workerTask !== undefined) return event.workerTask
  return 'taskName' in event && event.taskName !== undefined ? event.taskName : ''
}
