import { USAGE_EXTENSION } from '@tutti/protocol/internal'
import { describe, expect, it } from 'vitest'

import { runAnswer } from './answer.ts'

import type { RunEvent } from '@tutti/protocol'

function read(events: readonly object[], valueTask?: string) {
  const answer = runAnswer('run-1', valueTask)
  // NOTE: an answer reads no other fields.
  for (const event of events) answer.add(event as RunEvent)
  return answer.result()
}

const OUTPUTS = [
  { taskName: 'a', output: 'A' },
  { taskName: 'b', output: 'B' },
]

function end(status: string, more: object = {}) {
  return { type: 'run_result', status, outputs: OUTPUTS, outputTask: 'b', durationMs: 1, ...more }
}

describe('runAnswer', () => {
  it('runAnswer returns undefined before the run has ended', () => {
    expect(read([{ type: 'task_completed', taskName: 'a' }])).toBeUndefined()
  })

  it('runAnswer returns the last output, and the value of the task that declares an output schema', () => {
    const task = { type: 'task_completed', taskName: 'b', structuredOutput: { n: 1 } }
    const result = { output: 'B', runId: 'run-1', status: 'COMPLETED' }
    expect(read([task, end('COMPLETED')], 'b')).toEqual({
      content: [{ type: 'text', text: 'B' }],
      structuredContent: { ...result, structured: { n: 1 } },
    })
    expect(read([task, end('COMPLETED')], 'a')?.structuredContent).toEqual(result)
    expect(read([task, end('COMPLETED')])?.structuredContent).toEqual(result)
  })

  it('runAnswer returns the value of the last attempt', () => {
    const first = { type: 'task_completed', taskName: 'b', structuredOutput: 1 }
    const events = [first, { ...first, structuredOutput: undefined }, end('COMPLETED')]
    expect(read(events, 'b')?.structuredContent).not.toHaveProperty('structured')
  })

  it.each(['COMPLETED', 'FAILED'])('runAnswer reports the usage of a run that is %s', (status) => {
    const call = {
      type: 'llm_iteration_completed',
      inputTokens: 90,
      outputTokens: 10,
      costUsd: 0.25,
    }
    expect(read([call, call, end(status)])?._meta).toEqual({
      [USAGE_EXTENSION]: { total_tokens: 200, total_cost_usd: 0.5 },
    })
    expect(read([end(status)])).not.toHaveProperty('_meta')
  })

  it('runAnswer returns a text even if the run has no output', () => {
    expect(read([end('COMPLETED', { outputs: [] })])).toMatchObject({
      content: [{ text: 'The run completed without output' }],
      structuredContent: { output: '' },
    })
  })

  it('[GW-GP1] runAnswer leaves out the outputs of counted tasks before a failure', () => {
    const names = Array.from({ length: 100 }, (_, at) => `a/${at}`)
    const added = names.map((workerTask) => ({
      type: 'delegation_started',
      taskName: 'a',
      workerTask,
      delegationId: workerTask,
    }))
    const outputs = [...OUTPUTS, ...names.map((taskName) => ({ taskName, output: 'C' }))]
    const content = read([...added, end('FAILED', { outputs, error: 'No' })])?.content ?? []
    expect(content).toHaveLength(1 + OUTPUTS.length + 20 + 1)
    expect(content.at(-1)).toEqual({
      type: 'text',
      text: 'Left out: outputs of 80 more added tasks. Read them with GET /api/runs/run-1',
    })
  })

  it('runAnswer reports the reason of a failure, and the outputs before it', () => {
    const result = read([end('FAILED', { error: 'No strings' })])
    expect(result).toMatchObject({
      isError: true,
      structuredContent: { status: 'FAILED', error: 'No strings', completedTasks: OUTPUTS },
    })
    expect(result?.content).toEqual([
      { type: 'text', text: 'The run failed (run-1): No strings' },
      { type: 'text', text: 'Output of completed task "a":\nA' },
      { type: 'text', text: 'Output of completed task "b":\nB' },
    ])
  })

  it('runAnswer reports that a cancelled run was cancelled', () => {
    expect(read([end('CANCELLED', { outputs: [] })])).toMatchObject({
      isError: true,
      content: [{ text: 'The run was cancelled (run-1)' }],
      structuredContent: { status: 'CANCELLED', output: '', error: 'The run was cancelled' },
    })
  })
})
