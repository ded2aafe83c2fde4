import { redactor } from '@tutti/control-api/internal'
import { describe, expect, it } from 'vitest'

import { jsonLogger } from './log.ts'
import { runLogListeners } from './run-log.ts'

import type { LoggedRunEvent } from '@tutti/protocol'
import type { RunRecord } from '@tutti/runs/adapter'

const SECRET = 'sk-live-1234567890'
const RUN = { runId: 'run-1', ensemble: 'trip', createdAt: 0, epoch: 1 }
const FAILED = {
  taskName: 'plan',
  attempt: 1,
  durationMs: 5,
  code: 'OUTPUT_INVALID',
  reason: `The answer has no city (${SECRET})`,
}

function log(...events: readonly object[]): readonly Readonly<Record<string, unknown>>[] {
  const lines: string[] = []
  const logger = jsonLogger((line) => lines.push(line), { redactor: redactor([SECRET]) })
  const { onActivity, onExecuted } = runLogListeners(logger)
  const claimed = { kind: 'claimed', run: RUN as unknown as RunRecord, lostOwners: 0 } as const
  for (const listener of onActivity) listener(claimed)
  for (const listener of onExecuted) listener('run-1', events as readonly LoggedRunEvent[])
  return lines.slice(1).map((line) => JSON.parse(line) as Record<string, unknown>)
}

describe('the log of failures', () => {
  it('The log of failures has the message of the error of a task, a model call and a run, redacted, as warnings', () => {
    const lines = log(
      { type: 'task_attempt_failed', ...FAILED, willRetry: true },
      { type: 'task_failed', ...FAILED, willRetry: false },
      {
        type: 'llm_iteration_failed',
        taskName: 'plan',
        attempt: 1,
        model: 'main',
        code: 'MODEL_FAILED',
        reason: `401 Incorrect API key provided: ${SECRET}`,
        retryInMs: 425,
      },
      {
        type: 'run_result',
        status: 'FAILED',
        durationMs: 9,
        code: 'OUTPUT_INVALID',
        error: 'Task "plan" failed: The answer has no city',
      },
    )
    const reason = 'The answer has no city ([redacted])'
    expect(lines).toEqual([
      expect.objectContaining({ level: 'warn', message: 'Task failed', reason, willRetry: true }),
      expect.objectContaining({ level: 'warn', message: 'Task failed', reason, willRetry: false }),
      expect.objectContaining({
        level: 'warn',
        message: 'Model call failed',
        reason: '401 Incorrect API key provided: [redacted]',
        retryInMs: 425,
      }),
      expect.objectContaining({
        level: 'warn',
        message: 'Run ended',
        status: 'FAILED',
        reason: 'Task "plan" failed: The answer has no city',
      }),
    ])
  })

  it('The log of failures has at most 2,000 characters of a message', () => {
    const [line] = log({ type: 'task_failed', ...FAILED, reason: 'x'.repeat(3_000) })
    expect(line?.['reason']).toBe(`${'x'.repeat(2_000)}\n[truncated: 3000 characters in full]`)
  })

  it('The log of failures has the rejection of a reviewer at level info, without the feedback', () => {
    const [line] = log({ type: 'task_failed', ...FAILED, code: 'REVIEW_REJECTED', willRetry: true })
    expect(line).toMatchObject({ level: 'info', message: 'Task rejected', willRetry: true })
    expect(line).not.toHaveProperty('reason')
  })

  it.each(['COMPLETED', 'CANCELLED'])(
    'The log of failures reports a run that is %s at level info',
    (status) => {
      const [line] = log({ type: 'run_result', status, durationMs: 9 })
      expect(line).toMatchObject({ level: 'info', message: 'Run ended', status })
      expect(line).not.toHaveProperty('reason')
    },
  )
})
