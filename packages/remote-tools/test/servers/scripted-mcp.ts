/**
 * MCP servers whose answers are texts, so that they can be wrong in every way: over HTTP in this process, or over stdio
 * when this file is started as a program.
 */
import { createServer } from 'node:http'
import process from 'node:process'
import { createInterface } from 'node:readline'

import { onBody } from '../../../../tooling/test-kit/on-body.ts'

import type { AddressInfo } from 'node:net'

/**
 * Answers by method, or by `tools/call NAME`. `$ID` becomes the id of the request as JSON, `$NUMBER` the number in it.
 * A list has one answer for each request; its last one is repeated.
 */
export type McpScript = Readonly<Record<string, string | readonly string[]>>

/** Form of the HTTP answers. An event stream stays open after the answer. */
export type HttpForm = 'json' | 'stream'

interface Message {
  readonly id?: number | string
  readonly method: string
  readonly params?: { readonly name?: string; readonly protocolVersion?: string }
}

/** Returns the answers of a server to its requests. */
export function scriptedAnswers(script: McpScript): (message: Message) => string | undefined {
  const counts = new Map<string, number>()
  return (message) => {
    const { id, method, params } = message
    if (id === undefined) return undefined
    const own = `${method} ${params?.name ?? ''}`
    const key = own in script ? own : method
    const count = counts.get(key) ?? 0
    counts.set(key, count + 1)
    const given = script[key] ?? defaultAnswer(message)
    const raw = typeof given === 'string' ? given : (given[count] ?? given.at(-1) ?? '')
    return raw.replaceAll('$ID', JSON.stringify(id)).replaceAll('$NUMBER', String(id))
  }
}

function defaultAnswer({ method, params }: Message): string {
  const answer = (rest: object): string =>
    JSON.stringify({ jsonrpc: '2.0', id: '$ID', ...rest }).replace('"$ID"', '$ID')
  if (method === 'initialize') {
    const { protocolVersion = '' } = params ?? {}
    const serverInfo = { name: 'scripted', version: '1' }
    return answer({ result: { protocolVersion, capabilities: { tools: {} }, serverInfo } })
  }
  if (method === 'tools/list') {
    return answer({ result: { tools: [{ name: 'a', inputSchema: { type: 'object' } }] } })
  }
  return answer({ error: { code: -32_601, message: 'Method not found' } })
}

/** Starts a server over HTTP on a free port. */
export async function scriptedHttpServer(
  script: McpScript,
  form: HttpForm = 'json',
): Promise<AsyncDisposable & { readonly url: string }> {
  const answer = scriptedAnswers(script)
  const server = createServer((request, response) => {
    onBody(request, (body) => {
      if (request.method !== 'POST') return response.writeHead(405).end()
      // NOTE: the client under test sends messages of this form.
      const raw = answer(JSON.parse(body) as Message)
      if (raw === undefined) return response.writeHead(202).end()
      if (form === 'json') {
        return response.writeHead(200, { 'content-type': 'application/json' }).end(raw)
      }
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      return response.write(`data: ${raw.replaceAll('\n', '\ndata: ')}\n\n`)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // NOTE: the address of a TCP server has this type.
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

if (process.argv[1] === import.meta.filename) {
  const answer = scriptedAnswers(JSON.parse(process.argv[2] ?? '{}') as McpScript)
  createInterface({ input: process.stdin }).on('line', (line) => {
    const raw = answer(JSON.parse(line) as Message)
    if (raw !== undefined) process.stdout.write(`${raw}\n`)
  })
}
