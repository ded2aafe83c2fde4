/** A run has the trace of its caller, over every protocol, and passes it on. */
import { createServer, type IncomingHttpHeaders } from 'node:http'

import { defineTextTool, toolCatalog } from '@tutti/core'
import { runSpanKey, spanTraceparent } from '@tutti/core/internal'
import { ensemble, task } from '@tutti/ensemble'
import { scriptedModel } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { openServer } from './open-server.ts'

import type { AddressInfo } from 'node:net'
import type { Ensemble } from '@tutti/ensemble'

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const traceparent = `00-${TRACE}-b7ad6b7169203331-01`
const tracestate = 'vendor=1,other=2'

/** An ensemble and a tool that record their trace context. */
function createWatcher() {
  const seen: (string | undefined)[] = []
  const look = defineTextTool({
    name: 'look',
    description: 'Looks',
    execute: (_, context) => {
      seen.push(context.traceparent, context.tracestate)
      return 'seen'
    },
  })
  const watch: Ensemble = ensemble({
    name: 'watch',
    tasks: [task({ name: 'watch', description: 'Watch', handler: look })],
    model: scriptedModel([]),
  })
  return { seen, look, ensembles: [watch] }
}

const OF_TRACE = [expect.stringMatching(new RegExp(`^00-${TRACE}-[0-9a-f]{16}-01$`)), tracestate]

describe('a run', () => {
  it.each([
    ['has the trace of the request that submitted it', traceparent, true],
    ['starts a new trace when the header is malformed', `00-${TRACE}-x-01`, false],
  ])('A run %s', async (_what, given, isIn) => {
    const { seen, ensembles } = createWatcher()
    await using api = await openServer({ ensembles })
    await api.post('/api/runs?wait=30', {}, { traceparent: given, tracestate })
    expect(seen[0]).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-0[01]$/)
    expect(seen[0]?.includes(TRACE)).toBe(isIn)
    expect(seen[1]).toBe(isIn ? tracestate : undefined)
    const again = await api.runs.list({ limit: 1, offset: 0 })
    const kept = await api.runs.record(again.runs[0]?.runId ?? '')
    expect(kept?.request).toEqual(isIn ? { traceparent, tracestate } : undefined)
  })

  it('A run has the trace of the message that submitted it', async () => {
    const { seen, ensembles } = createWatcher()
    await using api = await openServer({ ensembles })
    await using socket = api.connect()
    await socket.next('hello')
    socket.send({ type: 'run_request', traceContext: { traceparent, tracestate } })
    await socket.next('run_result')
    expect(seen).toEqual(OF_TRACE)
  })
})

describe('a direct tool call', () => {
  it('A direct tool call has the trace of its request', async () => {
    const { seen, look, ensembles } = createWatcher()
    await using api = await openServer({ ensembles, tools: toolCatalog([look]) })
    const headers = { traceparent, tracestate }
    await api.post('/api/tools/look/invoke', { input: 'x' }, headers)
    expect(seen).toEqual(OF_TRACE)
  })
})

describe('a webhook', () => {
  it('A webhook is called in the span of the run', async () => {
    const received = Promise.withResolvers<IncomingHttpHeaders>()
    const receiver = createServer((request, response) => {
      received.resolve(request.headers)
      response.end()
    })
    await new Promise<void>((resolve) => {
      receiver.listen(0, '127.0.0.1', resolve)
    })
    // NOTE: a server that listens on a port has such an address.
    const { port } = receiver.address() as AddressInfo
    const { ensembles } = createWatcher()
    const secret = `whsec_${btoa('x'.repeat(24))}`
    const webhooks = { ops: { url: `http://127.0.0.1:${port}`, secret } }
    await using api = await openServer({ ensembles, webhooks })
    const body = { runId: 'run-1', webhooks: ['ops'] }
    await api.post('/api/runs', body, { traceparent, tracestate })
    expect(await received.promise).toMatchObject({
      traceparent: spanTraceparent(traceparent, runSpanKey('run-1')),
      tracestate,
    })
    receiver.closeAllConnections()
    receiver.close()
  })
})
