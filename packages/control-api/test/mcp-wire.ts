/** Sends raw MCP requests that no client SDK would send. */

/** Options of a request. */
export interface PostOptions {
  readonly key?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** The last message of a response, with the fields that tests read. */
export interface McpBody {
  readonly result?: {
    readonly content?: unknown
    readonly structuredContent?: unknown
    readonly requestState?: string
    readonly inputRequests?: Readonly<Record<string, unknown>>
  }
  readonly error?: { readonly code?: number; readonly message?: string }
  readonly id?: unknown
}

/** Response to a message: status, headers and last message of the body. */
export interface McpAnswer {
  readonly status: number
  readonly headers: Headers
  readonly body: McpBody
}

/** Posts a message or a text, and returns the response while its body arrives. */
export function streamMcp(
  url: string,
  message: unknown,
  { key, headers = {} }: PostOptions = {},
): Promise<Response> {
  return fetch(`${url}/mcp`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      ...modernHeaders(message),
      ...headers,
    },
    body: typeof message === 'string' ? message : JSON.stringify(message),
  })
}

/** Posts a message or a text. */
export async function postMcp(
  url: string,
  message: unknown,
  options: PostOptions = {},
): Promise<McpAnswer> {
  const response = await streamMcp(url, message, options)
  const text = await response.text()
  const frames = [...text.matchAll(/^data: (.+)$/gm)].map(([, data = '']) => data)
  const last = frames.at(-1) ?? text
  return {
    status: response.status,
    headers: response.headers,
    // NOTE: a test that reads a field expects a value in it.
    body: (last === '' ? {} : JSON.parse(last)) as McpBody,
  }
}

/** Returns a 2026-07-28 tool call of a client with forms. */
export function modernCall(name: string, given: object, more: object = {}) {
  return {
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: {
      name,
      arguments: given,
      ...more,
      _meta: {
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
        'io.modelcontextprotocol/clientCapabilities': { elicitation: {} },
      },
    },
  }
}

/** First message of an older client. */
export const INITIALIZE = {
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'test', version: '1' },
  },
}

/** Returns the headers that repeat parts of a 2026-07-28 message. */
function modernHeaders(message: unknown): Record<string, string> {
  if (typeof message !== 'object' || message === null || !('params' in message)) return {}
  const { params, method } = message as {
    params: { name?: string; _meta?: object }
    method: string
  }
  if (params._meta === undefined) return {}
  return {
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': method,
    ...(params.name === undefined ? {} : { 'mcp-name': params.name }),
  }
}
