/** Tests how agent cards are found, cached and used. */
import { fakeClock } from '@tutti/testing'
import { expect, test } from 'vitest'

import { CONNECTORS } from '../../../tooling/test-kit/compat.ts'
import { a2aConnector, type A2aConnectorOptions } from '../src/a2a/a2a-connector.ts'
import {
  createConnectorByCard,
  createConnector,
  type AgentAddressOptions,
} from '../src/create-connector.ts'
import { DEFAULT_FRESH_MS } from '../src/a2a/card-cache.ts'
import { cardAt, rawAgent, task, type RawAgent, type RawExchange } from './a2a-raw-agent.ts'
import { hurriedCall } from './a2a-hurried-call.ts'
import { askOnce, testCall } from './test-call.ts'

import type { AgentConnector } from '@tutti/agent-call/internal'

/** Connector for the `/tasks` wire; the tests only check whether it was chosen. */
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
  return createConnectorByCard(a2aConnector(options), overTasks)
}

async function ask(options: A2aConnectorOptions): Promise<unknown> {
  return (await askOnce(byCard(options), 'go', hurriedCall())).answer.output
}

function findCardRequests({ exchanges }: RawAgent): readonly RawExchange[] {
  return exchanges.filter(({ name }) => name === 'card')
}

test('The A2A connector calls an agent with a card over A2A', async () => {
  const agent = await rawAgent(done)
  const connector = byCard({ url: agent.url })
  const session = await connector.connect(testCall())
  expect([connector.protocol, session.protocol]).toEqual(['a2a', 'a2a'])
  expect(await ask({ url: agent.url })).toBe('over A2A')
})

test.each([404, 405, 410, 400])(
  'The A2A connector uses the tasks wire when the card request is answered with %i',
  async (code) => {
    const agent = await rawAgent(done, { card: ({ json }) => json({}, code) })
    const session = await byCard({ url: agent.url }).connect(testCall())
    expect(session.protocol).toBe('tasks')
  },
)

test.each([
  ['an HTML page', '<html></html>'],
  ['another object', '{"name":"Not a card"}'],
  ['an empty body', ''],
])(
  'The A2A connector uses the tasks wire when the card request is answered with %s',
  async (_title, body) => {
    const agent = await rawAgent(done, { card: ({ response }) => response.end(body) })
    expect(await ask({ url: agent.url })).toBe('over tasks')
  },
)

test('The A2A connector uses the configured wire whether or not the agent has a card', async () => {
  const overTasks = { wire: 'tasks', connectors: CONNECTORS } as const
  expect(createConnector('https://agents.example', overTasks).protocol).toBe('tasks')
  const agent = await rawAgent(done, { card: ({ json }) => json({}, 404) })
  const asking = askOnce(createConnector(agent.url, { wire: 'a2a' }), 'go', hurriedCall())
  await expect(asking).rejects.toThrow('Cannot ask the agent over A2A: the agent has no card')
})

test('A call to an agent without a card names the connector that the tool lacks', async () => {
  const agent = await rawAgent(done, { card: ({ json }) => json({}, 404) })
  const asking = askOnce(createConnector(agent.url), 'go', hurriedCall())
  await expect(asking).rejects.toThrow(
    /has no card at .*; .* add tasksConnector of @tutti\/compat-/,
  )
})

test.each([
  ['the option cardUrl is set', { cardUrl: '/cards/one' }, '', '/cards/one'],
  ['the address is that of a card', {}, '/card.json', '/card.json'],
])('The A2A connector fails without a card when %s', async (_title, more, path, place) => {
  const agent = await rawAgent(({ json }) => json({}, 404), { card: ({ json }) => json({}, 404) })
  await expect(ask({ url: `${agent.url}${path}`, ...more })).rejects.toMatchObject({
    failureType: 'invalid_response',
    retryable: false,
    message: `Cannot ask the agent over A2A: the agent has no card at ${agent.url}${place}: got 404 Not Found`,
  })
})

test.each([401, 403, 429, 500, 503])(
  'The A2A connector fails when the card request is answered with %i, and requests the card again',
  async (code) => {
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
  },
)

