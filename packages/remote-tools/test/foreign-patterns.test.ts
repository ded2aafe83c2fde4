/** Schemas of servers and documents cannot block the process, and tools keep the fields that their schemas allow. */
import { createServer } from 'node:http'
import { fileURLToPath } from 'node:url'

import { runTool, toModelText, type AgentTool } from '@tutti/core'
import { describe, expect, it, onTestFinished } from 'vitest'

import { processorTimer } from '../../../tooling/test-kit/processor-time.ts'

import { mcpTools } from '../src/mcp/mcp-tools.ts'
import { openApiTools } from '../src/openapi/open-api-tools.ts'

const SERVER = fileURLToPath(new URL('servers/pattern-server.mjs', import.meta.url))
const text = `${'a'.repeat(40)}!`

async function call(tool: AgentTool | undefined, input: object) {
  if (tool === undefined) throw new Error('the tool was not imported')
  const processorMs = processorTimer()
  const made = { id: 'c', name: tool.name, arguments: JSON.stringify(input) }
  const { result } = await runTool(tool, made)
  return {
    success: result.success,
    text: toModelText(result),
    processorMs: processorMs(),
  }
}

describe('the tools of an MCP server', () => {
  it('The tools of an MCP server have patterns in their schemas that cannot block the process', async () => {
    const imported = await mcpTools(
      { command: process.execPath, args: [SERVER] },
      { outputCheck: 'strict' },
    )
    onTestFinished(() => imported.close())
    const tools = new Map(imported.tools.map((tool) => [tool.name, tool]))
    for (const [name, input] of [
      ['m_out', {}],
      ['m_keys', {}],
      ['m_in', { a: text }],
    ] as const) {
      const { success, processorMs } = await call(tools.get(name), input)
      expect([name, success]).toEqual([name, false])
      expect(processorMs).toBeLessThan(2_000)
    }
    expect(await call(tools.get('m_in'), { a: 'aa' })).toMatchObject({ success: true })
    expect(imported.warnings).toEqual([
      'm_look: inputSchema/properties/a/pattern is not checked: "^(?=a)" uses lookahead or lookbehind',
    ])
    expect(await call(tools.get('m_look'), { a: 'b' })).toMatchObject({ success: true })
  })
})

describe('the tools of an OpenAPI document', () => {
  it('The tools of an OpenAPI document send the fields of the member that a discriminator names, and have patterns that cannot block', async () => {
    const bodies: string[] = []
    const server = createServer((request, response) => {
      let body = ''
      request.on('data', (data: Buffer) => (body += data.toString()))
      request.on('end', () => {
        bodies.push(body)
        response.end('ok')
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const address = server.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0
    const animal = (field: string, type: string): object => ({
      type: 'object',
      properties: { kind: { type: 'string' }, [field]: { type } },
      required: ['kind'],
    })
    const to = (name: string) => ({ $ref: `#/components/schemas/${name}` })
    const pet = {
      oneOf: [to('Cat'), to('Dog')],
      discriminator: {
        propertyName: 'kind',
        mapping: { cat: to('Cat').$ref, dog: to('Dog').$ref },
      },
    }
    const note = { type: 'string', pattern: '^(a+)+$' }
    const schema = { type: 'object', required: ['pet'], properties: { pet, note } }
    const imported = openApiTools({
      openapi: '3.0.3',
      info: { title: 't', version: '1' },
      servers: [{ url: `http://127.0.0.1:${port}` }],
      components: { schemas: { Cat: animal('lives', 'integer'), Dog: animal('bark', 'boolean') } },
      paths: {
        '/pets': {
          post: {
            operationId: 'pets',
            requestBody: { required: true, content: { 'application/json': { schema } } },
            responses: { 200: { description: 'ok' } },
          },
        },
      },
    })
    onTestFinished(() => imported.close())
    const [tool] = imported.tools
    expect(JSON.stringify(tool?.inputSchema)).toContain('"enum":["cat"]')
    const dog = { kind: 'dog', bark: true, lives: 9 }
    expect(await call(tool, { pet: dog })).toMatchObject({ success: true })
    expect(bodies.map((body): unknown => JSON.parse(body))).toEqual([
      { pet: { kind: 'dog', bark: true } },
    ])
    const { success, processorMs } = await call(tool, { pet: dog, note: text })
    expect(success).toBe(false)
    expect(processorMs).toBeLessThan(2_000)
    expect(await call(tool, { pet: { kind: 'cow' } })).toMatchObject({ success: false })
  })
})
