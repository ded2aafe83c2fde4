import { anyone } from '@tutti/gateway/internal'
import { decode, RunComparison, type LoggedRunEvent } from '@tutti/protocol'
import { describe, expect, it } from 'vitest'

import { redactor } from '../secrets/redactor.ts'
import { compareRuns } from './compare-runs.ts'

import type { RunService } from '@tutti/runs'

/** Returns a service with the runs `a` and `b`; the outputs of a task differ if `isDifferent` is true for its number. */
function servicesOf(count: number, isDifferent: (task: number) => boolean): RunService {
  const findRun = (runId: string) => ({
    run: {
      runId,
      ensemble: 'team',
      workflow: 'SEQUENTIAL',
      status: 'COMPLETED',
      inputs: {},
      createdAt: 0,
      lastSeq: 3 * count,
    },
    tasks: Array.from({ length: count }, (_, task) => ({
      taskIndex: task + 1,
      name: `grow/${task}`,
      description: 'Do',
      agentRole: 'Agent',
      status: 'COMPLETED',
      attempt: 1,
      inputTokens: 1,
      outputTokens: 1,
      toolCallCount: 0,
      output: isDifferent(task) ? `${task} of ${runId}` : 'Done',
    })),
  })
  // NOTE: a comparison reads no other fields of these events.
  const events = Array.from({ length: count }, (_, task) => [
    { type: 'delegation_started', seq: 3 * task, taskName: 'grow', workerTask: `grow/${task}` },
    { type: 'llm_iteration_completed', seq: 3 * task + 1, taskName: `grow/${task}` },
    { type: 'task_completed', seq: 3 * task + 2, taskName: `grow/${task}` },
  ]).flat() as unknown as readonly LoggedRunEvent[]
  const service = {
    get: (runId: string) => Promise.resolve(findRun(runId)),
    readEvents: ({ from, limit }: { readonly from: number; readonly limit: number }) =>
      Promise.resolve(events.slice(from, from + limit)),
  }
  // NOTE: a comparison calls nothing else of the service.
  return service as unknown as RunService
}

async function compare(count: number, isDifferent: (task: number) => boolean) {
  const options = { runs: servicesOf(count, isDifferent), redactor: redactor([]) }
  const comparison = await compareRuns(options, { a: 'a', b: 'b' }, anyone())
  expect(decode(RunComparison, comparison)).toMatchObject({ ok: true })
  return comparison
}

describe('a comparison of runs with thousands of tasks', () => {
  it('A comparison of thousands of tasks lists two thousand in order, those that differ first, and counts the others', async () => {
    const { tasks, omitted, a } = await compare(8_000, (task) => task % 1_000 === 999)
    expect(tasks).toHaveLength(2_000)
    expect(tasks.filter(({ sameOutput }) => sameOutput === false)).toHaveLength(8)
    expect(tasks.at(-1)?.name).toBe('grow/7999')
    expect(omitted).toEqual({ tasks: 6_000, different: 0 })
    expect(a).toMatchObject({ modelCalls: 8_000 })
    expect(a).not.toHaveProperty('partial')
    expect(tasks[0]?.a?.delegatedBy).toBe('grow')
  })

  it('A comparison counts the tasks that differ and are not listed', async () => {
    const { omitted } = await compare(2_500, () => true)
    expect(omitted).toEqual({ tasks: 500, different: 500 })
  })

  it('A comparison of fewer tasks lists all', async () => {
    const { tasks, omitted } = await compare(2_000, () => false)
    expect([tasks.length, omitted]).toEqual([2_000, undefined])
  })
})
