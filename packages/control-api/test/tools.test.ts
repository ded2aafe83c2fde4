import {
  createToolMetrics,
  defineTextTool,
  defineTool,
  toolCatalog,
  ToolResult,
  TuttiError,
  Type,
  type AgentTool,
} from '@tutti/core'
import { fakeClock } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { openServer, type TestServerOptions } from './open-server.ts'

const calculator = defineTextTool({
  name: 'calculator',
  description: 'Multiplies',
  execute(input) {
    const [a = NaN, b = NaN] = input.split('*').map(Number)
    if (Number.isNaN(a * b)) return ToolResult.failure(`Cannot read "${input}"`)
    return ToolResult.success(String(a * b), { product: a * b })
  },
})

const tune = defineTool({
  name: 'tune',
  description: 'Tunes instruments',
  input: Type.Object({
    hertz: Type.Number({ minimum: 20 }),
    parts: Type.Array(Type.String()),
    mood: Type.Optional(Type.String()),
  }),
  execute: ({ hertz, parts, mood = 'calm' }) => `${parts.join(' and ')} at ${hertz}, ${mood}`,
})

function createTool(name: string, execute: () => string | Promise<string>): AgentTool {
  return defineTool({ name, description: 'Is odd', input: Type.Object({}), execute })
}

const careful = defineTool({
  name: 'careful',
  description: 'Needs approval',
  requireApproval: true,
  input: Type.Object({}),
  execute: () => 'Done without asking',
})

const TOOLS: readonly AgentTool[] = [
  calculator,
  tune,
  careful,
  createTool('broken', () => {
    throw new Error('A string snapped')
  }),
  createTool('unset', () => {
    throw new TuttiError('TOOL_CONFIGURATION', 'The key of the provider is secret-4711')
  }),
  createTool('leaver', () => {
    throw new TuttiError('EXIT_EARLY', 'Enough')
  }),
  createTool('long', () => 'x'.repeat(1_000_001)),
  defineTool({
    name: 'hasty',
    description: 'Asks in the middle',
    input: Type.Object({ proceeds: Type.Boolean() }),
    async execute({ proceeds }, { requestApproval }) {
      try {
        await requestApproval('Play loudly?')
      } catch (error) {
        if (!proceeds) throw error
        return 'Played softly'
      }
      return 'Played loudly'
    },
  }),
]

function openToolServer(options: TestServerOptions = {}) {
  return openServer({ tools: toolCatalog(TOOLS), ...options })
}

type Desk = Awaited<ReturnType<typeof openServer>>

async function invoke(api: Desk, name: string, body: unknown): Promise<[number, unknown]> {
  const response = await api.post(`/api/tools/${name}/invoke`, body)
  return [response.status, await response.json()]
}

/** Tool that waits until the test releases it, and reports when its signal aborts. */
function waitingTool(name = 'waiting') {
  const gate = Promise.withResolvers<string>()
  const begun = Promise.withResolvers<void>()
  const aborted = Promise.withResolvers<void>()
  const tool = defineTool({
    name,
    description: 'Waits',
    input: Type.Object({}),
    execute(_input, { signal }) {
      begun.resolve()
      signal.addEventListener('abort', () => {
        aborted.resolve()
        gate.resolve('stopped')
      })
      return gate.promise
    },
  })
  return { tool, begun: begun.promise, aborted: aborted.promise, finish: gate.resolve }
}

