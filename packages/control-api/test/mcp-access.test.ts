import { createHmac } from 'node:crypto'

import { createRequestStateCodec } from '@modelcontextprotocol/server'
import { defineTool, toolCatalog, Type } from '@tutti/core'
import { describe, expect, it } from 'vitest'

import { apiKey } from '../src/auth/keys.ts'
import { reviewedTask } from './reviewed-ensembles.ts'
import { connectClient, MODES, runIdOf, textOf } from './mcp-client.ts'
import { modernCall, postMcp } from './mcp-wire.ts'
import { openServer, type TestServerOptions } from './open-server.ts'

import type { Scope } from '@tutti/protocol'

const hum = defineTool({
  name: 'hum',
  description: 'Hums',
  input: Type.Object({}),
  execute: () => 'Hmm',
})

function key(name: string, scopes: readonly Scope[]) {
  return apiKey(`${name}-key`, { name, scopes })
}

const KEYS = [
  key('reader', ['runs:read']),
  key('caller', ['runs:read', 'tools:invoke']),
  key('conductor', ['runs:read', 'runs:write']),
  key('critic', ['runs:read', 'runs:write', 'reviews:decide']),
  key('rival', ['runs:read', 'runs:write', 'reviews:decide']),
  key('stranger', ['tools:invoke']),
  key('boss', ['admin']),
]

function serveGuarded(options: TestServerOptions = {}) {
  return openServer({
    apiKeys: KEYS,
    tools: toolCatalog([hum]),
    ensembles: [reviewedTask()],
    ...options,
  })
}

/** The trail is written with a short delay. */
const POLL = { timeout: 10_000 }

describe.each(MODES)('keys over MCP, with a client of mode %s', (mode) => {
  it.each(['nobody-key', 'stranger-key'])(
    'Keys over MCP refuse callers without runs:read: %s',
    async (name) => {
      await using api = await serveGuarded()
      await expect(connectClient(api, { mode, key: name })).rejects.toThrow(/key|scope|HTTP 40[13]/)
    },
  )

  it('[GW-M1] Keys over MCP let a caller list everything, and call what its scopes allow', async () => {
    await using api = await serveGuarded()
    const may = async (name: string) => {
      await using peer = await connectClient(api, { mode, key: `${name}-key` })
      expect((await peer.client.listTools()).tools).toHaveLength(2)
      const code = async (call: Promise<unknown>): Promise<unknown> => {
        try {
          await call
          return 'may'
        } catch (error) {
          return error instanceof Error && 'code' in error ? error.code : error
        }
      }
      return [await code(peer.call('hum')), await code(peer.call('choir', {}))]
    }
    // An ensemble that lacks inputs returns an error result.
    expect(await may('reader')).toEqual([-32_003, -32_003])
    expect(await may('caller')).toEqual(['may', -32_003])
    expect(await may('conductor')).toEqual([-32_003, 'may'])
    expect(await may('boss')).toEqual(['may', 'may'])
  })

  it('Keys over MCP name the missing scope', async () => {
    await using api = await serveGuarded()
    await using peer = await connectClient(api, { mode, key: 'reader-key' })
    await expect(peer.call('hum')).rejects.toThrow(
      /Key "reader" lacks the scope tools:invoke; it has: runs:read/,
    )
  })

  it('[GW-M3] Keys over MCP are named in the audit trail, with the action and its refusal', async () => {
    await using api = await serveGuarded()
    await using peer = await connectClient(api, { mode, key: 'caller-key' })
    await peer.call('hum')
    await expect(peer.call('choir', { song: 'Ave' })).rejects.toThrow('lacks the scope runs:write')
    await using critic = await connectClient(api, {
      mode,
      key: 'critic-key',
      fill: () => ({ action: 'accept', content: { decision: 'CONTINUE' } }),
    })
    const result = await critic.call('choir', { song: 'Ave' })
    const runId = runIdOf(result)
    await expect
      .poll(async () => {
        const response = await api.get('/api/audit', {
          headers: { authorization: 'Bearer boss-key' },
        })
        const { entries } = (await response.json()) as { entries: readonly object[] }
        return entries
      }, POLL)
      .toEqual(
        expect.arrayContaining([
          expect.objectContaining({
            actor: 'caller',
            action: 'invokeTool',
            target: 'hum',
            outcome: 'DONE',
          }),
          expect.objectContaining({
            actor: 'caller',
            action: 'submitRun',
            target: 'choir',
            outcome: 'REFUSED',
            error: 'FORBIDDEN',
          }),
          expect.objectContaining({ actor: 'critic', action: 'submitRun', runId, outcome: 'DONE' }),
          expect.objectContaining({
            actor: 'critic',
            action: 'decideReview',
            runId,
            outcome: 'DONE',
          }),
        ]),
      )
    expect((await api.runs.record(runId))?.actor).toBe('critic')
  })

  it('Keys over MCP without reviews:decide get no form', async () => {
    await using api = await serveGuarded()
    let forms = 0
    await using peer = await connectClient(api, {
      mode,
      key: 'conductor-key',
      fill: () => {
        forms += 1
        return { action: 'accept', content: { decision: 'CONTINUE' } }
      },
    })
    const call = peer.call('choir', { song: 'Ave' })
    await peer.heard('is waiting for a review')
    const [open] = await api.runs.reviews.open()
    const { runId, reviewId } = open ?? expect.fail('no review is open')
    const decision = { action: 'CONTINUE' } as const
    await api.runs.send(runId, { kind: 'decide', reviewId, decision })
    expect(textOf(await call)).toBe('La la')
    expect(forms).toBe(0)
  })
})

