/** How the card of an agent is found and kept, and what follows from it. */
import { fakeClock } from '@tutti/testing'
import { expect, test } from 'vitest'

import { a2aConnector, type A2aConnectorOptions } from '../src/a2a/a2a-connector.ts'
import {
  connectorByCard,
  createConnector,
  type AgentAddressOptions,
} from '../src/create-connector.ts'
import { DEFAULT_FRESH_MS } from '../src/a2a/card-cache.ts'
import { cardAt, rawAgent, task, type RawAgent, type RawExchange } from './a2a-raw-agent.ts'
import { hurriedCall } from './a2a-surroundings.ts'
import { askOnce, testCall } from './test-call.ts'

import type { AgentConnector } from '@tutti/agent-call'

/** The tasks wire, of which only that it was chosen matters. */
const tasks: AgentConnector = {
  uri: 'https://agents.example',
  protocol: 'tasks',
  connect: async () => ({
    protocol: 'tasks',
    async *send() {
      yield { kind: 'end', state: 'completed', output: 'over tasks' }
    },
    cancel: async () => undefined,
  }),
}

function done({ event }: RawExchange): void {
  event(task('COMPLETED', { artifacts: [{ artifactId: 'a', parts: [{ text: 'over A2A' }] }] }))
}

function byCard(options: A2aConnectorOptions, overTasks = tasks): AgentConnector {
  return connectorByCard(a2aConnector(options), overTasks)
}

async function ask(options: A2aConnectorOptions): Promise<unknown> {
  return (await askOnce(byCard(options), 'go', hurriedCall())).answer.output
}

function cardsOf({ exchanges }: RawAgent): readonly RawExchange[] {
  return exchanges.filter(({ name }) => name === 'card')
}

test('an agent with a card is asked over A2A, and says so', async () => {
  const agent = await rawAgent(done)
  const connector = byCard({ url: agent.url })
  const session = await connector.connect(testCall())
  expect([connector.protocol, session.protocol]).toEqual(['a2a', 'a2a'])
  expect(await ask({ url: agent.url })).toBe('over A2A')
})

test.each([404, 405, 410, 400])('%i where a card should be means the tasks wire', async (code) => {
  const agent = await rawAgent(done, { card: ({ json }) => json({}, code) })
  const session = await byCard({ url: agent.url }).connect(testCall())
  expect(session.protocol).toBe('tasks')
})

test.each([
  ['a page', '<html></html>'],
  ['another object', '{"name":"Not a card"}'],
  ['nothing', ''],
])('%s where a card should be means the tasks wire', async (_title, body) => {
  const agent = await rawAgent(done, { card: ({ response }) => response.end(body) })
  expect(await ask({ url: agent.url })).toBe('over tasks')
})

test('a wire that is configured is used without looking at a card', async () => {
  expect(createConnector('https://agents.example', { wire: 'tasks' }).protocol).toBe('tasks')
  const agent = await rawAgent(done, { card: ({ json }) => json({}, 404) })
  const asking = askOnce(createConnector(agent.url, { wire: 'a2a' }), 'go', hurriedCall())
  await expect(asking).rejects.toThrow('Cannot ask the agent over A2A: the agent has no card')
})

test.each([
  ['a card is named', { cardUrl: '/cards/one' }, '', '/cards/one'],
  ['the address is that of a card', {}, '/card.json', '/card.json'],
])('without a card an agent cannot be asked when %s', async (_title, more, path, place) => {
  const agent = await rawAgent(({ json }) => json({}, 404), { card: ({ json }) => json({}, 404) })
  await expect(ask({ url: `${agent.url}${path}`, ...more })).rejects.toMatchObject({
    failureType: 'invalid_response',
    retryable: false,
    message: `Cannot ask the agent over A2A: the agent has no card at ${agent.url}${place}: got 404 Not Found`,
  })
})

