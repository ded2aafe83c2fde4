/** Runs that exceed the limits of their size. */
import { defineTextTool } from '@tutti/core'
import { ensemble, task } from '@tutti/ensemble'
import { scriptedModel } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { allEvents, openRuns, temporaryDirectory } from './waiting-ensemble.ts'

import type { RunServiceOptions } from '@tutti/runs'
import type { LoggedRunEvent } from '@tutti/protocol'

/** Returns the events of a run whose tool is called `calls` times, with results of a given length. */
async function runEvents(
  { calls, length }: { readonly calls: number; readonly length: number },
  limits: RunServiceOptions,
): Promise<readonly LoggedRunEvent[]> {
  using directory = temporaryDirectory()
  const read = defineTextTool({
    name: 'read',
    description: 'Reads',
    execute: async () => 'r'.repeat(length),
  })
  const model = scriptedModel(({ messages }) =>
    messages.filter(({ role }) => role === 'tool').length < calls
      ? { toolCalls: [{ name: 'read', arguments: { input: 'all' } }] }
      : 'Done',
  )
  const first = task({ name: 'first', description: 'Go first', handler: () => 'made first' })
  const story = task({ name: 'story', description: 'Tell', tools: [read], context: [first] })
  const team = ensemble({ name: 'team', tasks: [first, story], model, workflow: 'SEQUENTIAL' })
  const service = await openRuns(directory.path, [team], limits)
  const { runId } = await service.submit({ inputs: {} })
  const events = await allEvents(service, runId)
  await service.close({ drainTimeoutMs: 1_000 })
  return events
}

const bytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value))

describe('a run that exceeds the limits of its size', () => {
  it('A run that exceeds the limits of its size fails with RUN_TOO_LARGE, and retains earlier events and completed tasks', async () => {
    const events = await runEvents({ calls: 20, length: 10_000 }, { maxStoredRunBytes: 200_000 })
    expect(events.at(-1)).toMatchObject({
      type: 'run_result',
      status: 'FAILED',
      code: 'RUN_TOO_LARGE',
      error: expect.stringMatching(
        /^Run run-\w+ has 2\d{5} bytes in the store; at most 200000 are allowed \(maxStoredRunBytes\)$/,
      ),
      outputs: [{ taskName: 'first', output: 'made first' }],
    })
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index))
    expect(events.filter(({ type }) => type === 'tool_called').length).toBeGreaterThan(2)
    expect(events).toContainEqual(
      expect.objectContaining({ type: 'task_failed', taskName: 'story', code: 'RUN_TOO_LARGE' }),
    )
    expect(events.reduce((sum, event) => sum + bytes(event), 0)).toBeLessThan(220_000)
  })

  it('A run that exceeds the limits of its size completes below the limit', async () => {
    const events = await runEvents({ calls: 2, length: 10_000 }, { maxStoredRunBytes: 200_000 })
    expect(events.at(-1)).toMatchObject({ status: 'COMPLETED' })
  })

  it('A run that exceeds the limits of its size fails at an event that is too large, which is not stored', async () => {
    const events = await runEvents({ calls: 1, length: 50_000 }, { maxEventBytes: 40_000 })
    expect(events.at(-1)).toMatchObject({
      status: 'FAILED',
      code: 'RUN_TOO_LARGE',
      error: expect.stringMatching(
        /^Event tool_called of run run-\w+ has 5\d{4} bytes; at most 40000 are allowed \(maxEventBytes\)$/,
      ),
    })
    expect(Math.max(...events.map(bytes))).toBeLessThan(40_000)
  })

  it('A run that exceeds the limits of its size completes with an event just below the limit', async () => {
    const events = await runEvents({ calls: 1, length: 38_000 }, { maxEventBytes: 41_000 })
    expect(events.at(-1)).toMatchObject({ status: 'COMPLETED' })
  })
})
