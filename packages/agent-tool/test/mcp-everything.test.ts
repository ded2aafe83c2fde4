import { describe, expect, it } from 'vitest'

import { connectorTo, EVERYTHING, freePort, startEverything } from './mcp-test-servers.ts'
import { askOnce, sendTurn, testCall } from './test-call.ts'

import type { McpServer } from '@tutti/mcp/internal'

const stdio = (): Promise<McpServer> =>
  Promise.resolve({ command: process.execPath, args: [EVERYTHING, 'stdio'] })

const http = async (): Promise<McpServer> => {
  const port = await freePort()
  await startEverything('streamableHttp', port)
  return { url: `http://127.0.0.1:${port}/mcp` }
}

const sse = async (): Promise<McpServer> => {
  const port = await freePort()
  await startEverything('sse', port)
  return { url: `http://127.0.0.1:${port}/sse` }
}

describe.each([
  ['stdio', stdio],
  ['streamable HTTP', http],
  ['SSE', sse],
])('the reference server over %s', (_, start) => {
  it('The reference server returns text, structured content and other content', async () => {
    const server = await start()
    const echo = await askOnce(connectorTo({ server, tool: 'echo' }), 'hello')
    expect(echo.answer).toMatchObject({ state: 'completed', output: 'Echo: hello' })
    const weather = await askOnce(connectorTo({ server, tool: 'get-structured-content' }), {
      location: 'Chicago',
    })
    expect(weather.answer.output).toMatchObject({ temperature: expect.any(Number) })
    const image = await askOnce(connectorTo({ server, tool: 'get-tiny-image' }), null)
    expect(image.answer.text).toMatch(/\[image: image\/png, \d+ bytes\]/)
    expect(image.answer.output).toContainEqual(expect.objectContaining({ type: 'image' }))
  })

  it('The reference server refuses a tool that can only be called as a task', async () => {
    const connector = connectorTo({ server: await start(), tool: 'simulate-research-query' })
    await expect(askOnce(connector, { topic: 'tides' })).rejects.toMatchObject({
      failureType: 'configuration',
      message: expect.stringContaining('can only be called as a task (taskSupport: required)'),
    })
  })

  it('The reference server reports all progress, including the last', async () => {
    const server = await start()
    const connector = connectorTo({ server, tool: 'trigger-long-running-operation' })
    const call = testCall()
    const { chunks } = await askOnce(connector, { duration: 0.06, steps: 3 }, call)
    expect(chunks).toEqual([
      { progress: 1, total: 3 },
      { progress: 2, total: 3 },
      { progress: 3, total: 3 },
    ])
    expect(call.arrivals).toBeGreaterThanOrEqual(3)
  })

  it('[AGENT-S1] The reference server asks in a conversation and continues with the answer of the next turn', async () => {
    const server = await start()
    const connector = connectorTo({ server, tool: 'trigger-elicitation-request' })
    const session = await connector.connect(testCall({ mode: 'conversational' }))
    const { answer } = await sendTurn(session, {})
    expect(answer).toMatchObject({
      state: 'input_required',
      question: expect.stringMatching(
        /^Please provide inputs .*\nAnswer with JSON that matches \{/,
      ),
      output: { requestedSchema: { required: ['name'] } },
    })
    const { answer: done } = await sendTurn(session, { name: 'Ada' }, 1)
    expect(done.state).toBe('completed')
    expect(done.text).toContain('- Name: Ada')
  })
})