test.each([401, 403, 429, 500, 503])('%i for the card is a failure, and not kept', async (code) => {
  const agent = await rawAgent(done, {
    card: ({ index, json }, url) => (index === 0 ? json({}, code) : json(cardAt(url))),
  })
  const connector = byCard({ url: agent.url })
  const failing = askOnce(connector, 'go', hurriedCall())
  await expect(failing).rejects.toMatchObject({
    failureType: 'http_error',
    retryable: code >= 429,
    message: expect.stringMatching(
      new RegExp(
        `^Cannot read the agent card at ${agent.url}/.well-known/agent-card.json: .*${code}.*needs wire: "tasks"$`,
      ),
    ),
  })
  expect((await askOnce(connector, 'go', hurriedCall())).answer.output).toBe('over A2A')
})

test('an agent that cannot be reached is unreachable', async () => {
  const agent = await rawAgent(done)
  const url = new URL(agent.url)
  url.port = '1'
  await expect(ask({ url })).rejects.toMatchObject({ failureType: 'unreachable', retryable: true })
})

test('a card without an address over HTTP says what it has', async () => {
  const agent = await rawAgent(done, {
    card: ({ json }) => json({ supportedInterfaces: [{ url: 'x:1', protocolBinding: 'GRPC' }] }),
  })
  await expect(ask({ url: agent.url })).rejects.toThrow(
    `its card at ${agent.url}/.well-known/agent-card.json lists no address over JSONRPC or HTTP+JSON, got "GRPC"`,
  )
})

test('the card is below the address of the agent, with its query', async () => {
  const agent = await rawAgent(done)
  await ask({ url: `${agent.url}/agents/one/?team=red` })
  const [card] = cardsOf(agent)
  expect(card?.response.req.url).toBe('/agents/one/.well-known/agent-card.json?team=red')
})

test.each([
  ['/agents/one/card.json', undefined, '/agents/one/card.json'],
  ['/agents/one', 'other.json', '/agents/other.json'],
  ['/agents/one', '/top.json', '/top.json'],
])('the card of %s, named %s, is at %s', async (path, cardUrl, place) => {
  const agent = await rawAgent(done)
  await ask({ url: `${agent.url}${path}`, ...(cardUrl === undefined ? {} : { cardUrl }) })
  expect(cardsOf(agent).map(({ response }) => response.req.url)).toEqual([place])
})

test('an address in a card is relative to the card', async () => {
  const agent = await rawAgent(done, {
    card: ({ json }, url) => {
      const [place] = cardAt(url).supportedInterfaces
      json({ ...cardAt(url), supportedInterfaces: [{ ...place, url: '../a2a/v1' }] })
    },
  })
  await ask({ url: `${agent.url}/one` })
  expect(agent.exchanges.at(-1)?.response.req.url).toBe('/one/a2a/v1')
})

test('an address in a card is relative to where the card was found, after redirects', async () => {
  const agent = await rawAgent(done, {
    card: ({ index, json, response }, url) => {
      const [place] = cardAt(url).supportedInterfaces
      if (index === 0) response.writeHead(302, { location: '/moved/card.json' }).end()
      else json({ ...cardAt(url), supportedInterfaces: [{ ...place, url: 'rpc' }] })
    },
  })
  await ask({ url: agent.url })
  expect(agent.exchanges.at(-1)?.response.req.url).toBe('/moved/rpc')
})

test('the card that is asked for is that of 1.0, from an agent that has both', async () => {
  const agent = await rawAgent(done)
  await ask({ url: agent.url })
  expect(cardsOf(agent)[0]?.headers['a2a-version']).toBe('1.0')
})

test('[K1] no card is fresh for longer than a day', async () => {
  const clock = fakeClock()
  const agent = await rawAgent(done, {
    card: ({ json }, url) => json(cardAt(url), 200, { 'cache-control': 'max-age=31536000' }),
  })
  const connector = byCard({ url: agent.url, clock })
  await askOnce(connector, 'go', hurriedCall())
  await clock.advance(86_400_000)
  await askOnce(connector, 'go', hurriedCall())
  expect(cardsOf(agent)).toHaveLength(2)
})

