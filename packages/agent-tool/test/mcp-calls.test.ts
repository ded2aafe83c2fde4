import { once } from 'node:events'

import { describe, expect, it } from 'vitest'

import { until } from '../../../tooling/test-kit/wait.ts'

import { connectorTo, startMcpServer, testServerProcess } from './mcp-test-servers.ts'
import { askOnce, sendTurn, testCall } from './test-call.ts'

import type { McpServer } from '@tutti/mcp/internal'

const SERVERS = [
  ['a modern child process', async (): Promise<McpServer> => testServerProcess()],
  ['a legacy child process', async (): Promise<McpServer> => testServerProcess('old')],
  ['modern HTTP', async () => startMcpServer('modern')],
  ['HTTP with sessions', async () => startMcpServer('sessions')],
  ['HTTP without sessions', async () => startMcpServer('stateless')],
] as const

const ASKING_SERVERS = SERVERS.slice(0, 4)
const OVER_HTTP = ['modern', 'sessions', 'stateless'] as const

describe.each(SERVERS)('a tool over %s', (_, start) => {
  it('A tool of an MCP server receives object arguments unchanged, and a text as its only required property', async () => {
    const server = await start()
    const connector = connectorTo({ server, tool: 'echo' })
    const given = { message: 'a', times: 2 }
    expect((await askOnce(connector, given)).answer.output).toBe(JSON.stringify(given))
    expect((await askOnce(connector, 'b')).answer.output).toBe('{"message":"b"}')
  })

  it('A tool of an MCP server returns structured content as the answer', async () => {
    const { answer } = await askOnce(connectorTo({ server: await start(), tool: 'structured' }), {})
    expect(answer).toEqual({ kind: 'end', state: 'completed', output: { n: 1 } })
  })

  it('A tool of an MCP server returns mixed content unchanged, with a text description', async () => {
    const { answer } = await askOnce(connectorTo({ server: await start(), tool: 'media' }), {})
    expect(answer).toMatchObject({
      output: [{ type: 'text' }, { type: 'image', data: 'AAAA' }],
      text: 'look\n[image: image/png, 3 bytes]',
    })
  })

  it('A tool of an MCP server reports an error result as a failure with its content', async () => {
    const asking = askOnce(connectorTo({ server: await start(), tool: 'fail' }), {})
    await expect(asking).rejects.toMatchObject({
      message: 'MCP tool "fail" failed: no such file',
      failureType: 'agent_failed',
      retryable: false,
      partial: [{ type: 'text', text: 'no such file' }],
    })
  })

  it('A tool of an MCP server reports a burst of progress completely and in order', async () => {
    const { chunks } = await askOnce(connectorTo({ server: await start(), tool: 'burst' }), {})
    expect(chunks).toEqual([1, 2, 3].map((progress) => ({ progress, total: 3 })))
  })

  it('A tool of an MCP server reports usage from progress and from the result', async () => {
    const { updates } = await askOnce(connectorTo({ server: await start(), tool: 'usage' }), {})
    expect(updates.map(({ usage }) => usage)).toEqual([
      { costUsd: 0.25, totalTokens: 10 },
      { costUsd: 0.5 },
    ])
  })

  it('A tool of an MCP server receives the existing limits and the trace', async () => {
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
    const remaining = () => ({ timeMs: 5_000, costUsd: 0.5, tokens: Infinity })
    const call = testCall({ traceparent, remaining })
    const { answer } = await askOnce(connectorTo({ server: await start(), tool: 'meta' }), {}, call)
    expect(JSON.parse(String(answer.output))).toMatchObject({
      traceparent,
      'https://tutti.dev/a2a/usage/v1': { max_cost_usd: 0.5, deadline_ms: 5_000 },
    })
  })

  it('A call fails for an unknown tool and lists the existing ones', async () => {
    const asking = askOnce(connectorTo({ server: await start(), tool: 'nope' }), {})
    await expect(asking).rejects.toMatchObject({
      message: expect.stringMatching(/has no tool "nope"; it has echo, sum, /),
      failureType: 'configuration',
    })
  })

  it('[MCP-S1] A tool of an MCP server stops when the call is cancelled, before cancel() resolves', async () => {
    const server = await start()
    const session = await connectorTo({ server, tool: 'wait' }).connect(testCall())
    const turn = session.send({ input: { id: 1 }, index: 0 })[Symbol.asyncIterator]()
    await turn.next()
    const coming = turn.next().catch((error: unknown) => error)
    const isStopped = 'state' in server ? once(server.state.events, 'stopped') : undefined
    await session.cancel(AbortSignal.timeout(4_000))
    if ('era' in server && server.era !== 'modern') {
      expect(server.requests).toContain('POST notifications/cancelled')
    }
    await isStopped
    expect(await coming).toBeInstanceOf(Error)
    const { answer } = await askOnce(connectorTo({ server, tool: 'stopped' }), {})
    expect(answer.output).toBe('{"id":1}')
  })

  it('[MCP-S1] A tool of an MCP server stops when the call is aborted, and the turn rejects at once with the reason', async () => {
    const server = await start()
    const call = testCall()
    const session = await connectorTo({ server, tool: 'wait' }).connect(call)
    const turn = session.send({ input: {}, index: 0 })[Symbol.asyncIterator]()
    await turn.next()
    const ended = expect(turn.next()).rejects.toThrow('enough')
    const isStopped = 'state' in server ? once(server.state.events, 'stopped') : undefined
    call.abort(new Error('enough'))
    await ended
    await isStopped
  })
})

