/** Tests that the routes of foreign clients have the same guards as those of the control API. */
import { request } from 'node:http'

import { apiKey } from '@tutti/control-api'
import { gatewayRoutes } from '@tutti/gateway/internal'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { openGateway } from '../../gateway/test/open-gateway.ts'
import { openServer, type TestServer } from './open-server.ts'

import type { Scope } from '@tutti/protocol'

/** Routes of other clients, with the scope that each request needs first. */
const CLIENT_ROUTES = [
  'POST /agui/{ensemble} runs:read',
  'POST /api/chat runs:write',
  'GET /api/chat/{chatId}/stream runs:read',
  'POST /api/chat/{chatId}/stop runs:control',
  'POST /v1/chat/completions runs:write',
  'GET /v1/models runs:read',
  'GET /v1/models/{name} runs:read',
  'POST /v1/conversations runs:write',
  'GET /v1/conversations/{id} runs:read',
  'POST /v1/conversations/{id} runs:control',
  'DELETE /v1/conversations/{id} runs:control',
  'GET /v1/conversations/{id}/items runs:read',
  'GET /v1/conversations/{id}/items/{item} runs:read',
  'POST /v1/responses runs:write',
  'GET /v1/responses/{id} runs:read',
  'DELETE /v1/responses/{id} runs:control',
  'POST /v1/responses/{id}/cancel runs:control',
  'GET /v1/responses/{id}/input_items runs:read',
]

await using parts = await openGateway()
const mcp = {
  signer: { signingKey: () => Buffer.alloc(32) },
  reader: { detail: () => Promise.reject(new Error('unused')) },
}
/** The routes of agents and tools have their own tests of access. */
const routes = gatewayRoutes(parts.options, mcp).filter(({ path }) =>
  /^\/(agui|api\/chat|v1)\b/.test(path),
)

describe('the routes of foreign clients', () => {
  it('The routes of foreign clients have these scopes, and no others', () => {
    const found = routes.map(({ method, path, scope }) => `${method} ${path} ${scope}`)
    expect(found.toSorted()).toEqual(CLIENT_ROUTES.toSorted())
  })
})

/** Returns the address of a request to a route, with ids that reach its handler. */
function fillPath(path: string): string {
  const id = path.startsWith('/v1/conversations') ? 'conv_thread-1' : 'resp_run-1'
  return path.replace('{ensemble}', 'band').replaceAll(/\{\w+\}/g, id)
}

const SCOPES: readonly Scope[] = [
  'runs:read',
  'runs:write',
  'runs:control',
  'reviews:decide',
  'tools:invoke',
]

const MAX_BODY_BYTES = 1_000

let api: TestServer

beforeAll(async () => {
  api = await openServer({
    maxBodyBytes: MAX_BODY_BYTES,
    apiKeys: [
      ...SCOPES.map((scope) => apiKey(keyWithout(scope), { name: scope, scopes: others(scope) })),
      apiKey('key-with-all-scopes', { name: 'all', scopes: SCOPES }),
    ],
  })
})

afterAll(async () => {
  await api[Symbol.asyncDispose]()
})

const keyWithout = (scope: Scope): string => `key-without-${scope.replace(':', '-')}`

const others = (scope: Scope): readonly Scope[] => SCOPES.filter((other) => other !== scope)

describe.each(routes)('$method $path', ({ method, path: template, scope: needed }) => {
  const path = fillPath(template)
  const scope = needed ?? 'admin'
  const send = (headers: Record<string, string>, body = '{}') =>
    raw(api, { method, path, headers, body: method === 'POST' ? body : '' })
  const authorization = 'Bearer key-with-all-scopes'

  it('A route of foreign clients requires a key', async () => {
    expect((await send({})).status).toBe(401)
    expect((await send({ authorization: 'Bearer wrong' })).status).toBe(401)
  })

  it(`A route of foreign clients requires the scope ${scope}`, async () => {
    const refused = await send({ authorization: `Bearer ${keyWithout(scope)}` })
    expect([refused.status, refused.text]).toEqual([
      403,
      expect.stringContaining(`lacks the scope ${scope}`),
    ])
  })

  it('A route of foreign clients refuses an unknown host and a cross-origin page', async () => {
    expect((await send({ authorization, host: 'evil.example' })).status).toBe(403)
    expect((await send({ authorization, origin: 'https://evil.example' })).status).toBe(403)
  })

  it('A route of foreign clients does not fail on requests that it cannot read', async () => {
    for (const body of ['', '[]', 'null', '{', '{"messages":7,"threadId":{}}', '[['.repeat(200)]) {
      const { status, text } = await send({ authorization }, body)
      expect([body, status < 500, text]).toEqual([body, true, expect.not.stringContaining('at /')])
    }
  })

  it.runIf(method === 'POST' && !/\/(?:stop|cancel)$/.test(path))(
    'A route of foreign clients refuses a body that is too large, and the form of a page',
    async () => {
      const large = await send({ authorization }, JSON.stringify({ x: 'x'.repeat(MAX_BODY_BYTES) }))
      expect(large.status).toBe(413)
      for (const type of [
        'application/x-www-form-urlencoded',
        'multipart/form-data',
        'text/plain',
      ]) {
        expect((await send({ authorization, 'content-type': type })).status).toBe(415)
      }
    },
  )
})

/** Sends a request with headers that fetch does not allow. */
function raw(
  { url }: TestServer,
  { method, path, headers, body }: Sent,
): Promise<{ readonly status: number; readonly text: string }> {
  return new Promise((resolve, reject) => {
    const options = { method, headers: { 'content-type': 'application/json', ...headers } }
    const sent = request(`${url}${path}`, options, (response) => {
      let text = ''
      response.on('data', (data: Buffer) => (text += data.toString()))
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

interface Sent {
  readonly method: string
  readonly path: string
  readonly headers: Record<string, string>
  readonly body: string
}
