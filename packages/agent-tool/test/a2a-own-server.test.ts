import { USAGE_EXTENSION } from '@tutti/protocol/internal'
import { runTool, TuttiError, type RunToolOptions } from '@tutti/core'
import type { TimedAgentReport } from '@tutti/core/internal'
import { defineAgentTool, type AgentToolSettings } from '@tutti/agent-call/internal'
import { scriptedReviewer } from '@tutti/testing'
import { describe, expect, onTestFinished, test } from 'vitest'

import { a2aConnector } from '../src/a2a/a2a-connector.ts'
import { peerServer, type PeerServer } from './peer-server.ts'

/** Starts a Tutti server that stops with the test. */
async function startServer(options: Parameters<typeof peerServer>[0] = {}): Promise<PeerServer> {
  const server = await peerServer(options)
  onTestFinished(() => server[Symbol.asyncDispose]())
  return server
}

interface Asking extends Partial<AgentToolSettings<string>> {
  readonly options?: RunToolOptions
  readonly headers?: Readonly<Record<string, string>>
}

/** Calls an ensemble of a server through an agent tool. */
function ask(server: PeerServer, ensemble: string, asking: Asking = {}) {
  const { options = {}, headers = {}, ...settings } = asking
  const url = `${server.url.replace(/^ws/, 'http')}/agents/${ensemble}`
  const connector = a2aConnector({ url, headers })
  onTestFinished(() => connector.close?.())
  const events: TimedAgentReport[] = []
  const tool = defineAgentTool({ name: ensemble, description: 'Asks it', connector, ...settings })
  const outcome = runTool(
    tool,
    { id: 'call-1', name: ensemble, arguments: '{"input":"a song"}' },
    { onAgentReport: (_, report) => events.push(report), ...options },
  )
  return { outcome, events }
}

const MODES = ['sync', 'streaming', 'conversational'] as const

describe('a Tutti server over A2A', () => {
  test.each(MODES)(
    'A Tutti server over A2A returns the output of the run as the answer in mode %s',
    async (mode) => {
      const { outcome, events } = ask(await startServer(), 'echo', { mode })
      expect((await outcome).result).toMatchObject({ success: true, output: 'Answer 1' })
      expect(events.at(-1)).toMatchObject({ type: 'agent_tool_completed', output: 'Answer 1' })
    },
  )

  test('A Tutti server over A2A sends the task first when it streams, and usage with its status updates', async () => {
    const server = await startServer()
    const { outcome, events } = ask(server, 'echo', { mode: 'streaming' })
    await outcome
    const chunks = events.flatMap((event) =>
      event.type === 'agent_tool_progress' ? [event.chunk] : [],
    )
    const [run] = await server.list()
    expect(chunks[0]).toMatchObject({ task: { id: run?.runId } })
    expect(chunks.at(-1)).toMatchObject({
      statusUpdate: { metadata: { [USAGE_EXTENSION]: { total_tokens: expect.any(Number) } } },
    })
  })

  test.each(MODES)(
    'A Tutti server over A2A reports a failed run as a failure of the agent in mode %s',
    async (mode) => {
      const { outcome, events } = ask(await startServer(), 'mute', { mode })
      expect((await outcome).result.success).toBe(false)
      expect(events.at(-1)).toMatchObject({
        type: 'agent_tool_error',
        failure_type: 'agent_failed',
        error: expect.stringContaining('No voice'),
      })
    },
  )

  test.each(MODES)(
    'A Tutti server over A2A sends a review to the reviewer of the caller in mode %s',
    async (mode) => {
      const server = await startServer()
      const reviewer = scriptedReviewer([{ action: 'EDIT', input: 'yes' }])
      const { outcome, events } = ask(server, 'choir', { mode, options: { reviewer } })
      expect((await outcome).result.output).toBe('Answer 1')
      expect(reviewer.requests[0]?.description).toContain('Is it in tune?')
      expect(events.at(-1)).toMatchObject({ type: 'agent_tool_completed', total_turns: 2 })
      expect(await server.list()).toHaveLength(1)
    },
  )

  test.each(['sync', 'streaming'] as const)(
    'A Tutti server over A2A cancels the run when the caller cancels the call in mode %s',
    async (mode) => {
      const server = await startServer()
      const cancelling = new AbortController()
      const { outcome, events } = ask(server, 'band', {
        mode,
        options: { signal: cancelling.signal },
      })
      await server.waiting
      cancelling.abort(new TuttiError('CANCELLED', 'Enough'))
      await outcome.catch(() => undefined)
      await server.stopped
      const [run] = await server.list()
      await server.ended(run?.runId ?? '')
      expect((await server.list())[0]?.status).toBe('CANCELLED')
      expect(events.at(-1)).toMatchObject({ type: 'agent_tool_terminated', reason: 'cancelled' })
    },
  )

  test('A Tutti server over A2A fails for an ensemble that does not exist', async () => {
    const { outcome } = ask(await startServer(), 'missing')
    await expect(outcome).resolves.toMatchObject({ result: { success: false } })
  })
})
