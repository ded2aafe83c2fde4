import { describe, expect, it } from 'vitest'

import { createClient } from '../src/index.ts'
import { recordingClock } from './recording-clock.ts'
import { collect, frames, logged, RUN_ID, token } from './sample-run.ts'
import { wireServer } from './wire-server.ts'

import type { LoggedRunEvent } from '@tutti/protocol'

const TEXT = 'word '.repeat(200)

const ENDED_TASK = {
  type: 'task_completed',
  taskIndex: 1,
  totalTasks: 1,
  taskDescription: 'Write',
  agentRole: 'Writer',
  completedAt: '2026-01-01T00:00:00.000Z',
  durationMs: 1,
  tokenCount: 2,
  toolCallCount: 0,
  taskName: 'write',
  attempt: 1,
  output: TEXT,
  inputTokens: 1,
  outputTokens: 1,
  iterationLimitReached: false,
} as const

const FULL = logged([
  token('word '),
  ENDED_TASK,
  {
    type: 'run_result',
    runId: RUN_ID,
    status: 'COMPLETED',
    outputs: [{ taskName: 'write', output: TEXT }],
    durationMs: 12,
  },
])

/** The result as a server sends it after the end of the task. */
const SHORT = {
  ...FULL[2],
  outputs: [{ taskName: 'write', output: '' }],
  repeats: [{ at: '/outputs/0/output', seq: 1, from: '/output' }],
} as unknown as LoggedRunEvent

describe('repeated texts', () => {
  it('The client restores the texts that a server omits', async () => {
    await using server = await wireServer(async (exchange) => {
      await exchange.open().write(frames([...FULL.slice(0, 2), SHORT]))
    })
    const client = createClient({ baseUrl: server.url })
    expect(await collect(client.runs.events(RUN_ID))).toEqual(FULL)
    expect(server.exchanges[0]?.query.get('repeats')).toBe('omit')
  })

  it('[CLIENT-R3] The client rejects a reference to an event of an earlier connection', async () => {
    await using server = await wireServer(async (exchange, index) => {
      await exchange.open().write(frames(index === 0 ? FULL.slice(0, 2) : [SHORT]))
      exchange.end()
    })
    const clock = recordingClock({ skipUpToMs: 10_000 })
    const client = createClient({ baseUrl: server.url, clock })
    await expect(collect(client.runs.events(RUN_ID))).rejects.toMatchObject({
      code: 'BAD_RESPONSE',
      message: expect.stringContaining(
        '/outputs/0/output must repeat a text that this stream has sent, got /output of event 1',
      ),
    })
  })
})