test('The A2A connector fails with "unreachable" when the agent cannot be reached', async () => {
  const agent = await rawAgent(done)
  const url = new URL(agent.url)
  url.port = '1'
  await expect(ask({ url })).rejects.toMatchObject({ failureType: 'unreachable', retryable: true })
})

test('The A2A connector lists the bindings of a card without an HTTP address in the error', async () => {
  const agent = await rawAgent(done, {
    card: ({ json }) => json({ supportedInterfaces: [{ url: 'x:1', protocolBinding: 'GRPC' }] }),
  })
  await expect(ask({ url: agent.url })).rejects.toThrow(
    `its card at ${agent.url}/.well-known/agent-card.json lists no address over JSONRPC or HTTP+JSON, got "GRPC"`,
  )
})

test('The A2A connector requests the card below the path of the agent, with its query', async () => {
  const agent = await rawAgent(done)
  await ask({ url: `${agent.url}/agents/one/?team=red` })
  const [card] = findCardRequests(agent)
  expect(card?.response.req.url).toBe('/agents/one/.well-known/agent-card.json?team=red')
})

test.each([
  ['/agents/one/card.json', undefined, '/agents/one/card.json'],
  ['/agents/one', 'other.json', '/agents/other.json'],
  ['/agents/one', '/top.json', '/top.json'],
])(
  'The A2A connector with address %s and cardUrl %s requests the card at %s',
  async (path, cardUrl, place) => {
    const agent = await rawAgent(done)
    await ask({ url: `${agent.url}${path}`, ...(cardUrl === undefined ? {} : { cardUrl }) })
    expect(findCardRequests(agent).map(({ response }) => response.req.url)).toEqual([place])
  },
)

test('The A2A connector resolves an address in a card against the URL of the card', async () => {
  const agent = await rawAgent(done, {
    card: ({ json }, url) => {
      const [place] = cardAt(url).supportedInterfaces
      json({ ...cardAt(url), supportedInterfaces: [{ ...place, url: '../a2a/v1' }] })
    },
  })
  await ask({ url: `${agent.url}/one` })
  expect(agent.exchanges.at(-1)?.response.req.url).toBe('/one/a2a/v1')
})

