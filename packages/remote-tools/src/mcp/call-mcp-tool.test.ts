import { createServer } from 'node:http'
import { fileURLToPath } from 'node:url'

import { createMcpHandler } from '@modelcontextprotocol/server'
import { runTool, type Reviewer, type RunToolOptions } from '@tutti/core'
import { fakeClock, scriptedReviewer } from '@tutti/testing'
import { describe, expect, it, onTestFinished } from 'vitest'

import { onBody } from '../../../../tooling/test-kit/on-body.ts'
import { askingServer } from '../../test/servers/asking-server.ts'
import { mcpTools, type McpTools } from './mcp-tools.ts'

import type { AddressInfo } from 'node:net'
import type { McpServer } from '@tutti/mcp/internal'

const PROGRAM = fileURLToPath(new URL('../../test/servers/asking-server.ts', import.meta.url))

const stdio = (): Promise<McpServer> =>
  Promise.resolve({ command: process.execPath, args: [PROGRAM], killGraceMs: 0 })

async function http(): Promise<McpServer> {
  const handler = createMcpHandler(askingServer)
  const server = createServer((incoming, outgoing) => {
    onBody(incoming, async (content) => {
      const body = incoming.method === 'POST' ? { body: content } : {}
      const headers = new Headers(
        Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]),
      )
      const url = `http://localhost${incoming.url}`
      const request = new Request(url, { method: incoming.method ?? 'GET', headers, ...body })
      const response = await handler.fetch(request)
      outgoing.writeHead(response.status, Object.fromEntries(response.headers))
      outgoing.end(Buffer.from(await response.arrayBuffer()))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
    await handler.close()
  })
  // NOTE: the address of a TCP server has this type.
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}/mcp` }
}

async function connect(server: McpServer): Promise<McpTools> {
  const imported = await mcpTools(server)
  onTestFinished(() => imported.close())
  return imported
}

function call({ tools }: McpTools, name: string, options: RunToolOptions = {}) {
  const tool = tools.find((one) => one.name === name)
  if (tool === undefined) throw new Error(`no tool ${name}`)
  return runTool(tool, { id: 'c', name, arguments: '{}' }, options)
}

/** Creates a reviewer that answers with the tool's name after both calls have asked. */
function reviewerOfTwo(): Reviewer {
  const both = Promise.withResolvers<void>()
  let asked = 0
  return {
    async decide({ toolName }) {
      asked += 1
      if (asked === 2) both.resolve()
      await both.promise
      return toolName === 'confirm'
        ? { action: 'REJECT' }
        : { action: 'EDIT', input: { name: toolName, age: 1 } }
    },
  }
}

describe.each([
  ['stdio', stdio],
  ['HTTP', http],
])('a question of a server over %s', (_, start) => {
  it('A question of a server goes to the reviewer, and the server gets the values', async () => {
    const imported = await connect(await start())
    const reviewer = scriptedReviewer([{ action: 'EDIT', input: { name: 'Ada', age: '36' } }])
    const { result } = await call(imported, 'introduce', { reviewer })
    expect(result.success).toBe(true)
    expect(JSON.parse(result.output)).toEqual({
      action: 'accept',
      content: { name: 'Ada', age: 36 },
    })
    expect(reviewer.requests).toEqual([
      expect.objectContaining({
        description: 'Who are you?',
        toolName: 'introduce',
        asksForAnswer: true,
        inputSchema: expect.objectContaining({ required: ['name', 'age'] }),
      }),
    ])
  })

  it('A question of a server is accepted by CONTINUE if it requests no values, and otherwise cancelled', async () => {
    const imported = await connect(await start())
    const reviewer = scriptedReviewer(['CONTINUE'])
    const confirmed = await call(imported, 'confirm', { reviewer })
    expect(JSON.parse(confirmed.result.output)).toEqual({ action: 'accept', content: {} })
    const introduced = await call(imported, 'introduce', { reviewer })
    expect(JSON.parse(introduced.result.output)).toEqual({ action: 'cancel' })
  })

  it('A question of a server is declined by a rejection, and cancelled without an answer', async () => {
    const imported = await connect(await start())
    const rejected = await call(imported, 'confirm', { reviewer: scriptedReviewer(['REJECT']) })
    expect(rejected.result.output).toBe('{"action":"decline"}')
    const clock = fakeClock()
    const asked = Promise.withResolvers<void>()
    const silent: Reviewer = {
      decide() {
        asked.resolve()
        return new Promise(() => undefined)
      },
    }
    const waiting = call(imported, 'confirm', { clock, reviewer: silent })
    await asked.promise
    await clock.advance(300_000)
    expect((await waiting).result.output).toBe('{"action":"cancel"}')
  })

  it('[REMOTE-E1] A question of a server is declined without a reviewer, and the result reports it', async () => {
    const { result } = await call(await connect(await start()), 'introduce')
    expect(result).toMatchObject({
      success: true,
      output:
        '{"action":"decline"}\n[Declined a question of the MCP server, because the run has no reviewer: "Who are you?"]',
    })
  })

  it('A question of a server ends the run early when the reviewer does', async () => {
    const reviewer = scriptedReviewer(['EXIT_EARLY'])
    const { end } = await call(await connect(await start()), 'confirm', { reviewer })
    expect(end).toBe('exit_early')
  })
})

it('A question of a server belongs to the call in whose exchange it arrives over HTTP', async () => {
  const imported = await connect(await http())
  const reviewer = reviewerOfTwo()
  const [confirmed, introduced] = await Promise.all([
    call(imported, 'confirm', { reviewer }),
    call(imported, 'introduce', { reviewer }),
  ])
  expect(confirmed.result.output).toBe('{"action":"decline"}')
  expect(JSON.parse(introduced.result.output)).toMatchObject({ content: { name: 'introduce' } })
})

it('[REMOTE-E1] A question of a server is declined over stdio while several calls are in flight', async () => {
  const imported = await connect(await stdio())
  const reviewer = scriptedReviewer(['CONTINUE'])
  const [first, second] = await Promise.all([
    call(imported, 'confirm', { reviewer }),
    call(imported, 'confirm', { reviewer }),
  ])
  for (const { result } of [first, second]) {
    expect(result.output).toMatch(/^\{"action":"decline"\}\n\[Declined .* several calls/)
  }
  expect(reviewer.requests).toEqual([])
})

it('A question of a server is withdrawn from the reviewer when the server no longer waits for its answer', async () => {
  const imported = await connect(await stdio())
  const withdrawn = Promise.withResolvers<void>()
  const reviewer: Reviewer = {
    decide: (_, signal) =>
      new Promise(() => {
        signal.addEventListener('abort', () => withdrawn.resolve())
      }),
  }
  const { result } = await call(imported, 'impatient', { reviewer })
  expect(result.output).toBe('no answer in time')
  await withdrawn.promise
})