describe.each(ASKING_SERVERS)('a question of a tool over %s', (_, start) => {
  const conversation = async (tool: string, server?: McpServer) =>
    connectorTo({ server: server ?? (await start()), tool }).connect(
      testCall({ mode: 'conversational' }),
    )

  it('[AGENT-S1] A question of an MCP tool ends the turn, and the next turn answers it in the same call', async () => {
    const session = await conversation('ask')
    const { answer } = await sendTurn(session, {})
    expect(answer).toEqual({
      kind: 'end',
      state: 'input_required',
      question: 'What is your name?',
      text: 'What is your name?',
      output: { message: 'What is your name?', requestedSchema: expect.any(Object) },
    })
    const { answer: done } = await sendTurn(session, 'Ada', 1)
    expect(JSON.parse(String(done.output))).toEqual({ action: 'accept', content: { name: 'Ada' } })
  })

  it('[AGENT-E1] A question of an MCP tool is asked again when the answer is invalid', async () => {
    const session = await conversation('form')
    await sendTurn(session, {})
    const { answer: again } = await sendTurn(session, 'Ada, 36', 1)
    expect(again).toMatchObject({
      state: 'input_required',
      question: expect.stringMatching(/^The answer is not valid\. Who are you\?\nAnswer with JSON/),
    })
    const { answer: done } = await sendTurn(session, '{"name":"Ada","age":36}', 2)
    expect(JSON.parse(String(done.output))).toMatchObject({ content: { name: 'Ada', age: 36 } })
  })

  it('[AGENT-E3] A question of an MCP tool is declined when the conversation returns the question as the answer', async () => {
    const session = await conversation('ask')
    const { answer } = await sendTurn(session, {})
    const { answer: done } = await sendTurn(session, answer.output, 1)
    expect(JSON.parse(String(done.output))).toEqual({ action: 'decline' })
  })

  it('[AGENT-S1] A question of an MCP tool goes to the reviewer as a form outside of conversations', async () => {
    const asked: unknown[] = []
    const call = testCall({
      hasReviewer: true,
      // NOTE: the answer matches the schema of the question.
      requestAnswer: ((question: string, options: object) => {
        asked.push({ question, ...options })
        return Promise.resolve({ answered: true, value: 'Ada' })
      }) as never,
    })
    const { answer } = await askOnce(connectorTo({ server: await start(), tool: 'ask' }), {}, call)
    expect(JSON.parse(String(answer.output))).toEqual({
      action: 'accept',
      content: { name: 'Ada' },
    })
    expect(asked).toEqual([
      {
        question: 'What is your name?',
        onTimeout: 'CONTINUE',
        schema: expect.objectContaining({ '~standard': expect.anything() }),
        signal: expect.any(AbortSignal),
      },
    ])
  })

  it('[AGENT-S1] A question of an MCP tool is declined without a reviewer, and the tool continues', async () => {
    const { answer } = await askOnce(connectorTo({ server: await start(), tool: 'ask' }), {})
    expect(JSON.parse(String(answer.output))).toEqual({ action: 'decline' })
  })

  it.each([
    ['agree', false, 'accept'],
    ['agree', true, 'cancel'],
    ['ask', false, 'cancel'],
  ])(
    '[AGENT-S1] A question of an MCP tool that is not answered ("%s", timed out: %s) gets the action %s',
    async (...given) => {
      const [tool, timedOut, action] = given
      const requestAnswer = (() => Promise.resolve({ answered: false, timedOut })) as never
      const call = testCall({ hasReviewer: true, requestAnswer })
      const { answer } = await askOnce(connectorTo({ server: await start(), tool }), {}, call)
      expect(JSON.parse(String(answer.output))).toMatchObject({ action })
    },
  )

  it('[AGENT-S1] A question of an MCP tool is declined when the reviewer rejects it; any other error ends the call', async () => {
    const { TuttiError } = await import('@tutti/core')
    const server = await start()
    const calling = (code: 'TOOL_REJECTED' | 'EXIT_EARLY') => {
      const requestAnswer = (() => Promise.reject(new TuttiError(code, 'no'))) as never
      const call = testCall({ hasReviewer: true, requestAnswer })
      return askOnce(connectorTo({ server, tool: 'ask' }), {}, call)
    }
    const { answer } = await calling('TOOL_REJECTED')
    expect(JSON.parse(String(answer.output))).toEqual({ action: 'decline' })
    await expect(calling('EXIT_EARLY')).rejects.toMatchObject({ code: 'EXIT_EARLY' })
  })
})

