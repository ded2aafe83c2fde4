/** The caller request of a run, as tools and handlers see it. */
import { defineTool, toolCatalog, Type } from '@tutti/core'
import type { CallerRequest } from '@tutti/core/internal'
import { ensemble, handlerOutput, requestRejected, task, type TaskHandler } from '@tutti/ensemble'
import { scriptedModel } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { a2aAgent, userMessage } from './a2a-agent.ts'
import { connectClient } from './mcp-client.ts'
import { openServer } from './open-server.ts'

/** Ensemble whose handler, and the tool of its next task, report the caller request. */
function createWitness() {
  const seen: (CallerRequest | undefined)[] = []
  const look = defineTool({
    name: 'look',
    description: 'Looks at the request',
    input: Type.Object({}),
    execute: (_input, { request }) => {
      seen.push(request)
      return 'Seen'
    },
  })
  const handled = task({
    name: 'handled',
    description: 'Handle {topic}',
    handler: ({ request }) => {
      seen.push(request)
      return 'Handled'
    },
  })
  const asked = task({ name: 'asked', description: 'Ask', tools: [look] })
  const model = scriptedModel(({ messages }) =>
    messages.at(-1)?.role === 'tool' ? 'Done' : { toolCalls: [{ name: 'look', arguments: {} }] },
  )
  return { seen, look, team: ensemble({ name: 'witness', tasks: [handled, asked], model }) }
}

describe('the caller request of a run', () => {
  it('The caller request of a run is the A2A message with its id, parts and metadata, for handlers and tools', async () => {
    const { seen, team } = createWitness()
    await using api = await a2aAgent({ ensembles: [team] })
    const message = userMessage('tides', {
      contextId: 'sea',
      parts: [{ text: 'tides' }, { data: { depth: 3 }, metadata: { unit: 'm' } }],
      metadata: { from: 'harbor' },
      unknown: 'dropped',
    })
    await api.call('SendMessage', { message, metadata: { urgent: true } })
    const { parts, messageId } = message
    const request = {
      protocol: 'a2a',
      messageId,
      contextId: 'sea',
      parts,
      metadata: { from: 'harbor' },
      requestMetadata: { urgent: true },
    }
    expect(seen).toEqual([request, request])
  })

  it('The caller request of a run is the MCP call with its arguments and _meta', async () => {
    const { seen, team } = createWitness()
    await using api = await openServer({ ensembles: [team] })
    await using peer = await connectClient(api)
    await peer.client.callTool({
      name: 'witness',
      arguments: { topic: 'tides' },
      _meta: { 'example.com/from': 'harbor' },
    })
    const request = {
      protocol: 'mcp',
      name: 'witness',
      arguments: { topic: 'tides' },
      meta: { 'example.com/from': 'harbor' },
    }
    expect(seen).toMatchObject([request, request])
  })

  it('The caller request of a run is the MCP call of a tool of the catalog', async () => {
    const { seen, look } = createWitness()
    await using api = await openServer({ tools: toolCatalog([look]) })
    await using peer = await connectClient(api)
    await peer.call('look', {})
    expect(seen).toMatchObject([{ protocol: 'mcp', name: 'look', arguments: {} }])
  })

  it('The caller request of a run is absent when the run was submitted over REST', async () => {
    const { seen, team } = createWitness()
    await using api = await openServer({ ensembles: [team] })
    const response = await fetch(`${api.url}/api/runs?wait=10`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ inputs: { topic: 'tides' } }),
    })
    expect(response.status).toBe(200)
    expect(seen).toEqual([undefined, undefined])
  })
})

/** Serves an agent with one task that has `handler`. */
function serveHandler(handler: TaskHandler) {
  const work = task({ name: 'work', description: 'Work on {topic}', handler })
  return a2aAgent({ ensembles: [ensemble({ name: 'works', tasks: [work] })] })
}

describe('the response of a handler to an A2A client', () => {
  const parts = [
    { data: { height: 3 }, mediaType: 'application/json' },
    { url: 'https://example.com/chart.png', filename: 'chart.png', mediaType: 'image/png' },
    { raw: 'YWJj', filename: 'abc.bin', mediaType: 'application/octet-stream' },
    { text: 'High tide at noon' },
  ]

  it('The response of a handler to an A2A client has the parts that the handler returns, in order', async () => {
    await using api = await serveHandler(() => handlerOutput({ text: 'High tide', parts }))
    const sent = await api.send('tides')
    expect(sent).toMatchObject({
      status: { state: 'TASK_STATE_COMPLETED' },
      artifacts: [{ artifactId: 'work', parts }],
    })
    const legacy = await api.call('tasks/get', { id: sent.id })
    expect(legacy.result.artifacts[0].parts.map(({ kind }: { kind: string }) => kind)).toEqual([
      'data',
      'file',
      'file',
      'text',
    ])
  })

  it('The response of a handler to an A2A client has the state REJECTED and the reason when the handler rejects the request', async () => {
    await using api = await serveHandler(() => {
      throw requestRejected('I only know lakes')
    })
    const { id, status } = await api.send('tides')
    expect(status).toMatchObject({
      state: 'TASK_STATE_REJECTED',
      message: { parts: [{ text: expect.stringContaining('I only know lakes') }] },
    })
    const { result } = await api.call('GetTask', { id })
    expect(result.status.state).toBe('TASK_STATE_REJECTED')
  })
})