test('The A2A connector resolves an address in a card against the final URL after redirects', async () => {
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

test('The A2A connector requests the card of version 1.0', async () => {
  const agent = await rawAgent(done)
  await ask({ url: agent.url })
  expect(findCardRequests(agent)[0]?.headers['a2a-version']).toBe('1.0')
})

test('[AGENT-K1] The A2A connector caches a card for at most a day', async () => {
  const clock = fakeClock()
  const agent = await rawAgent(done, {
    card: ({ json }, url) => json(cardAt(url), 200, { 'cache-control': 'max-age=31536000' }),
  })
  const connector = byCard({ url: agent.url, clock })
  await askOnce(connector, 'go', hurriedCall())
  await clock.advance(86_400_000)
  await askOnce(connector, 'go', hurriedCall())
  expect(findCardRequests(agent)).toHaveLength(2)
})

test('The A2A connector calls an agent with a 0.3 card in version 0.3', async () => {
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

test('[AGENT-K1] The A2A connector caches a card for the time that its server specifies', async () => {
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
    expect(findCardRequests(agent)).toHaveLength(count)
  }
})

test.each([['no-store'], ['no-cache'], ['max-age=0']])(
  '[AGENT-K1] The A2A connector does not cache a card with cache-control %s',
  async (rule) => {
    const agent = await rawAgent(done, {
      card: ({ json }, url) => json(cardAt(url), 200, { 'cache-control': rule }),
    })
    const connector = byCard({ url: agent.url })
    await askOnce(connector, 'go', hurriedCall())
    await askOnce(connector, 'go', hurriedCall())
    expect(findCardRequests(agent)).toHaveLength(2)
  },
)

test('[AGENT-K1] [AGENT-K2] The A2A connector caches a missing card for the default time', async () => {
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
    expect(findCardRequests(agent)).toHaveLength(count)
  }
})

test('[AGENT-K1] The A2A connector revalidates a stale card with its ETag', async () => {
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
  const asked = findCardRequests(agent).map(({ headers }) => headers['if-none-match'])
  expect(asked).toEqual([undefined, '"one"', '"one"'])
})

test('[AGENT-K3] The A2A connector shares one card request between concurrent calls, and continues it when one of them is aborted', async () => {
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
  expect(findCardRequests(agent)).toHaveLength(1)
})

test('[AGENT-K3] The A2A connector aborts a card request when no call waits for it', async () => {
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

test('The A2A connector rejects a card that is too large', async () => {
  const agent = await rawAgent(done, { card: ({ json }) => json({ name: 'x'.repeat(1_100_000) }) })
  await expect(ask({ url: agent.url })).rejects.toMatchObject({ failureType: 'invalid_response' })
})

test('[AGENT-W2] The A2A connector sends headers with the card request and with every request to the origin of the agent', async () => {
  const agent = await rawAgent(done)
  await ask({ url: agent.url, headers: { authorization: 'Bearer secret' } })
  expect(agent.exchanges.map(({ name, headers }) => [name, headers.authorization])).toEqual([
    ['card', 'Bearer secret'],
    ['SendStreamingMessage', 'Bearer secret'],
  ])
})

test('[AGENT-W2] The A2A connector does not send headers to another origin that a card names', async () => {
  const other = await rawAgent(done)
  const agent = await rawAgent(done, { card: ({ json }) => json(cardAt(other.url)) })
  const headers = { authorization: 'Bearer secret' }
  const allow = [new URL(other.url).host]
  expect(await ask({ url: agent.url, headers, allow })).toBe('over A2A')
  expect(other.exchanges.map((exchange) => exchange.headers.authorization)).toEqual([undefined])
})

test("[AGENT-W2] The A2A connector refuses a card with another port on the agent's machine", async () => {
  const other = await rawAgent(done)
  const agent = await rawAgent(done, { card: ({ json }) => json(cardAt(other.url)) })
  await expect(ask({ url: agent.url })).rejects.toMatchObject({ failureType: 'configuration' })
  expect(other.exchanges).toEqual([])
})

test('[AGENT-W2] The A2A connector refuses a private address in a card', async () => {
  const agent = await rawAgent(done, {
    card: ({ json }) => json(cardAt('https://169.254.169.254')),
  })
  await expect(ask({ url: agent.url })).rejects.toMatchObject({ failureType: 'configuration' })
})

test.each(['ftp://agents.example', 'http://agents.example', 'nonsense'])(
  'The A2A connector rejects the address %s when the tool is created',
  (url) => {
    expect(() => a2aConnector({ url })).toThrow(TypeError)
  },
)

test('The A2A connector rejects an unknown wire when the tool is created', () => {
  // NOTE: JavaScript callers can pass any value.
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
])('The A2A connector rejects the options %j when the tool is created', (options, problem) => {
  const given: A2aConnectorOptions = { url: 'https://agents.example', ...options }
  expect(() => a2aConnector(given)).toThrow(
    new TypeError(`Cannot ask the agent at "https://agents.example/": ${problem}`),
  )
})

test('The A2A connector omits the login, query and fragment from the shown URI', () => {
  const url = 'https://user:password@agents.example/one?key=secret#more'
  expect(a2aConnector({ url }).uri).toBe('https://agents.example/one')
})

test('The A2A connector reports the arrival of card bytes to the call', async () => {
  const agent = await rawAgent(done)
  const call = hurriedCall()
  await byCard({ url: agent.url }).connect(call)
  expect(call.arrivals).toBeGreaterThan(0)
})

test('The A2A connector closes the connector of the tasks wire, too', async () => {
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

test('The A2A connector aborts running calls when the connector is closed', async () => {
  const agent = await rawAgent(() => undefined)
  const connector = byCard({ url: agent.url })
  const asking = askOnce(connector, 'go', hurriedCall())
  await agent.requested('SendStreamingMessage')
  await connector.close?.()
  await expect(asking).rejects.toMatchObject({ failureType: 'connection_lost' })
})