describe('a question that is not linked to a call', () => {
  it('[MCP-T3][MCP-O2] A question that is not linked to a call reaches the only running call', async () => {
    const server = await startMcpServer('sessions')
    const connector = connectorTo({ server, tool: 'ask-aside' })
    for (const name of ['Ada', 'Bea']) {
      const session = await connector.connect(testCall({ mode: 'conversational' }))
      expect((await sendTurn(session, {})).answer.question).toBe('And you?')
      const { answer } = await sendTurn(session, name, 1)
      expect(JSON.parse(String(answer.output))).toMatchObject({ content: { name } })
    }
    expect(server.requests.filter((request) => request === 'GET')).toHaveLength(1)
  })
})

describe('a request that is not a form', () => {
  it.each(['modern', 'sessions'] as const)(
    '[MCP-S2] A request that is not a form is refused with a clear message (%s)',
    async (era) => {
      const server = await startMcpServer(era)
      const url = await askOnce(connectorTo({ server, tool: 'ask-url' }), {}).catch(readMessage)
      expect(url).toMatch(/page|URL|url/)
      const model = await askOnce(connectorTo({ server, tool: 'ask-model' }), {}).catch(readMessage)
      expect(model).toMatch(/sampling/)
    },
  )

  it('[MCP-S2] A request that is not a form is repeated with its request state when it requests nothing else', async () => {
    const server = await startMcpServer('modern')
    const clock = { ...testCall().clock, after: runSoon }
    const call = testCall({ clock })
    const { answer } = await askOnce(connectorTo({ server, tool: 'later' }), {}, call)
    expect(answer.output).toBe('after 3 calls')
  })
})

describe.each(OVER_HTTP)('over HTTP (%s)', (era) => {
  it('A tool over HTTP reports progress as it arrives', async () => {
    const server = await startMcpServer(era)
    const session = await connectorTo({ server, tool: 'steps' }).connect(testCall())
    const turn = session.send({ input: {}, index: 0 })[Symbol.asyncIterator]()
    const first = turn.next()
    await until('the call', () => server.state.calls.get('steps') === 1)
    server.state.events.emit('go')
    const chunk = { progress: 1, total: 3, message: 'step 1' }
    expect((await first).value).toEqual({ kind: 'chunk', chunk })
    for (const step of [2, 3]) {
      const next = turn.next()
      server.state.events.emit('go')
      expect((await next).value).toMatchObject({ chunk: { progress: step } })
    }
    const last = turn.next()
    server.state.events.emit('go')
    expect((await last).value).toMatchObject({ kind: 'end', output: 'done' })
  })

  it('An MCP connection assigns answers and questions to the right one of concurrent calls', async () => {
    const server = await startMcpServer(era)
    const connector = connectorTo({ server, tool: 'echo' })
    const outputs = await Promise.all(
      ['a', 'b', 'c'].map(async (message) => (await askOnce(connector, message)).answer.output),
    )
    expect(outputs).toEqual(['{"message":"a"}', '{"message":"b"}', '{"message":"c"}'])
    if (era === 'stateless') return
    const asking = connectorTo({ server, tool: 'ask' })
    const names = await Promise.all(
      ['Ada', 'Bea', 'Cay'].map(async (name) => {
        const session = await asking.connect(testCall({ mode: 'conversational' }))
        await sendTurn(session, {})
        return JSON.parse(String((await sendTurn(session, name, 1)).answer.output))
      }),
    )
    expect(names.map(({ content }) => content.name)).toEqual(['Ada', 'Bea', 'Cay'])
  })
})

describe('a legacy child process, whose questions do not name their call', () => {
  it('[MCP-O2] A question that does not name its call gets a decline and logs a warning while several calls are running', async () => {
    const server = testServerProcess('old')
    const warnings: string[] = []
    const warn = (message: string): void => void warnings.push(message)
    const logger = { ...testCall().logger, warn }
    const waiting = await connectorTo({ server, tool: 'wait' }).connect(testCall({ logger }))
    void sendTurn(waiting, {}).catch(() => undefined)
    await askOnce(connectorTo({ server, tool: 'pid' }), {})
    const call = testCall({ mode: 'conversational', logger })
    const { answer } = await askOnce(connectorTo({ server, tool: 'ask' }), {}, call)
    expect(JSON.parse(String(answer.output))).toEqual({ action: 'decline' })
    expect(warnings).toEqual([
      expect.stringMatching(/several calls are in flight/),
      expect.stringMatching(/several calls are in flight/),
    ])
  })
})

function readMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

function runSoon(_: number, callback: () => void): () => void {
  const timer = setImmediate(callback)
  return () => {
    clearImmediate(timer)
  }
}
