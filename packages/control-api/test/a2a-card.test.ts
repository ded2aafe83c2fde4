/** Agent cards: content, access and caching. */
import { apiKey } from '@tutti/control-api'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { a2aAgent, singer, type A2aAgent, type Untyped } from './a2a-agent.ts'
import { CardShape, findMisfits } from './a2a-shapes.ts'
import { reviewedTask } from './reviewed-ensembles.ts'
import { openServer } from './open-server.ts'

let api: A2aAgent

beforeAll(async () => {
  api = await a2aAgent({ ensembles: [singer(), reviewedTask()] })
})

afterAll(async () => {
  await api[Symbol.asyncDispose]()
})

const WELL_KNOWN = '/.well-known/agent-card.json'

const fetchCard = async (path = WELL_KNOWN, headers = {}): Promise<Untyped> =>
  (await fetch(`${api.url}${path}`, { headers })).json()

describe('the agent card', () => {
  it.each(['1.0', '1.1', '2.0'])(
    'CARD-STRUCT-001: The card has the published shape and nothing more with A2A-Version: %s',
    async (version) => {
      const headers = { 'a2a-version': version }
      expect(findMisfits(CardShape, await fetchCard(WELL_KNOWN, headers))).toEqual([])
    },
  )

  it('CARD-STRUCT-001: The card has every field of 1.0 also without a version header, which means 0.3', async () => {
    const modern = await fetchCard(WELL_KNOWN, { 'a2a-version': '1.0' })
    expect(await fetchCard()).toMatchObject(modern)
  })

  it('CARD-PROTO-001: The card names JSON-RPC and REST of 1.0, and JSON-RPC of 0.3, in this order', async () => {
    const { supportedInterfaces, capabilities } = await fetchCard()
    expect(supportedInterfaces).toEqual([
      { url: `${api.url}/a2a`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
      { url: `${api.url}/a2a/v1`, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
      { url: `${api.url}/a2a`, protocolBinding: 'JSONRPC', protocolVersion: '0.3' },
    ])
    expect(capabilities).toMatchObject({
      streaming: true,
      pushNotifications: false,
      extensions: [{ uri: 'https://tutti.dev/a2a/usage/v1', required: false }],
    })
  })

  it('CARD-EXT: The card does not announce an extended card, because there is none', async () => {
    expect((await fetchCard()).capabilities).not.toHaveProperty('extendedAgentCard')
  })

  it('The agent card contains nothing that scanners mistake for a credential', async () => {
    const said = JSON.stringify(await fetchCard())
    expect(said).not.toMatch(/api[_-]?key|secret|token|password|credential|private[_-]?key/i)
  })

  it('The agent card has a skill with input modes for each ensemble', async () => {
    const { skills } = await fetchCard()
    expect(skills.map(({ id }: Untyped) => id)).toEqual(['singer', 'choir'])
    expect(skills[0].description).toBe(
      'Sings a song. Input: text for the variable "song". Select it with metadata {"ensemble": "singer"}.',
    )
  })

  it('The agent card describes a single ensemble at the paths of that ensemble', async () => {
    const card = await fetchCard(`/agents/choir${WELL_KNOWN}`, { 'a2a-version': '1.0' })
    expect(findMisfits(CardShape, card)).toEqual([])
    expect(card.name).toBe('choir')
    expect(card.skills).toHaveLength(1)
    expect(card.supportedInterfaces[0].url).toBe(`${api.url}/agents/choir/a2a`)
    expect((await fetch(`${api.url}/agents/none${WELL_KNOWN}`)).status).toBe(404)
  })

  it.each([
    ['/.well-known/agent.json', {}],
    [WELL_KNOWN, {}],
    [WELL_KNOWN, { 'a2a-version': '0.3' }],
    [WELL_KNOWN, { 'a2a-version': '0.3.0' }],
  ])('The agent card has the fields that 0.3 clients need at %s with %j', async (path, headers) => {
    expect(await fetchCard(path, headers)).toMatchObject({
      protocolVersion: '0.3.0',
      url: `${api.url}/a2a`,
      preferredTransport: 'JSONRPC',
      additionalInterfaces: [{ url: `${api.url}/a2a`, transport: 'JSONRPC' }],
      skills: [{ id: 'singer' }, { id: 'choir' }],
      supportedInterfaces: [{}, {}, {}],
    })
  })

  it('The agent card is the card of 1.0 at the old path for clients that request 1.0', async () => {
    const headers = { 'a2a-version': '1.0' }
    expect(findMisfits(CardShape, await fetchCard('/.well-known/agent.json', headers))).toEqual([])
  })

  it('CARD-CACHE-001 CARD-CACHE-002: The card may be cached, and is not sent again when it is unchanged', async () => {
    const first = await fetch(`${api.url}${WELL_KNOWN}`)
    const etag = first.headers.get('etag') ?? ''
    expect(first.headers.get('cache-control')).toMatch(/max-age=\d+/)
    expect(first.headers.get('vary')).toContain('A2A-Version')
    const again = await fetch(`${api.url}${WELL_KNOWN}`, { headers: { 'if-none-match': etag } })
    expect([again.status, await again.text()]).toEqual([304, ''])
    const other = { 'if-none-match': etag, 'a2a-version': '1.0' }
    expect((await fetch(`${api.url}${WELL_KNOWN}`, { headers: other })).status).toBe(200)
  })

  it('The agent card has the configured public address with its path', async () => {
    await using behind = await a2aAgent({ publicUrl: 'https://agents.example.com/tutti/' })
    const card = await (await fetch(`${behind.url}${WELL_KNOWN}`)).json()
    expect(card.supportedInterfaces[1].url).toBe('https://agents.example.com/tutti/a2a/v1')
  })

  it('The agent card is public, and declares that all other routes need a key', async () => {
    const { key, entry } = keyFor()
    await using locked = await a2aAgent({ apiKeys: [entry] })
    const headers = { 'a2a-version': '1.0' }
    const response = await fetch(`${locked.url}${WELL_KNOWN}`, { headers })
    const card = await response.json()
    expect(findMisfits(CardShape, card)).toEqual([])
    expect(card).toMatchObject({
      securitySchemes: { bearer: { httpAuthSecurityScheme: { scheme: 'Bearer' } } },
      securityRequirements: [{ schemes: { bearer: { list: [] } } }],
    })
    const legacy = await (await fetch(`${locked.url}${WELL_KNOWN}`)).json()
    expect(legacy).toMatchObject({
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
      security: [{ bearer: [] }],
    })
    const open = await fetch(locked.rpc, { method: 'POST', body: '{}' })
    expect([open.status, open.headers.get('www-authenticate')]).toEqual([401, 'Bearer'])
    const authorization = `Bearer ${key}`
    const { error } = await locked.call('GetTask', { id: 'none' }, { authorization })
    expect(error?.code).toBe(-32001)
  })

  it('The agent card does not exist for an ensemble that is not shared, and neither does its skill', async () => {
    await using some = await a2aAgent({
      ensembles: [singer(), reviewedTask()],
      shared: { ensembles: ['choir'] },
    })
    expect((await fetch(`${some.url}/agents/singer${WELL_KNOWN}`)).status).toBe(404)
    expect((await fetch(`${some.url}/agents/singer/a2a`, { method: 'POST' })).status).toBe(404)
    const card = await (await fetch(`${some.url}${WELL_KNOWN}`)).json()
    expect(card).toMatchObject({ name: 'choir', skills: [{ id: 'choir' }] })
  })

  it('The agent card does not exist without shared ensembles', async () => {
    await using none = await a2aAgent({ shared: { ensembles: [] } })
    expect((await fetch(`${none.url}${WELL_KNOWN}`)).status).toBe(404)
    expect((await fetch(none.rpc, { method: 'POST', body: '{}' })).status).toBe(404)
  })
})

function keyFor() {
  const key = 'k'.repeat(40)
  return { key, entry: apiKey(key, { name: 'reader' }) }
}

describe('the option publicUrl', () => {
  it.each([
    'agents.example.com',
    'ftp://agents.example.com',
    'https://agents.example.com/?a=b',
    'https://agents.example.com/#a',
    'https://agents.example.com?',
    'https://me:secret@agents.example.com',
    '',
  ])('The option publicUrl prevents the start of the server when it is "%s"', async (publicUrl) => {
    const start = openServer({ publicUrl })
    await expect(start).rejects.toThrow('publicUrl must be an address like')
    await expect(start).rejects.not.toThrow('secret')
  })
})
