/** Small requests that would create huge texts are refused over every protocol, before anything is stored. */
import { ensemble, task } from '@tutti/ensemble'
import { scriptedModel } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { connectClient } from './mcp-client.ts'
import { openServer, type TestServer } from './open-server.ts'

/** 4 kB of template and 4 kB of input make 4 MB of text. */
const TEMPLATE = '{topic}'.repeat(1_000)
const TOPIC = 'x'.repeat(4_000)

function essayEnsemble() {
  return ensemble({
    name: 'essay',
    tasks: [task({ name: 'write', description: `Write ${TEMPLATE}` })],
    model: scriptedModel(() => 'Done'),
  })
}

const serve = (): Promise<TestServer> => openServer({ ensembles: [essayEnsemble()] })

const MESSAGE =
  'Cannot run "essay": description of task "write" with its inputs would have 4000006 bytes, ' +
  'at most 2000000 are allowed (maxTextBytes)'

async function assertNothingStored(api: TestServer): Promise<void> {
  expect((await api.runs.list({ limit: 1, offset: 0 })).total).toBe(0)
}

describe('a run whose texts would exceed the limit', () => {
  it.each<[string, object]>([
    ['an ensemble without overrides', {}],
    ['overrides', { taskOverrides: { write: { description: `Write ${TEMPLATE}` } } }],
    ['a task graph', { tasks: [{ name: 'write', description: `Write ${TEMPLATE}` }] }],
  ])('A run whose texts would exceed the limit is refused with 400 for %s', async (_, request) => {
    await using api = await serve()
    const refused = await api.post('/api/runs', { inputs: { topic: TOPIC }, ...request })
    expect([refused.status, await refused.json()]).toEqual([
      400,
      { error: 'BAD_REQUEST', message: MESSAGE, problems: [{ path: '/inputs', message: MESSAGE }] },
    ])
    await assertNothingStored(api)
  })

  it('A run whose texts would exceed the limit is refused for tasks with the same description a thousand times', async () => {
    await using api = await serve()
    const first = { name: 'first', description: 'x'.repeat(50_000) }
    const others = Array.from({ length: 999 }, () => ({ description: 'Go', context: ['$first'] }))
    const refused = await api.post('/api/runs', { tasks: [first, ...others] })
    expect([refused.status, await refused.json()]).toMatchObject([
      400,
      { message: expect.stringMatching(/its tasks together.* at most 8000000 .*maxRunTextBytes/) },
    ])
  })

  it('A run whose texts would exceed the limit is refused over WebSocket, A2A, /tasks and MCP', async () => {
    await using api = await serve()
    const socket = api.connect()
    await socket.next('hello')
    socket.send({ type: 'run_request', requestId: '1', inputs: { topic: TOPIC } })
    expect(await socket.next('run_ack')).toMatchObject({ status: 'REJECTED', message: MESSAGE })
    const parts = [{ text: TOPIC }]
    const message = { messageId: 'm', role: 'ROLE_USER', parts }
    for (const [path, body] of [
      ['/a2a/v1/message:send', { message }],
      ['/tasks/send', { params: { message: { parts } } }],
    ] as const) {
      const refused = await fetch(`${api.url}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
      expect([path, refused.status, await refused.text()]).toEqual([
        path,
        400,
        expect.stringContaining('maxTextBytes'),
      ])
    }
    await using peer = await connectClient(api)
    const called = await peer.call('essay', { topic: TOPIC })
    expect([called.isError, JSON.stringify(called.content)]).toEqual([
      true,
      expect.stringContaining('maxTextBytes'),
    ])
    await assertNothingStored(api)
  })
})
