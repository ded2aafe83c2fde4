/** A server without extensions, and options that two extensions cannot share. */
import { describe, expect, it } from 'vitest'

import { agentEnsemble } from '../../compat-agentensemble/src/index.ts'
import { jamJet } from '../../compat-jamjet/src/index.ts'
import { resolveControlApiOptions } from '../src/options.ts'
import { openServer } from './open-server.ts'

const WITHOUT = { extensions: [] }

/** Messages that only an extension answers. */
const ADDED = [
  { type: 'task_request', requestId: 'r-1', from: 'kitchen', task: 'band' },
  { type: 'tool_request', requestId: 'r-1', tool: 'wait' },
  { type: 'capability_query', requestId: 'r-1' },
]

describe('a server without extensions', () => {
  it('[GW-EX1] A server without extensions does not serve the routes of any', async () => {
    await using api = await openServer(WITHOUT)
    const runId = await api.submit()
    for (const path of ['trace', 'dag'])
      expect((await fetch(`${api.url}/api/runs/${runId}/${path}`)).status).toBe(404)
    for (const path of ['send', 'sendSubscribe', 'cancel']) {
      const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' }
      expect((await fetch(`${api.url}/tasks/${path}`, init)).status).toBe(404)
    }
  })

  it.each(ADDED)('[GW-EX1] A server without extensions refuses $type', async (message) => {
    await using api = await openServer(WITHOUT)
    await using socket = api.connect()
    await socket.next('hello')
    socket.send(message)
    expect(await socket.next('error')).toEqual({
      type: 'error',
      error: 'NOT_CONFIGURED',
      message: `This server has no extension that answers "${message.type}"`,
      requestId: 'r-1',
    })
  })

  it('A server without extensions describes only the messages that it answers', async () => {
    await using api = await openServer(WITHOUT)
    const response = await fetch(`${api.url}/asyncapi.json`)
    const { messages } = ((await response.json()) as { components: { messages: object } })
      .components
    expect(messages).toHaveProperty('run_request')
    for (const { type } of ADDED) expect(messages).not.toHaveProperty(type)
    expect(messages).not.toHaveProperty('task_accepted')
  })

  it('A connection without a dialect gets a hello without runs, then every event', async () => {
    await using api = await openServer(WITHOUT)
    await api.submit()
    await using socket = api.connect()
    expect(await socket.next('hello')).toEqual({
      type: 'hello',
      sharedCapabilities: expect.any(Array),
    })
    const runId = await api.submit()
    api.play()
    expect((await socket.next('run_queued')).runId).toBe(runId)
    await socket.next('run_result')
  })
})

it('Extensions can provide each message and the dialect of WebSockets once', () => {
  // NOTE: only these parts are read before the options are checked.
  const resolve = (extensions: readonly object[]) =>
    resolveControlApiOptions({ runs: { budget: { limit: 0 } }, extensions } as never)
  expect(() => resolve([jamJet(), agentEnsemble()])).toThrow(/^(?!.*extensions)/)
  expect(() => resolve([agentEnsemble(), agentEnsemble()])).toThrow(
    /extensions must provide the dialect of WebSockets at most once; extensions must provide task_request at most once/,
  )
})

it('agentEnsemble rejects a limit that is not an integer of at least 1', () => {
  for (const maxTraceBytes of [0, 1.5, Number.NaN]) {
    expect(() => agentEnsemble({ maxTraceBytes })).toThrow(
      `maxTraceBytes must be an integer >= 1 and <= 1000000000000, got ${maxTraceBytes}`,
    )
  }
})