test('a card of 0.3 is spoken to in 0.3', async () => {
  const agent = await rawAgent(
    ({ name, result }) =>
      result(
        name === 'message/send'
          ? {
              kind: 'message',
              messageId: 'm',
              role: 'agent',
              parts: [{ kind: 'text', text: 'old' }],
            }
          : undefined,
      ),
    { card: ({ json }, url) => json({ name: 'Old', url: `${url}/rpc`, protocolVersion: '0.2.5' }) },
  )
  expect(await ask({ url: agent.url })).toBe('old')
  expect(agent.exchanges.at(-1)?.headers['a2a-version']).toBe('0.3')
})

test('[K1] a card is kept for as long as its server says', async () => {
  const clock = fakeClock()
  const agent = await rawAgent(done, {
    card: ({ json }, url) =>
      json(cardAt(url), 200, { 'cache-control': 'public, max-age=60', age: '10' }),
  })
  const connector = byCard({ url: agent.url, clock })
  for (const [laterMs, count] of [
    [0, 1],
    [49_999, 1],
    [1, 2],
  ] as const) {
    await clock.advance(laterMs)
    await askOnce(connector, 'go', hurriedCall())
    expect(cardsOf(agent)).toHaveLength(count)
  }
})

test.each([['no-store'], ['no-cache'], ['max-age=0']])('[K1] %s is heeded', async (rule) => {
  const agent = await rawAgent(done, {
    card: ({ json }, url) => json(cardAt(url), 200, { 'cache-control': rule }),
  })
  const connector = byCard({ url: agent.url })
  await askOnce(connector, 'go', hurriedCall())
  await askOnce(connector, 'go', hurriedCall())
  expect(cardsOf(agent)).toHaveLength(2)
})

test('[K1] [K2] what says nothing of it is kept for a while, also that there is no card', async () => {
  const clock = fakeClock()
  const agent = await rawAgent(done, { card: ({ json }) => json({}, 404) })
  const connector = byCard({ url: agent.url, clock })
  for (const [laterMs, count] of [
    [0, 1],
    [DEFAULT_FRESH_MS - 1, 1],
    [1, 2],
  ] as const) {
    await clock.advance(laterMs)
    await askOnce(connector, 'go', hurriedCall())
    expect(cardsOf(agent)).toHaveLength(count)
  }
})

test('[K1] a card that has not changed is not sent again', async () => {
  const clock = fakeClock()
  const agent = await rawAgent(done, {
    card: ({ headers, json, response }, url) => {
      const fresh = { etag: '"one"', 'cache-control': 'max-age=60' }
      if (headers['if-none-match'] === '"one"') response.writeHead(304, fresh).end()
      else json(cardAt(url), 200, fresh)
    },
  })
  const connector = byCard({ url: agent.url, clock })
  for (const laterMs of [0, 60_000, 59_999, 1]) {
    await clock.advance(laterMs)
    expect((await askOnce(connector, 'go', hurriedCall())).answer.output).toBe('over A2A')
  }
  const asked = cardsOf(agent).map(({ headers }) => headers['if-none-match'])
  expect(asked).toEqual([undefined, '"one"', '"one"'])
})

test('[K3] calls that need the card at the same time share one request, which one of them does not end', async () => {
  const agent = await rawAgent(done, { card: () => undefined })
  const connector = a2aConnector({ url: agent.url })
  const hasty = hurriedCall()
  const first = connector.connect(hasty)
  const second = connector.connect(hurriedCall())
  const card = await agent.requested('card')
  hasty.abort(new Error('Too late'))
  await expect(first).rejects.toThrow('Too late')
  card.json(cardAt(agent.url))
  expect((await second).protocol).toBe('a2a')
  expect(cardsOf(agent)).toHaveLength(1)
})

