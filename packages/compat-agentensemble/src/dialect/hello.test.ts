import { describe, expect, it } from 'vitest'

import { readHello } from './hello.ts'

import type { LoggedRunEvent } from '@tutti/protocol'
import type { RunService } from '@tutti/runs'
import type { EventQuery } from '@tutti/runs/adapter'

/** Number of tasks that run at the same time. */
const PARALLEL = 8

const GROW = { taskName: 'grow', taskIndex: 1, attempt: 1 }

/** Returns the events of a run whose task `grow` adds `count` tasks with outputs of some length. */
function growingLog(count: number): readonly LoggedRunEvent[] {
  const added = Array.from({ length: count / PARALLEL }, (_, group) => {
    const tasks = Array.from({ length: PARALLEL }, (__, at) => {
      const taskIndex = 2 + group * PARALLEL + at
      return { taskName: `grow/${taskIndex}`, taskIndex, attempt: 1 }
    })
    const output = 'x'.repeat(400)
    return [
      ...tasks.map((task) => ({ type: 'delegation_started', ...GROW, workerTask: task.taskName })),
      ...tasks.map((task) => ({ type: 'task_started', ...task, totalTasks: count + 1 })),
      ...tasks.map((task) => ({ type: 'task_completed', ...task, output })),
    ]
  })
  const events = [
    { type: 'ensemble_started', ensembleId: 'run-1', startedAt: '2026-01-01T00:00:00Z' },
    { type: 'task_started', ...GROW, totalTasks: 1 },
    ...added.flat(),
    { type: 'task_completed', ...GROW, output: 'Grown' },
    { type: 'ensemble_completed', ensembleId: 'run-1' },
    { type: 'run_result', status: 'COMPLETED', outputs: [] },
  ]
  // NOTE: with the fields that are read.
  return events.map(
    (event, seq) => ({ ...event, seq, runId: 'run-1', id: `run-1:${seq}` }) as LoggedRunEvent,
  )
}

/** Returns the hello of a run with these events, and the number of events that were read for it. */
async function helloOf(log: readonly LoggedRunEvent[]) {
  let read = 0
  const runs = {
    record: () => ({ runId: 'run-1', status: 'COMPLETED', lastSeq: log.length - 1 }),
    readEvents: ({ from, limit, maxBytes = Infinity, types }: EventQuery) => {
      const found: LoggedRunEvent[] = []
      let bytes = 0
      for (const event of log.slice(from)) {
        if (types?.includes(event.type) === false) continue
        found.push(event)
        bytes += JSON.stringify(event).length
        if (found.length === limit || bytes >= maxBytes) break
      }
      read += found.length
      return Promise.resolve(found)
    },
  }
  // NOTE: it calls nothing else of the service.
  const { message } = await readHello(runs as unknown as RunService, 'run-1')
  return { message, events: message.snapshotTrace ?? [], read: () => read }
}

describe('[AE-V3] the hello of a run with thousands of added tasks', () => {
  it('The hello of a run has its first and newest tasks, all as ended, and its end', async () => {
    const log = growingLog(8_000)
    const { message, events } = await helloOf(log)
    expect(JSON.stringify(message).length).toBeLessThan(2_500_000)
    const open = new Set<number>()
    for (const event of events) {
      if (event.type === 'task_started') open.add(event.taskIndex)
      if (event.type === 'task_completed') open.delete(event.taskIndex)
    }
    expect([...open]).toEqual([])
    const seqs = events.map(({ seq }) => seq)
    expect(seqs).toEqual([...new Set(seqs)].toSorted((a, b) => a - b))
    expect(seqs[0]).toBe(0)
    const started = events.filter(({ type }) => type === 'task_started')
    expect(started.at(-1)).toMatchObject({ taskName: 'grow/8001', totalTasks: 8_001 })
    expect(started.length).toBeLessThan(8_001)
    expect(events.at(-1)?.type).toBe('ensemble_completed')
  })

  it('The hello of a run is read from a bounded number of events', async () => {
    const [one, other] = [await helloOf(growingLog(8_000)), await helloOf(growingLog(16_000))]
    expect(other.read()).toBeLessThanOrEqual(one.read())
  })

  it('The hello of a short run has all events', async () => {
    const log = growingLog(80)
    expect((await helloOf(log)).events).toEqual(log)
  })
})