describe('POST /api/tools/{name}/invoke', () => {
  it.each<[string, string, unknown, string]>([
    ['a text tool with text', 'calculator', '42 * 17', '714'],
    ['a text tool with an object', 'calculator', { input: '42 * 17' }, '714'],
    ['a typed tool with an object', 'tune', { hertz: 440, parts: ['A'] }, 'A at 440, calm'],
    ['a typed tool with JSON text', 'tune', '{"hertz":440,"parts":["A"]}', 'A at 440, calm'],
    ['a typed tool with input to coerce', 'tune', { hertz: '440', parts: 'A' }, 'A at 440, calm'],
  ])('POST /api/tools/{name}/invoke calls %s', async (_title, name, input, output) => {
    await using api = await openToolServer()
    expect(await invoke(api, name, { input })).toEqual([
      200,
      expect.objectContaining({ tool: name, status: 'SUCCESS', output }),
    ])
  })

  it('POST /api/tools/{name}/invoke returns the result as a value, and its duration', async () => {
    await using api = await openToolServer()
    expect(await invoke(api, 'calculator', { input: '6*7' })).toEqual([
      200,
      {
        tool: 'calculator',
        status: 'SUCCESS',
        output: '42',
        structured: { product: 42 },
        durationMs: expect.any(Number),
      },
    ])
  })

  it('[GW-I1] POST /api/tools/{name}/invoke refuses invalid input with every problem and its path in the body', async () => {
    await using api = await openToolServer()
    expect(await invoke(api, 'tune', { input: { hertz: 1, mood: [] } })).toEqual([
      400,
      {
        error: 'BAD_REQUEST',
        message: expect.stringContaining('Invalid input of tool "tune": /input/'),
        problems: [
          expect.objectContaining({ path: '/input/parts' }),
          expect.objectContaining({ path: '/input/hertz' }),
          expect.objectContaining({ path: '/input/mood' }),
        ],
      },
    ])
    const paths = async (name: string, body: unknown) => {
      const [status, answer] = await invoke(api, name, body)
      // NOTE: every refused body has problems.
      const { problems } = answer as { readonly problems: readonly { readonly path: string }[] }
      return [status, ...problems.map(({ path }) => path)]
    }
    expect(await paths('tune', { input: 'A4' })).toEqual([400, '/input'])
    expect(await paths('tune', { input: '[440]' })).toEqual([400, '/input'])
    expect(await paths('calculator', { input: {} })).toEqual([400, '/input/input'])
    expect(await paths('calculator', { input: null })).toEqual([400, '/input'])
    expect(await paths('calculator', { input: 42 })).toEqual([400, '/input'])
    expect(await paths('calculator', {})).toEqual([400, '/input'])
    expect(await paths('calculator', { input: '', inptu: 1 })).toEqual([400, '/inptu'])
  })

  it.each([
    ['calculator', 'six', 'Cannot read "six"'],
    ['broken', {}, 'A string snapped'],
    ['leaver', {}, 'Enough'],
  ])(
    '[GW-I1] POST /api/tools/{name}/invoke returns 200 and FAILED when tool "%s" fails or throws',
    async (name, input, why) => {
      await using api = await openToolServer()
      expect(await invoke(api, name, { input })).toEqual([
        200,
        { tool: name, status: 'FAILED', errorMessage: why, durationMs: expect.any(Number) },
      ])
      expect(api.errors).toEqual([])
    },
  )

  it('[GW-I1] POST /api/tools/{name}/invoke returns FAILED at the time limit of a slow tool', async () => {
    const clock = fakeClock()
    const { begun, tool } = waitingTool()
    await using api = await openToolServer({
      tools: toolCatalog([{ ...tool, timeoutMs: 700 }]),
      clock,
    })
    const answer = invoke(api, 'waiting', { input: {} })
    await begun
    await clock.advance(700)
    expect(await answer).toEqual([
      200,
      expect.objectContaining({
        status: 'FAILED',
        errorMessage: 'Tool "waiting" timed out after 700 ms',
        durationMs: 700,
      }),
    ])
  })

  it('POST /api/tools/{name}/invoke truncates output that is too long, and states its length', async () => {
    await using api = await openToolServer()
    const [, answer] = await invoke(api, 'long', { input: {} })
    const { output } = answer as { readonly output: string }
    expect(output).toHaveLength(1_000_000 + '\n[truncated: 1000001 characters in full]'.length)
  })

  it('POST /api/tools/{name}/invoke returns 404 with the known names and the nearest for an unknown tool', async () => {
    await using api = await openToolServer()
    const names = TOOLS.map(({ name }) => name).join(', ')
    expect(await invoke(api, 'calcluator', { input: '1*1' })).toEqual([
      404,
      {
        error: 'TOOL_NOT_FOUND',
        message: `Unknown tool 'calcluator'. Available: [${names}]. Did you mean 'calculator'?`,
      },
    ])
    for (const name of ['__proto__', 'constructor', 'a%20b', '%2e%2e']) {
      expect((await invoke(api, name, { input: '' }))[0]).toBe(404)
    }
  })

  it('POST /api/tools/{name}/invoke returns 503 when there are no tools', async () => {
    await using api = await openToolServer({ tools: toolCatalog([]) })
    expect(await invoke(api, 'calculator', { input: '' })).toMatchObject([
      503,
      { error: 'NOT_CONFIGURED' },
    ])
  })

  it.each([
    ['careful', {}],
    ['careful', 'whatever it is called with'],
    ['hasty', { proceeds: false }],
  ])(
    '[GW-I3] POST /api/tools/{name}/invoke refuses tool "%s", which requires approval',
    async (name, input) => {
      await using api = await openToolServer()
      expect(await invoke(api, name, { input })).toEqual([
        403,
        {
          error: 'FORBIDDEN',
          message: expect.stringContaining(`Tool "${name}" requires a review`),
        },
      ])
      expect(api.errors).toEqual([])
    },
  )

  it('[GW-I3] POST /api/tools/{name}/invoke lets a tool run that continues without approval', async () => {
    await using api = await openToolServer()
    expect(await invoke(api, 'hasty', { input: { proceeds: true } })).toMatchObject([
      200,
      { status: 'SUCCESS', output: 'Played softly' },
    ])
  })

  it('[GW-I5] POST /api/tools/{name}/invoke returns 500 with an id for a misconfigured tool, and logs the reason', async () => {
    await using api = await openToolServer()
    const [status, answer] = await invoke(api, 'unset', { input: {} })
    expect([status, answer]).toMatchObject([
      500,
      {
        error: 'TOOL_EXECUTION_FAILED',
        message: expect.stringMatching(/cause under [0-9a-f-]{36}$/),
      },
    ])
    expect(JSON.stringify(answer)).not.toContain('4711')
    expect(api.errors).toEqual(['Misconfigured tool'])
  })

  it('[GW-I2] POST /api/tools/{name}/invoke limits the calls in flight, and accepts another when one has ended', async () => {
    const first = waitingTool('first')
    const second = waitingTool('second')
    const tools = toolCatalog([first.tool, second.tool, calculator])
    await using api = await openToolServer({ tools, maxToolCalls: 2 })
    const calls = [invoke(api, 'first', { input: {} }), invoke(api, 'second', { input: {} })]
    await Promise.all([first.begun, second.begun])
    const refused = await api.post('/api/tools/calculator/invoke', { input: '1*1' })
    expect([refused.status, refused.headers.get('retry-after'), await refused.json()]).toEqual([
      429,
      '1',
      {
        error: 'CONCURRENCY_LIMIT',
        message: 'Limit of concurrent tool calls reached: 2',
        retryAfterMs: 1_000,
      },
    ])
    first.finish('done')
    await calls[0]
    expect(await invoke(api, 'calculator', { input: '1*1' })).toMatchObject([200, {}])
    second.finish('done')
    await Promise.all(calls)
  })

  it('[GW-I2] POST /api/tools/{name}/invoke frees the slot after every kind of end', async () => {
    await using api = await openToolServer({ maxToolCalls: 1 })
    const statuses: number[] = []
    const calls: readonly [string, unknown][] = [
      ['broken', {}],
      ['unset', {}],
      ['hasty', { proceeds: false }],
      ['tune', {}],
      ['careful', {}],
      ['calculator', '1*1'],
    ]
    for (const [name, input] of calls) statuses.push((await invoke(api, name, { input }))[0])
    expect(statuses).toEqual([200, 500, 403, 400, 403, 200])
  })

  it('[GW-I4] POST /api/tools/{name}/invoke aborts the signal of the tool when the caller disconnects', async () => {
    const { tool, begun, aborted } = waitingTool()
    await using api = await openToolServer({ tools: toolCatalog([tool]), maxToolCalls: 1 })
    const controller = new AbortController()
    const gone = api.get('/api/tools/waiting/invoke', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"input":{}}',
      signal: controller.signal,
    })
    const rejected = expect(gone).rejects.toThrow('abort')
    await begun
    controller.abort()
    await rejected
    await aborted
    expect(api.errors).toEqual([])
  })

  it('POST /api/tools/{name}/invoke counts calls', async () => {
    const toolMetrics = createToolMetrics()
    await using api = await openToolServer({ toolMetrics })
    await invoke(api, 'calculator', { input: '1*1' })
    await invoke(api, 'calculator', { input: 'one' })
    await invoke(api, 'broken', { input: {} })
    expect(toolMetrics.snapshot()).toMatchObject([
      { toolName: 'calculator', agentRole: 'by hand', success: 1, failure: 1 },
      { toolName: 'broken', agentRole: 'by hand', error: 1 },
    ])
  })
})