describe('a round of a call', () => {
  /** Returns the state of a call of `critic` that waits for a form, and its review. */
  async function waitingRound(url: string) {
    const { body } = await postMcp(url, modernCall('choir', { song: 'Ave' }), { key: 'critic-key' })
    const { requestState = '', inputRequests = {} } = body.result ?? {}
    const [reviewId = ''] = Object.keys(inputRequests)
    return { requestState, reviewId }
  }

  const CONTINUE = { action: 'accept', content: { decision: 'CONTINUE' } }

  it('A round of a call continues for its caller', async () => {
    await using api = await serveGuarded()
    const { requestState, reviewId } = await waitingRound(api.url)
    const round = { requestState, inputResponses: { [reviewId]: CONTINUE } }
    const { body } = await postMcp(api.url, modernCall('choir', { song: 'Ave' }, round), {
      key: 'critic-key',
    })
    expect(body.result?.structuredContent).toMatchObject({ status: 'COMPLETED', output: 'La la' })
    expect((await api.runs.list({ limit: 9, offset: 0 })).runs).toHaveLength(1)
  })

  it('A round of a call is refused to another caller, when it was changed, and for another tool', async () => {
    await using api = await serveGuarded({
      ensembles: [reviewedTask(), { ...reviewedTask(), name: 'other' }],
    })
    const { requestState, reviewId } = await waitingRound(api.url)
    const inputResponses = { [reviewId]: CONTINUE }
    const given = { song: 'Ave' }
    for (const [name, state, by] of [
      ['choir', requestState, 'rival-key'],
      ['choir', `${requestState}x`, 'critic-key'],
      ['choir', 'made up', 'critic-key'],
      ['other', requestState, 'critic-key'],
      ['choir', undefined, 'critic-key'],
    ] as const) {
      const round = { inputResponses, ...(state === undefined ? {} : { requestState: state }) }
      const { body } = await postMcp(api.url, modernCall(name, given, round), { key: by })
      expect(body.error, `${name} ${state} ${by}`).toMatchObject({ code: -32_602 })
    }
    expect(await api.runs.reviews.open()).toHaveLength(1)
    expect((await api.runs.list({ limit: 9, offset: 0 })).runs).toHaveLength(1)
  })

  it('A round of a call cannot be forged with the configured hash of a key', async () => {
    await using api = await serveGuarded()
    const { reviewId } = await waitingRound(api.url)
    const [run] = (await api.runs.list({ limit: 1, offset: 0 })).runs
    const { sha256 } = key('rival', [])
    const state = { tool: 'choir', runId: run?.runId ?? '', seq: 0, declined: [] }
    const signed = [
      ['tutti mcp request state v1', Buffer.from(sha256, 'hex')],
      [JSON.stringify(['tutti mcp request state v2', ['rival', sha256]]), sha256],
      [JSON.stringify(['tutti mcp request state v2', null]), ''],
    ] as const
    for (const [purpose, secret] of signed) {
      const codec = createRequestStateCodec({
        key: createHmac('sha256', secret).update(purpose).digest(),
        ttlSeconds: 60,
      })
      const round = {
        requestState: await codec.mint(state),
        inputResponses: { [reviewId]: CONTINUE },
      }
      const call = modernCall('choir', { song: 'Ave' }, round)
      const { body } = await postMcp(api.url, call, { key: 'rival-key' })
      expect(body.error, purpose).toMatchObject({ code: -32_602 })
    }
    expect(await api.runs.reviews.open()).toHaveLength(1)
  })

  it('A round of a call reports that its run no longer exists when it was deleted', async () => {
    await using api = await serveGuarded()
    const { requestState, reviewId } = await waitingRound(api.url)
    const [run] = (await api.runs.list({ limit: 1, offset: 0 })).runs
    const runId = run?.runId ?? ''
    await api.runs.send(runId, { kind: 'cancel' })
    await expect.poll(async () => api.runs.delete(runId), POLL).toBe('deleted')
    const round = { requestState, inputResponses: { [reviewId]: CONTINUE } }
    const { body } = await postMcp(api.url, modernCall('choir', { song: 'Ave' }, round), {
      key: 'critic-key',
    })
    expect(body.result).toMatchObject({
      isError: true,
      content: [{ text: `Cannot follow run ${runId} to its end: No run with ID ${runId}` }],
    })
  })

  it('[GW-M3] A round of a call is recorded in the audit trail as a decision, not as another submission', async () => {
    await using api = await serveGuarded()
    const { requestState, reviewId } = await waitingRound(api.url)
    const round = { requestState, inputResponses: { [reviewId]: CONTINUE } }
    await postMcp(api.url, modernCall('choir', { song: 'Ave' }, round), { key: 'critic-key' })
    const actions = async () => {
      const response = await api.get('/api/audit', {
        headers: { authorization: 'Bearer boss-key' },
      })
      const { entries } = (await response.json()) as { entries: readonly { action: string }[] }
      return entries.map(({ action }) => action).toSorted()
    }
    await expect.poll(actions, POLL).toEqual(['decideReview', 'submitRun'])
  })

  it('A round of a call cannot decide a review of another run', async () => {
    await using api = await serveGuarded()
    const mine = await waitingRound(api.url)
    const other = await waitingRound(api.url)
    const round = {
      requestState: mine.requestState,
      inputResponses: { [other.reviewId]: CONTINUE },
    }
    const { body } = await postMcp(api.url, modernCall('choir', { song: 'Ave' }, round), {
      key: 'critic-key',
    })
    expect(Object.keys(body.result?.inputRequests ?? {})).toEqual([mine.reviewId])
    expect(await api.runs.reviews.open()).toHaveLength(2)
  })
})
