/** Tests agent addresses, and tools that call the agents behind them. */
import { createServer } from 'node:http'

import { runTool, Type } from '@tutti/core'
import { describe, expect, it } from 'vitest'

import { onBody } from '../../../tooling/test-kit/on-body.ts'
import { CONNECTORS } from '../../../tooling/test-kit/compat.ts'
import { agentTool, type LocalAgent } from '../src/index.ts'
import { createConnector } from '../src/internal.ts'

import type { AddressInfo } from 'node:net'

const echo: LocalAgent = { answer: ({ input }) => `heard ${String(input)}` }

function ask(
  tool: Parameters<typeof runTool>[0],
  input: object = { input: 'hi' },
): ReturnType<typeof runTool> {
  return runTool(tool, { id: 'c', name: tool.name, arguments: JSON.stringify(input) })
}

describe('createConnector', () => {
  const options = {
    agents: { echo, 'the choir': echo },
    mcpServers: { files: { command: 'node' } },
    connectors: CONNECTORS,
  }

  it.each([
    ['https://user:pw@a.example/x?key=1', 'a2a', 'https://a.example/x'],
    ['HTTPS://a.example', 'a2a', 'https://a.example/'],
    ['http://127.0.0.1:1/x', 'a2a', 'http://127.0.0.1:1/x'],
    ['tutti://echo', 'local', 'tutti://echo'],
    ['jamjet://echo', 'local', 'jamjet://echo'],
    ['tutti://the%20choir', 'local', 'tutti://the%20choir'],
    ['mcp+https://a.example/mcp#search', 'mcp', 'mcp+https://a.example/mcp#search'],
    ['mcp+stdio:node?arg=secret#search', 'mcp', 'mcp+stdio:node#search'],
    ['mcp://a.example/search', 'mcp', 'mcp+https://a.example/mcp#search'],
    ['files:search', 'mcp', 'files:search'],
    ['wss://a.example#task:brief', 'ensemble', 'wss://a.example/#task:brief'],
  ] as const)(
    'createConnector reads %s as an address for %s and hides secrets',
    (address, protocol, uri) => {
      expect(createConnector(address, options)).toMatchObject({ protocol, uri })
      expect(createConnector(new URL(address), options)).toMatchObject({ protocol })
    },
  )

  it.each([
    [
      'tutti://choir',
      'no agent of this process is registered as "choir". Registered: echo, the choir',
    ],
    ['http://a.example', 'https'],
    ['ws://a.example#x', 'wss'],
    ['unknown:thing', 'no MCP server is registered as "unknown" (registered are files)'],
    ['no address', 'Cannot use MCP address'],
    ['wss://a.example', '#task:name'],
  ])(
    'createConnector rejects %s with a message that shows the expected form',
    (address, problem) => {
      expect(() => createConnector(address, options)).toThrow(problem)
    },
  )

  it.each([
    ['wss://user:pw@a.example/x?key=1#task:brief', {}, 'peerConnector'],
    ['https://user:pw@a.example/x?key=1', { wire: 'tasks' }, 'tasksConnector'],
  ] as const)(
    'createConnector names the connector that %s needs, and hides secrets',
    (address, given, needed) => {
      const create = () => createConnector(address, given)
      expect(create).toThrow(`add ${needed} of @tutti/compat-`)
      expect(create).toThrow(/"\w+:\/\/a\.example\/x"/)
    },
  )

  it('createConnector rejects the address of a local agent without the option agents', () => {
    expect(() => createConnector('tutti://echo')).toThrow('none; pass them as `agents`')
  })
})

describe('agentTool', () => {
  it('agentTool calls an agent of this process by address or by object', async () => {
    const settings = { name: 'echo', description: 'Echoes' } as const
    const named = agentTool({ ...settings, agent: 'tutti://echo', agents: { echo } })
    const own = agentTool({ ...settings, agent: echo })
    for (const tool of [named, own]) expect((await ask(tool)).result.output).toBe('heard hi')
  })

  it('agentTool infers its types from its schemas', async () => {
    const tool = agentTool({
      name: 'echo',
      description: 'Echoes',
      agent: echo,
      input: Type.Object({ city: Type.String() }),
      request: ({ city }) => city,
    })
    const { result } = await ask(tool, { city: 'Bonn' })
    expect(result.output).toBe('heard Bonn')
    expect((await ask(tool, { town: 'Bonn' })).result.errorMessage).toContain('city')
  })

  it('agentTool sends its headers and uses the configured wire', async () => {
    const seen: (string | undefined)[][] = []
    const server = createServer((request, response) => {
      seen.push([request.method, request.url, request.headers['x-key']?.toString()])
      onBody(request, () => response.end('{"status":"completed","output":"yes"}'))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    // NOTE: the address of a server that listens on a port has this type.
    const { port } = server.address() as AddressInfo
    await using tool = agentTool({
      name: 'far',
      description: 'Is far away',
      agent: `http://127.0.0.1:${port}/agent`,
      wire: 'tasks',
      connectors: CONNECTORS,
      headers: { 'x-key': 'k' },
    })
    expect((await ask(tool)).result).toMatchObject({ output: 'yes' })
    expect(seen).toEqual([['POST', '/agent/tasks/send', 'k']])
    await tool.close()
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })

  it('agentTool names every invalid setting', () => {
    const wrong = { name: 'x y', description: '', agent: echo, maxTurns: 0 } as const
    expect(() => agentTool(wrong)).toThrow(/maxTurns must be an integer >= 1, got 0/)
    expect(() => agentTool({ ...wrong, maxTurns: 1 })).toThrow(
      /name must be .*; description must not/,
    )
  })

  it('agentTool shares the child process of an MCP server with other tools', async () => {
    const script = new URL('mcp-child.ts', import.meta.url).pathname
    const address = `mcp+stdio:${encodeURIComponent(process.execPath)}?arg=--conditions%3D@tutti/source&arg=${encodeURIComponent(script)}`
    const tools = [1, 2].map((at) =>
      agentTool({ name: `pid${at}`, description: 'Says its process', agent: `${address}#pid` }),
    )
    const [one, other] = await Promise.all(tools.map((tool) => ask(tool)))
    expect(one?.result.success).toBe(true)
    expect(other?.result.output).toBe(one?.result.output)
    for (const tool of tools) await tool.close()
  })
})
