import { runTool, TuttiError, type RunToolOptions } from '@tutti/core'
import type { TimedAgentReport } from '@tutti/core/internal'
import { defineAgentTool, type AgentToolSettings } from '@tutti/agent-call/internal'
import { scriptedReviewer } from '@tutti/testing'
import { describe, expect, onTestFinished, test } from 'vitest'

import { tasksConnector } from '../src/connector/index.ts'
import { peerServer, type PeerServer } from '../../agent-tool/test/peer-server.ts'

/** Starts a Tutti server that stops with the test. */
async function startServer(): Promise<PeerServer> {
  const server = await peerServer()
  onTestFinished(() => server[Symbol.asyncDispose]())
  return server
}

/** Calls an ensemble of a server through an agent tool. */
function ask(
  server: PeerServer,
  ensemble: string,
  { options = {}, ...settings }: Partial<AgentToolSettings<string>> & { options?: RunToolOptions },
) {
  const url = `${server.url.replace(/^ws/, 'http')}/agents/${ensemble}`
  const connector = tasksConnector({ url })
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

describe('a Tutti server over the tasks wire', () => {
  test('A Tutti server over the tasks wire returns the output as text and the task as the value in sync mode', async () => {
    const server = await startServer()
    const { result } = await ask(server, 'echo', {}).outcome
    expect(result).toMatchObject({
      success: true,
      output: 'Answer 1',
      structured: { status: 'completed', output: 'Answer 1', id: expect.any(String) },
    })
  })

  test('A Tutti server over the tasks wire sends the id first and the task last when it streams', async () => {
    const server = await startServer()
    const { outcome, events } = ask(server, 'echo', { mode: 'streaming' })
    expect((await outcome).result.output).toBe('Answer 1')
    const chunks = events.flatMap((event) =>
      event.type === 'agent_tool_progress' ? [event.chunk] : [],
    )
    const [run] = await server.list()
    expect(chunks[0]).toEqual({ id: run?.runId, status: 'working' })
    expect(chunks.at(-1)).toMatchObject({ id: run?.runId, status: 'completed' })
  })

  test('A Tutti server over the tasks wire ends a conversation with a completed task', async () => {
    const server = await startServer()
    const { outcome, events } = ask(server, 'echo', { mode: 'conversational' })
    expect((await outcome).result.output).toBe('Answer 1')
    expect(events.at(-1)).toMatchObject({ type: 'agent_tool_completed', total_turns: 1 })
  })

  test.each(['sync', 'streaming', 'conversational'] as const)(
    'A Tutti server over the tasks wire reports a failed task as a failure of the agent in mode %s',
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

  test.each(['sync', 'streaming', 'conversational'] as const)(
    'A Tutti server over the tasks wire sends a review to the reviewer of the caller in mode %s',
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

  test('A Tutti server over the tasks wire cancels the run when the caller cancels the call', async () => {
    const server = await startServer()
    const cancelling = new AbortController()
    const { outcome, events } = ask(server, 'band', {
      mode: 'streaming',
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
  })

  test('A Tutti server over the tasks wire fails with an HTTP error for an unknown ensemble', async () => {
    const { outcome, events } = ask(await startServer(), 'missing', {})
    await outcome
    expect(events.at(-1)).toMatchObject({
      failure_type: 'http_error',
      retryable: false,
      error: expect.stringContaining("Unknown agent 'missing'"),
    })
  })
})
