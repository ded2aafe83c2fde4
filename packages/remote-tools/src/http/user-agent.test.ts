import { runTool, type AgentTool } from '@tutti/core'
import { describe, expect, it } from 'vitest'

import { localServer } from '../../../../tooling/test-kit/local-server.ts'
import { openApiTools } from '../openapi/open-api-tools.ts'
import { httpTool } from './http-tool.ts'

import type { OpenApiToolsOptions } from '../openapi/options.ts'

const echoing = () =>
  localServer((response, { headers }) => {
    response.end(JSON.stringify([headers['user-agent'], headers['x-key'] ?? null]))
  })

async function call(tool: AgentTool): Promise<unknown> {
  const input = tool.kind === 'text' ? '{"input":""}' : '{}'
  const { result } = await runTool(tool, { id: 'c', name: tool.name, arguments: input })
  return JSON.parse(result.output)
}

const DOCUMENT = {
  openapi: '3.0.0',
  paths: { '/a': { get: { operationId: 'a', responses: {} } } },
}

async function callOperation(options: OpenApiToolsOptions = {}): Promise<unknown> {
  const { origin } = await echoing()
  await using api = openApiTools({ ...DOCUMENT, servers: [{ url: origin }] }, options)
  const [tool] = api.tools
  if (tool === undefined) throw new Error('No tool')
  return await call(tool)
}

const OWN = /^tutti\/\d+\.\d+\.\d+$/

describe('the User-Agent', () => {
  it('The User-Agent of an HTTP tool is that of Tutti unless the author sets one', async () => {
    const { origin } = await echoing()
    await using plain = httpTool({ name: 'h', description: 'd', method: 'GET', url: origin })
    const headers = { 'User-Agent': 'mine/1' }
    await using own = httpTool({ name: 'h', description: 'd', method: 'GET', url: origin, headers })
    expect(await call(plain)).toEqual([expect.stringMatching(OWN), null])
    expect(await call(own)).toEqual(['mine/1', null])
  })

  it('The User-Agent of an OpenAPI tool is that of Tutti unless `headers` has one', async () => {
    expect(await callOperation()).toEqual([expect.stringMatching(OWN), null])
    const headers = { 'user-agent': 'mine/2', 'X-Key': 'k' }
    expect(await callOperation({ headers })).toEqual(['mine/2', 'k'])
    expect(await callOperation({ headers: () => headers })).toEqual(['mine/2', 'k'])
  })
})

describe('headers that are not a record', () => {
  it.each([
    [
      [
        ['x', '1'],
        ['x', '2'],
      ],
      'a list',
    ],
    [[], 'a list'],
    [new Headers({ x: '1' }), 'Headers'],
    [new Map([['x', '1']]), 'Map'],
    ['x: 1', 'string'],
    [null, 'null'],
  ])('Headers that are not a record are refused: %j', (headers, got) => {
    const message = `headers must be a record of names and values, got ${got}; a header cannot be repeated`
    const options = { name: 'h', description: 'd', url: 'https://a.example' }
    // NOTE: a program without types can pass these.
    const wrong = headers as unknown as Record<string, string>
    expect(() => httpTool({ ...options, headers: wrong })).toThrow(message)
    expect(() =>
      openApiTools({ ...DOCUMENT, servers: [{ url: 'https://a.example' }] }, { headers: wrong }),
    ).toThrow(message)
  })
})