test('[K3] a request for the card that nobody waits for any more ends', async () => {
  const closed = Promise.withResolvers<void>()
  const agent = await rawAgent(done, {
    card: ({ index, response, json }, url) => {
      if (index === 0) response.on('close', closed.resolve)
      else json(cardAt(url))
    },
  })
  const connector = a2aConnector({ url: agent.url })
  const call = hurriedCall()
  const connecting = connector.connect(call)
  await agent.requested('card')
  call.abort(new Error('Too late'))
  await expect(connecting).rejects.toThrow('Too late')
  await closed.promise
  expect((await connector.connect(hurriedCall())).protocol).toBe('a2a')
})

test('a card that is too large is not read to its end', async () => {
  const agent = await rawAgent(done, { card: ({ json }) => json({ name: 'x'.repeat(1_100_000) }) })
  await expect(ask({ url: agent.url })).rejects.toMatchObject({ failureType: 'invalid_response' })
})

test('[W2] headers go with the card and with every request to the origin of the agent', async () => {
  const agent = await rawAgent(done)
  await ask({ url: agent.url, headers: { authorization: 'Bearer secret' } })
  expect(agent.exchanges.map(({ name, headers }) => [name, headers.authorization])).toEqual([
    ['card', 'Bearer secret'],
    ['SendStreamingMessage', 'Bearer secret'],
  ])
})

test('[W2] headers do not go where a card leads', async () => {
  const other = await rawAgent(done)
  const agent = await rawAgent(done, { card: ({ json }) => json(cardAt(other.url)) })
  const headers = { authorization: 'Bearer secret' }
  expect(await ask({ url: agent.url, headers })).toBe('over A2A')
  expect(other.exchanges.map((exchange) => exchange.headers.authorization)).toEqual([undefined])
})

test('[W2] a card does not lead into the network of the tool', async () => {
  const agent = await rawAgent(done, {
    card: ({ json }) => json(cardAt('https://169.254.169.254')),
  })
  await expect(ask({ url: agent.url })).rejects.toMatchObject({ failureType: 'configuration' })
})

test.each(['ftp://agents.example', 'http://agents.example', 'nonsense'])(
  'an agent at %s is refused when the tool is made',
  (url) => {
    expect(() => a2aConnector({ url })).toThrow(TypeError)
  },
)

test('an unknown wire is refused when the tool is made', () => {
  // NOTE: JavaScript callers can give any value.
  const given = { wire: 'grpc' } as unknown as AgentAddressOptions
  expect(() => createConnector('https://agents.example', given)).toThrow(
    new TypeError(
      'Cannot ask the agent at "https://agents.example/": wire must be one of auto, a2a, tasks, got "grpc"',
    ),
  )
})

test.each([
  [{ maxBodyBytes: 0 }, 'maxBodyBytes must be > 0, got 0'],
  [{ maxBodyBytes: Number.NaN }, 'maxBodyBytes must be > 0, got NaN'],
])('%j is refused when the tool is made', (options, problem) => {
  const given: A2aConnectorOptions = { url: 'https://agents.example', ...options }
  expect(() => a2aConnector(given)).toThrow(
    new TypeError(`Cannot ask the agent at "https://agents.example/": ${problem}`),
  )
})

test('an agent is shown without what may be secret', () => {
  const url = 'https://user:password@agents.example/one?key=secret#more'
  expect(a2aConnector({ url }).uri).toBe('https://agents.example/one')
})

test('the card of an agent is bytes that have arrived', async () => {
  const agent = await rawAgent(done)
  const call = hurriedCall()
  await byCard({ url: agent.url }).connect(call)
  expect(call.arrivals).toBeGreaterThan(0)
})

test('closing a connector closes that over the tasks wire', async () => {
  let closed = 0
  const closing: AgentConnector = {
    ...tasks,
    async close() {
      closed += 1
    },
  }
  await byCard({ url: 'https://agents.example' }, closing).close?.()
  expect(closed).toBe(1)
})

test('closing a connector ends what is under way', async () => {
  const agent = await rawAgent(() => undefined)
  const connector = byCard({ url: agent.url })
  const asking = askOnce(connector, 'go', hurriedCall())
  await agent.requested('SendStreamingMessage')
  await connector.close?.()
  await expect(asking).rejects.toMatchObject({ failureType: 'connection_lost' })
})
