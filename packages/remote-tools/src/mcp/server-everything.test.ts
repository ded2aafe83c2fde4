import { spawn } from 'node:child_process'
import { createServer } from 'node:net'
import { createRequire } from 'node:module'
import { createInterface } from 'node:readline'

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { runTool } from '@tutti/core'
import type { ToolProgress } from '@tutti/core/internal'
import { scriptedReviewer } from '@tutti/testing'
import { describe, expect, it, onTestFinished, vi } from 'vitest'

import { mcpTools, type McpTools } from './mcp-tools.ts'

import type { AddressInfo } from 'node:net'
import type { McpServer } from '@tutti/mcp/internal'
import type { McpToolsOptions } from './options.ts'

const require = createRequire(import.meta.url)
const EVERYTHING = require.resolve('@modelcontextprotocol/server-everything/dist/index.js')

async function connect(server: McpServer, options?: McpToolsOptions): Promise<McpTools> {
  const imported = await mcpTools(server, options)
  onTestFinished(() => imported.close())
  return imported
}

const stdio = (): Promise<McpServer> =>
  Promise.resolve({ command: process.execPath, args: [EVERYTHING, 'stdio'], killGraceMs: 0 })

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // NOTE: the address of a TCP server has this type.
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** Starts the server on a port and waits until it reports that it is listening. */
async function listening(mode: string, port: number): Promise<{ end(): Promise<void> }> {
  const child = spawn(process.execPath, [EVERYTHING, mode], {
    env: { ...process.env, PORT: String(port) },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => {
      resolve()
    })
  })
  const end = (): Promise<void> => {
    child.kill('SIGKILL')
    return ended
  }
  onTestFinished(end)
  child.stdout.resume()
  for await (const line of createInterface({ input: child.stderr })) {
    if (/listening|running on port/i.test(line)) break
  }
  child.stderr.resume()
  return { end }
}

const http = async (): Promise<McpServer> => {
  const port = await freePort()
  await listening('streamableHttp', port)
  return { url: `http://127.0.0.1:${port}/mcp` }
}

const sse = async (): Promise<McpServer> => {
  const port = await freePort()
  await listening('sse', port)
  return { url: `http://127.0.0.1:${port}/sse` }
}

async function call(
  { tools }: McpTools,
  name: string,
  input: object = {},
  onProgress: (progress: ToolProgress) => void = () => undefined,
) {
  const tool = tools.find((one) => one.name === name)
  if (tool === undefined) throw new Error(`no tool ${name}`)
  const made = { id: 'c', name, arguments: JSON.stringify(input) }
  const options = { onProgress: (_: unknown, progress: ToolProgress) => onProgress(progress) }
  return (await runTool(tool, made, options)).result
}

describe.each([
  ['stdio', stdio],
  ['streamable HTTP', http],
  ['SSE', sse],
])('the reference server over %s', (_, start) => {
  it('The reference server provides its tools and every kind of result', async () => {
    const imported = await connect(await start())
    const reason = expect.stringContaining('taskSupport: required')
    expect(imported.skipped).toEqual([{ name: 'simulate-research-query', reason }])
    expect(imported.tools.length).toBeGreaterThanOrEqual(10)
    expect((await call(imported, 'echo', { message: 'hello' })).output).toBe('Echo: hello')
    expect((await call(imported, 'get-sum', { a: 2, b: '3' })).output).toMatch(/5/)
    expect((await call(imported, 'get-sum', { a: 'x' })).errorMessage).toMatch(/^Invalid input/)
    const weather = await call(imported, 'get-structured-content', { location: 'Chicago' })
    expect(weather.structured).toMatchObject({ temperature: expect.any(Number) })
    const image = await call(imported, 'get-tiny-image')
    expect(image.output).toMatch(/\[image: image\/png, \d+ bytes\]/)
    expect(image.output.length).toBeLessThan(500)
    const reported: ToolProgress[] = []
    await call(imported, 'trigger-long-running-operation', { duration: 0.05, steps: 2 }, (one) => {
      reported.push(one)
    })
    expect(reported.at(-1)).toMatchObject({ fraction: 1 })
  })

  it('The reference server sends questions of its tools to the reviewer', async () => {
    const { tools } = await connect(await start())
    const tool = tools.find(({ name }) => name === 'trigger-elicitation-request')
    if (tool === undefined) throw new Error('The server has the tool for clients that can be asked')
    const reviewer = scriptedReviewer([{ action: 'EDIT', input: { name: 'Ada' } }])
    const { result } = await runTool(
      tool,
      { id: 'c', name: tool.name, arguments: '{}' },
      { reviewer },
    )
    expect(result.output).toContain('- Name: Ada')
    expect(reviewer.requests[0]?.description).toMatch(/^Please provide inputs/)
  })
})

describe('an HTTP server', () => {
  it('[MCP-M2] An HTTP server gets the call again in a new session after it has restarted', async () => {
    const port = await freePort()
    const first = await listening('streamableHttp', port)
    const imported = await connect({ url: `http://127.0.0.1:${port}/mcp` })
    expect((await call(imported, 'echo', { message: 'a' })).output).toBe('Echo: a')
    await first.end()
    const down = await call(imported, 'echo', { message: 'b' })
    expect(down.errorMessage).toMatch(/^MCP call failed: /)
    await listening('streamableHttp', port)
    expect((await call(imported, 'echo', { message: 'c' })).output).toBe('Echo: c')
  })

  it('An HTTP server is an error of the import when it is missing or not an MCP server', async () => {
    const url = `http://127.0.0.1:${await freePort()}/mcp?key=secret`
    const failing = mcpTools({ url })
    await expect(failing).rejects.toThrow(
      /^Cannot connect to MCP server http:\/\/127\.0\.0\.1:\d+: /,
    )
    await expect(failing).rejects.not.toThrow(/secret/)
    await expect(mcpTools({ url: 'ftp://a.test' })).rejects.toThrow('must be an http or https URL')
  })
})

describe('a client of the caller', () => {
  it('A client of the caller is called without other time limits, and with a progress token', async () => {
    const server = await http()
    if (!('url' in server)) throw new Error('not HTTP')
    const client = new Client({ name: 'mine', version: '1.0.0' })
    await client.connect(new StreamableHTTPClientTransport(new URL(server.url)))
    onTestFinished(() => client.close())
    const imported = await connect({ client })
    const request = vi.spyOn(client, 'request')
    await call(imported, 'echo', { message: 'hello' })
    const day = 86_400_000
    const [, options] = request.mock.calls[0] ?? []
    expect(options).toMatchObject({
      onprogress: expect.any(Function),
      resetTimeoutOnProgress: true,
      signal: expect.any(AbortSignal),
    })
    expect(options).toHaveProperty(
      'timeout',
      expect.toSatisfy((ms: number) => ms > day),
    )
    expect(options).toHaveProperty(
      'maxTotalTimeout',
      expect.toSatisfy((ms: number) => ms > day),
    )
  })

  it('A client of the caller is used and not closed', async () => {
    const server = await http()
    if (!('url' in server)) throw new Error('not HTTP')
    const client = new Client({ name: 'mine', version: '1.0.0' })
    await client.connect(new StreamableHTTPClientTransport(new URL(server.url)))
    onTestFinished(() => client.close())
    const imported = await connect({ client })
    expect((await call(imported, 'echo', { message: 'hello' })).output).toBe('Echo: hello')
    await imported.close()
    expect((await client.listTools()).tools.length).toBeGreaterThan(0)
    expect((await call(imported, 'echo', { message: 'x' })).errorMessage).toMatch(/is closed/)
  })
})
