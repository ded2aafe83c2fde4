import { AgentError } from '@tutti/agent-call/internal'
import type { GuardedFetch } from '@tutti/net/internal'
import { describe, expect, onTestFinished, test } from 'vitest'

import { createAgentFetch, type AgentHttpOptions } from '../src/http/agent-fetch.ts'
import { toStatusFailure } from '../src/http/http-error.ts'
import { rawServer, whole } from '../../net/test/raw-server.ts'

/** Creates an agent `fetch` that is closed with the test. */
function createFetch(url: string, options?: AgentHttpOptions): GuardedFetch {
  const fetch = createAgentFetch(url, options)
  onTestFinished(() => fetch.close())
  return fetch
}

/** Returns the reason of a rejected promise. */
async function catchFailure(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise
  } catch (problem) {
    return problem
  }
  throw new Error('Expected a rejection')
}

async function catchAgentError(promise: Promise<unknown>): Promise<AgentError> {
  const problem = await catchFailure(promise)
  expect(problem).toBeInstanceOf(AgentError)
  // NOTE: the line above checks the type.
  return problem as AgentError
}

const POST = { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } }

describe('request headers', () => {
  test('[AGENT-F2] The fetch of an agent computes headers for each request and adds the login of the URL', async () => {
    const server = await rawServer((socket) => socket.write(whole('ok')))
    let calls = 0
    const url = `http://us%40er:pa%3Ass@127.0.0.1:${server.port}/`
    const fetch = createFetch(url, { headers: async () => ({ 'X-Key': `key ${(calls += 1)}` }) })
    await fetch(url)
    await fetch(`${server.origin}/other`, { headers: { 'x-key': 'from the request' } })
    const login = `Basic ${Buffer.from('us@er:pa:ss').toString('base64')}`
    expect(
      server.requests.map(({ headers }) => [headers['x-key'], headers['authorization']]),
    ).toEqual([
      ['key 1', login],
      ['from the request', login],
    ])
  })

  test('[AGENT-F2] The fetch of an agent sends headers only to the origin of the agent', async () => {
    const agent = await rawServer((socket) => socket.write(whole('ok')))
    const other = await rawServer((socket) => socket.write(whole('ok')))
    const url = `http://user:password@127.0.0.1:${agent.port}`
    const allow = [`127.0.0.1:${other.port}`]
    await createFetch(url, { headers: { 'x-key': 'secret' }, allow })(`${other.origin}/card`)
    expect(other.requests[0]?.headers).toEqual({
      host: `127.0.0.1:${other.port}`,
      connection: 'keep-alive',
      accept: '*/*',
      'user-agent': expect.stringMatching(/^tutti\//),
    })
  })

  test('The fetch of an agent rejects invalid headers without showing their values', async () => {
    const bad = { 'x key': 'secret', 'X-Key': 'sec\nret', Host: 'secret' }
    expect(() => createAgentFetch('https://agent.example/', { headers: bad })).toThrow(
      new TypeError(
        'Cannot ask the agent at "https://agent.example/": "x key" is not a valid header name; ' +
          'the value of the header "X-Key" must be text without line breaks or control characters; ' +
          'the header "Host" cannot be set: it is derived from the URL and the body',
      ),
    )
    const server = await rawServer((socket) => socket.write(whole('ok')))
    const later = createFetch(server.origin, { headers: () => ({ 'x-key': 'sec\r\nret' }) })
    const problem = await catchAgentError(later(server.origin))
    expect(problem.failureType).toBe('configuration')
    expect(problem.message).not.toContain('sec')
    expect(server.requests).toEqual([])
  })

  test('The fetch of an agent fails when the function for the headers fails, and stops waiting for it on abort', async () => {
    const failing = createAgentFetch('http://127.0.0.1:1', {
      headers: () => Promise.reject(new Error('no token')),
    })
    expect(await catchAgentError(failing('http://127.0.0.1:1'))).toMatchObject({
      failureType: 'configuration',
      retryable: false,
      message: 'Cannot get the headers for the agent: no token',
    })
    const gone = new AbortController()
    const asked = Promise.withResolvers<void>()
    const hanging = createAgentFetch('http://127.0.0.1:1', {
      headers: () => {
        asked.resolve()
        return new Promise(() => undefined)
      },
    })
    const answer = catchFailure(hanging('http://127.0.0.1:1', { signal: gone.signal }))
    await asked.promise
    gone.abort(new Error('enough'))
    expect(await answer).toBe(gone.signal.reason)
  })
})

describe('request URLs', () => {
  test.each([
    [
      'ftp://agent.example/x?key=1',
      'Cannot ask the agent at "ftp://agent.example/x": must be an https: URL',
    ],
    ['user:secret@agent', 'Cannot ask the agent at "agent": must be an https: URL'],
    ['//secret@agent?x', 'Cannot ask the agent at "agent": must be an https: URL'],
    [
      'http://u:p@agent.example/x?key=1',
      'Cannot ask the agent at "http://agent.example/x": http: is only for this machine, use https: or set allowHttp: true',
    ],
    ['http://128.0.0.1/', /http: is only for this machine/],
    ['http://localhost.example/', /http: is only for this machine/],
    ['http://notlocalhost/', /http: is only for this machine/],
    ['http://127.0.0.1.example/', /http: is only for this machine/],
  ])('[AGENT-F3] The fetch of an agent rejects %s', (url, message) => {
    expect(() => createAgentFetch(url)).toThrow(TypeError)
    expect(() => createAgentFetch(url)).toThrow(message)
  })

  test.each([
    'http://localhost',
    'http://a.localhost:8',
    'http://127.1',
    'http://[::1]:80',
    'https://x',
  ])('[AGENT-F3] The fetch of an agent accepts %s', (url) => {
    expect(() => createAgentFetch(url)).not.toThrow()
  })

  test('[AGENT-F3] The fetch of an agent allows the host of the agent even if its name resolves to a private address', async () => {
    const server = await rawServer((socket) => socket.write(whole('ok')))
    const url = `http://agent.internal:${server.port}/`
    const asked: string[] = []
    const resolve = async (host: string): Promise<string[]> => {
      asked.push(host)
      return ['127.0.0.1']
    }
    const answer = await createFetch(url, { allowHttp: true, resolve })(url)
    expect(await answer.text()).toBe('ok')
    expect(asked).toEqual(['agent.internal'])
  })

  test('[AGENT-F3] The fetch of an agent applies the network guard and requires https for other hosts', async () => {
    const fetch = createFetch('https://agent.example', { resolve: async () => ['10.0.0.7'] })
    expect(await catchAgentError(fetch('https://inside.example/x?key=secret'))).toMatchObject({
      failureType: 'configuration',
      retryable: false,
      message: expect.stringMatching(
        /"inside.example": it resolves to 10.0.0.7.*allow: \['inside.example'\]/,
      ),
    })
    expect(await catchAgentError(fetch('https://169.254.169.254/'))).toMatchObject({
      failureType: 'configuration',
    })
    expect(await catchAgentError(fetch('http://public.example/x?key=secret'))).toMatchObject({
      failureType: 'configuration',
      message:
        'Cannot ask the agent at "http://public.example/x": http: is only for this machine, use https: or set allowHttp: true',
    })
    expect(await catchAgentError(fetch('https://u:secret@public.example/'))).toMatchObject({
      failureType: 'configuration',
      message: expect.not.stringContaining('secret'),
    })
  })

  test.for(['127.0.0.1', 'localhost'])(
    "[AGENT-F3] The fetch of an agent reaches no other port of the agent's host on this machine: %s",
    async (host) => {
      const other = await rawServer((socket) => socket.write(whole('ok')))
      const fetch = createFetch(`http://${host}:1`)
      const refused = fetch(`http://${host}:${other.port}/a2a`, POST)
      expect(await catchAgentError(refused)).toMatchObject({ failureType: 'configuration' })
      expect(other.requests).toEqual([])
      const allowed = createFetch(`http://${host}:1`, { allow: [`${host}:${other.port}`] })
      expect(await (await allowed(`http://${host}:${other.port}/a2a`, POST)).text()).toBe('ok')
    },
  )

  test('[AGENT-F3] The fetch of an agent reaches hosts that are listed in allow', async () => {
    const server = await rawServer((socket) => socket.write(whole('ok')))
    const inside = createFetch('https://agent.example', { allow: ['127.0.0.1'] })
    expect(await (await inside(server.origin)).text()).toBe('ok')
    expect(() => createAgentFetch('https://agent.example', { allow: ['a b'] })).toThrow(/"a b"/)
  })
})

describe('failures', () => {
  const redirect = (location: string): string =>
    whole('', { status: '307 Temporary Redirect', headers: [`location: ${location}`] })

  test('[AGENT-F6] A call fails with unreachable for a port without a listener', async () => {
    const fetch = createFetch('http://127.0.0.1:1')
    expect(await catchAgentError(fetch('http://127.0.0.1:1/x?key=secret'))).toMatchObject({
      failureType: 'unreachable',
      retryable: true,
      message: 'Cannot reach the agent at http://127.0.0.1:1: the connection was refused',
    })
  })

  test.each([
    ['a closed connection', '', 'connection_lost', /was lost: the connection was closed$/],
    ['a response that is not HTTP', 'SSH-2.0-OpenSSH\r\n\r\n', 'invalid_response', /is not HTTP$/],
    ['a redirect to another origin', redirect('https://10.0.0.1/'), 'configuration', /^Refused/],
    ['a redirect loop', redirect('/'), 'invalid_response', /more than 5 redirects$/],
  ])(
    '[AGENT-F6] The fetch of an agent reports %s as an AgentError',
    async (_title, bytes, failureType, message) => {
      const server = await rawServer((socket) => {
        socket.write(bytes)
        if (!bytes.startsWith('HTTP')) socket.end()
      })
      expect(await catchAgentError(createFetch(server.origin)(server.origin))).toMatchObject({
        failureType,
        message: expect.stringMatching(message),
      })
    },
  )

  test('[AGENT-F6] The fetch of an agent reports a truncated body as an AgentError when it is read', async () => {
    const server = await rawServer((socket) =>
      socket.end('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc'),
    )
    const answer = await createFetch(server.origin)(server.origin)
    expect(await catchAgentError(answer.text())).toMatchObject({ failureType: 'connection_lost' })
  })
})

describe('toStatusFailure', () => {
  const answer = (status: string, { headers = [] as string[], body = 'why' } = {}): string =>
    whole(body, { status, headers })

  test.each([
    ['503 Service Unavailable', true],
    ['429 Too Many Requests', true],
    ['408 Request Timeout', true],
    ['425 Too Early', true],
    ['500 Internal Server Error', true],
    ['502 Bad Gateway', true],
    ['504 Gateway Timeout', true],
    ['400 Bad Request', false],
    ['401 Unauthorized', false],
    ['404 Not Found', false],
    ['422 Unprocessable', false],
    ['501 Not Implemented', false],
    ['302 Found', false],
  ])('toStatusFailure for status %s sets retryable to %s', async (status, retryable) => {
    const server = await rawServer((socket) => socket.write(answer(status)))
    const response = await createFetch(server.origin)(server.origin, POST)
    expect(await toStatusFailure(response)).toMatchObject({
      message: `Agent returned error ${status}: why`,
      failureType: 'http_error',
      retryable,
      retryAfterMs: undefined,
    })
  })

  test.each([
    ['7', 7_000],
    ['Sat, 01 Nov 2036 00:00:10 GMT', 10_000],
    ['Sat, 01 Nov 2026 00:00:10 GMT', 0],
    ['soon', undefined],
    ['-1', undefined],
  ])('toStatusFailure reads Retry-After: %s as %s ms', async (value, expected) => {
    const now = Date.UTC(2036, 10, 1)
    const response = new Response('', { status: 503, headers: { 'retry-after': value } })
    expect((await toStatusFailure(response, now)).retryAfterMs).toBe(expected)
  })

  test('toStatusFailure quotes the start of a long body and omits an empty one', async () => {
    const long = await toStatusFailure(new Response('x'.repeat(5_000), { status: 400 }))
    expect(long.message).toBe(`Agent returned error 400: ${'x'.repeat(2_000)}…`)
    expect((await toStatusFailure(new Response(' \n', { status: 400 }))).message).toBe(
      'Agent returned error 400',
    )
  })

  test('toStatusFailure reports the status even if the body cannot be read', async () => {
    const server = await rawServer((socket) =>
      socket.end('HTTP/1.1 500 Oh\r\ncontent-length: 9\r\n\r\nabc'),
    )
    const response = await createFetch(server.origin)(server.origin)
    expect((await toStatusFailure(response)).message).toBe('Agent returned error 500 Oh')
  })
})