describe('tool_request', () => {
  const request = { type: 'tool_request', requestId: 'r-1', from: 'kitchen' }

  it.each<[string, unknown, object]>([
    ['calculator', '6*7', { status: 'COMPLETED', result: '42', durationMs: expect.any(Number) }],
    ['tune', '{"hertz":440,"parts":["A"]}', { status: 'COMPLETED', result: 'A at 440, calm' }],
    ['calculator', 'six', { status: 'FAILED', error: 'Cannot read "six"' }],
    ['broken', undefined, { status: 'FAILED', error: 'A string snapped' }],
    [
      'calculator',
      undefined,
      { status: 'REJECTED', error: expect.stringMatching(/^BAD_REQUEST: /) },
    ],
    ['tune', 'A4', { status: 'REJECTED', error: expect.stringContaining('/input must be') }],
    ['nothing', '', { status: 'REJECTED', error: expect.stringMatching(/^TOOL_NOT_FOUND: /) }],
    ['careful', '{}', { status: 'REJECTED', error: expect.stringMatching(/^FORBIDDEN: /) }],
    ['unset', '{}', { status: 'FAILED', error: expect.stringMatching(/^TOOL_EXECUTION_FAILED: /) }],
  ])('tool_request calls tool "%s" with %j', async (tool, input, expected) => {
    await using api = await openToolServer()
    await using socket = api.connect()
    await socket.next('hello')
    socket.send({ ...request, tool, ...(input === undefined ? {} : { input }) })
    expect(await socket.next('tool_response')).toMatchObject({ requestId: 'r-1', ...expected })
  })

  it('[GW-I2] tool_request counts towards the calls in flight', async () => {
    const { tool, begun, finish } = waitingTool()
    const tools = toolCatalog([tool, calculator])
    await using api = await openToolServer({ tools, maxToolCalls: 1 })
    await using socket = api.connect()
    await socket.next('hello')
    socket.send({ ...request, tool: 'waiting' })
    await begun
    expect((await invoke(api, 'calculator', { input: '1*1' }))[0]).toBe(429)
    finish('done')
    expect(await socket.next('tool_response')).toMatchObject({ result: 'done' })
    expect((await invoke(api, 'calculator', { input: '1*1' }))[0]).toBe(200)
  })

  it('[GW-I4] tool_request aborts the signal of the tool when the connection closes', async () => {
    const { tool, begun, aborted } = waitingTool()
    await using api = await openToolServer({ tools: toolCatalog([tool]) })
    const socket = api.connect()
    await socket.next('hello')
    socket.send({ ...request, tool: 'waiting' })
    await begun
    await socket[Symbol.asyncDispose]()
    await aborted
  })

  it('tool_request passes the same idempotency key to the tool when the request is repeated', async () => {
    const keys: string[] = []
    const keyed = defineTool({
      name: 'keyed',
      description: 'Keeps keys',
      input: Type.Object({}),
      execute(_input, { idempotencyKey }) {
        keys.push(idempotencyKey)
        return idempotencyKey
      },
    })
    await using api = await openToolServer({ tools: toolCatalog([keyed]) })
    for (const from of ['kitchen', 'kitchen', 'cellar']) {
      await using socket = api.connect()
      await socket.next('hello')
      socket.send({ ...request, from, tool: 'keyed' })
      await socket.next('tool_response')
    }
    expect(keys[1]).toBe(keys[0])
    expect(keys[2]).not.toBe(keys[0])
  })

  it('tool_request reaches only shared tools, while REST reaches all', async () => {
    await using api = await openToolServer({ shared: { tools: ['calculator'] } })
    await using socket = api.connect()
    await socket.next('hello')
    socket.send({ ...request, tool: 'tune', input: '{}' })
    expect(await socket.next('tool_response')).toMatchObject({
      status: 'REJECTED',
      error: `TOOL_NOT_FOUND: Unknown tool 'tune'. Available: [calculator]`,
    })
    expect((await invoke(api, 'tune', { input: { hertz: 440, parts: [] } }))[0]).toBe(200)
  })
})
