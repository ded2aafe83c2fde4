import { USAGE_EXTENSION } from '@tutti/protocol'
import { runTool, TuttiError, type RunToolOptions, type TimedAgentReport } from '@tutti/core'
import { defineAgentTool, type AgentToolSettings } from '@tutti/agent-call'
import { scriptedReviewer } from '@tutti/testing'
import { describe, expect, onTestFinished, test } from 'vitest'

import { a2aConnector } from '../src/a2a/a2a-connector.ts'
import { peerServer, type PeerServer } from './peer-server.ts'

/** Our own server, which ends with its test. */
async function ownServer(options: Parameters<typeof peerServer>[0] = {}): Promise<PeerServer> {
  const server = await peerServer(options)
  onTestFinished(() => server[Symbol.asyncDispose]())
  return server
}

interface Asking extends Partial<AgentToolSettings<string>> {
  readonly options?: RunToolOptions
  readonly headers?: Readonly<Record<string, string>>
}

/** Asks one ensemble of a server, as a tool does. */
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

describe('our own server over A2A', () => {
  test.each(MODES)('%s: the answer is the output of the run', async (mode) => {
    const { outcome, events } = ask(await ownServer(), 'echo', { mode })
    expect((await outcome).result).toMatchObject({ success: true, output: 'Answer 1' })
    expect(events.at(-1)).toMatchObject({ type: 'agent_tool_completed', output: 'Answer 1' })
  })

  test('streaming: the task comes first, and what it has used comes with its news', async () => {
    const server = await ownServer()
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

  test.each(MODES)('%s: a run that fails is a failure of the agent', async (mode) => {
    const { outcome, events } = ask(await ownServer(), 'mute', { mode })
    expect((await outcome).result.success).toBe(false)
    expect(events.at(-1)).toMatchObject({
      type: 'agent_tool_error',
      failure_type: 'agent_failed',
      error: expect.stringContaining('No voice'),
    })
  })

  test.each(MODES)('%s: a review is decided by the reviewer of the caller', async (mode) => {
    const server = await ownServer()
    const reviewer = scriptedReviewer([{ action: 'EDIT', input: 'yes' }])
    const { outcome, events } = ask(server, 'choir', { mode, options: { reviewer } })
    expect((await outcome).result.output).toBe('Answer 1')
    expect(reviewer.requests[0]?.description).toContain('Is it in tune?')
    expect(events.at(-1)).toMatchObject({ type: 'agent_tool_completed', total_turns: 2 })
    expect(await server.list()).toHaveLength(1)
  })

  test.each(['sync', 'streaming'] as const)(
    '%s: a cancel from above stops the run',
    async (mode) => {
      const server = await ownServer()
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

  test('an ensemble that is not there has no card', async () => {
    const { outcome } = ask(await ownServer(), 'nobody')
    await expect(outcome).resolves.toMatchObject({ result: { success: false } })
  })
})
