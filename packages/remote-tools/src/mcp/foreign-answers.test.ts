/** Tests answers of MCP servers that are wrong in some way: none of them waits for a time limit. */
import process from 'node:process'
import { fileURLToPath } from 'node:url'

import { runTool } from '@tutti/core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { scriptedHttpServer, type McpScript } from '../../test/servers/scripted-mcp.ts'
import { mcpTools, type McpTools } from './mcp-tools.ts'

import type { McpServer } from '@tutti/mcp/internal'

const PROGRAM = fileURLToPath(new URL('../../test/servers/scripted-mcp.ts', import.meta.url))

/** Far below the time limit of a call, and far above the time of an answer on a busy machine. */
const TIMEOUT_MS = 20_000

/** An answer, and the text that the model gets: a success, or the end of a failure after its prefix. */
interface Row {
  readonly what: string
  readonly answer: string
  readonly success?: string
  readonly failure?: string
}

const done = '{"content":[{"type":"text","text":"done"}]}'
const result = (value: unknown): string =>
  `{"jsonrpc":"2.0","id":$ID,"result":${JSON.stringify(value)}}`
const error = (value: unknown): string =>
  `{"jsonrpc":"2.0","id":$ID,"error":${JSON.stringify(value)}}`
const INVALID = 'sent an invalid response: the answer to tools/call'

const ENVELOPES: readonly Row[] = [
  {
    what: 'a valid answer',
    answer: `{"jsonrpc":"2.0","id":$ID,"result":${done}}`,
    success: 'done',
  },
  {
    what: 'an id that is the text of the number',
    answer: `{"jsonrpc":"2.0","id":"$NUMBER","result":${done}}`,
    success: 'done',
  },
  {
    what: 'an error that is null',
    answer: `{"jsonrpc":"2.0","id":$ID,"result":${done},"error":null}`,
    success: 'done',
  },
  {
    what: 'an additional field',
    answer: `{"jsonrpc":"2.0","id":$ID,"result":${done},"time":3}`,
    success: 'done',
  },
  {
    what: 'spaces and a return around it',
    answer: `  {"jsonrpc":"2.0","id":$ID,"result":${done}} \r`,
    success: 'done',
  },
  {
    what: 'a batch',
    answer: `[{"jsonrpc":"2.0","id":$ID,"result":${done}}]`,
    failure: `${INVALID} is in a batch`,
  },
  {
    what: 'a batch with a notification',
    answer: `[{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}},{"jsonrpc":"2.0","id":$ID,"result":${done}}]`,
    failure: `${INVALID} is in a batch`,
  },
  {
    what: 'a batch in a batch',
    answer: `[[{"jsonrpc":"2.0","id":$ID,"result":${done}}],{"jsonrpc":"2.0","id":$ID,"result":${done}}]`,
    failure: `${INVALID} is in a batch`,
  },
  {
    what: 'version 1.0',
    answer: `{"jsonrpc":"1.0","id":$ID,"result":${done}}`,
    failure: `${INVALID} must have "jsonrpc": "2.0"`,
  },
  {
    what: 'a version that is a number',
    answer: `{"jsonrpc":2,"id":$ID,"result":${done}}`,
    failure: `${INVALID} must have "jsonrpc": "2.0"`,
  },
  {
    what: 'no version',
    answer: `{"id":$ID,"result":${done}}`,
    failure: `${INVALID} must have "jsonrpc": "2.0"`,
  },
  {
    what: 'no result',
    answer: '{"jsonrpc":"2.0","id":$ID}',
    failure: `${INVALID} has neither a result nor an error`,
  },
  { what: 'only an id', answer: '{"id":$ID}', failure: `${INVALID} must have "jsonrpc": "2.0"` },
  {
    what: 'a result and an error',
    answer: `{"jsonrpc":"2.0","id":$ID,"result":${done},"error":{"code":1,"message":"no"}}`,
    failure: `${INVALID} has both a result and an error`,
  },
  {
    what: 'a method in addition',
    answer: `{"jsonrpc":"2.0","id":$ID,"method":"tools/call","result":${done}}`,
    failure: `${INVALID} must not have a method`,
  },
  ...['null', '"done"', '7', 'true', '[]'].map((value) => ({
    what: `the result ${value}`,
    answer: `{"jsonrpc":"2.0","id":$ID,"result":${value}}`,
    failure: `${INVALID} must have a result that is an object`,
  })),
  ...[
    '"disk full"',
    '7',
    '{}',
    '{"code":"E1","message":"x"}',
    '{"code":1.5,"message":"x"}',
    '{"code":1}',
    '[]',
  ].map((value) => ({
    what: `the error ${value}`,
    answer: `{"jsonrpc":"2.0","id":$ID,"error":${value}}`,
    failure: `${INVALID} must have an error with an integer code and a message: {"jsonrpc":"2.0"`,
  })),
  {
    what: 'no id',
    answer: `{"jsonrpc":"2.0","result":${done}}`,
    failure: `${INVALID} has no id of an open request`,
  },
  ...['null', '999999', '"other"', 'true', '{}', '[1]', '1.5', '-1'].map((id) => ({
    what: `the id ${id}`,
    answer: `{"jsonrpc":"2.0","id":${id},"result":${done}}`,
    failure: `${INVALID} has no id of an open request`,
  })),
  {
    what: 'an error with the id null, as for a request that was not read',
    answer: '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}',
    failure: 'Parse error',
  },
  {
    what: 'a result without any other field',
    answer: `{"result":${done}}`,
    failure: `${INVALID} has no id of an open request`,
  },
  {
    what: 'JSON that was cut off',
    answer: '{"jsonrpc":"2.0","id":$ID,"result":{"content":[',
    failure: `${INVALID} is not valid JSON`,
  },
  {
    what: 'JSON with NaN',
    answer: '{"jsonrpc":"2.0","id":$ID,"result":{"content":[],"structuredContent":{"n":NaN}}}',
    failure: `${INVALID} is not valid JSON`,
  },
  {
    what: 'a number beyond the range of JavaScript',
    answer: '{"jsonrpc":"2.0","id":$ID,"result":{"content":[],"structuredContent":{"n":1e400}}}',
    failure: `${INVALID} cannot be read: Numbers must be between`,
  },
  {
    what: 'lists that are nested 20,000 levels deep',
    answer: `{"jsonrpc":"2.0","id":$ID,"result":{"structuredContent":{"n":${'['.repeat(20_000)}${']'.repeat(20_000)}}}}`,
    failure: `${INVALID} cannot be read: it must be nested at most 500 deep, got 20003`,
  },
  {
    what: 'an integer with 5000 digits',
    answer: `{"jsonrpc":"2.0","id":$ID,"result":{"structuredContent":{"n":${'9'.repeat(5000)}}}}`,
    failure: `${INVALID} cannot be read: Integers can have at most 4096 digits`,
  },
  {
    what: 'JSON that is nested too deeply',
    answer: `{"jsonrpc":"2.0","id":$ID,"result":{"structuredContent":${'['.repeat(2_000)}${']'.repeat(2_000)}}}`,
    failure: `${INVALID} cannot be read: it must be nested at most 500 deep, got 2002`,
  },
  {
    what: 'a notification in the same line',
    answer: `{"jsonrpc":"2.0","id":$ID,"result":${done}}{"jsonrpc":"2.0","method":"notifications/message"}`,
    failure: `${INVALID} is not valid JSON`,
  },
  {
    what: 'the form of a Python dictionary',
    answer: "{'jsonrpc': '2.0', 'id': $ID, 'result': {'content': []}}",
    failure: `${INVALID} is not valid JSON`,
  },
  {
    what: 'JSON without an id that was cut off',
    answer: '{"jsonrpc":"2.0","result":{"content":[',
    failure: `${INVALID} is not valid JSON`,
  },
]

const RESULTS: readonly Row[] = [
  { what: 'no content', answer: result({}), success: '' },
  { what: 'content that is null', answer: result({ content: null }), success: '' },
  { what: 'content that is text', answer: result({ content: 'done' }), success: 'done' },
  {
    what: 'content that is one part',
    answer: result({ content: { type: 'text', text: 'done' } }),
    success: 'done',
  },
  { what: 'a part that is text', answer: result({ content: ['done'] }), success: 'done' },
  {
    what: 'a part of an unknown type',
    answer: result({
      content: [
        { type: 'text', text: 'done' },
        { type: 'video', url: 'x' },
      ],
    }),
    success: 'done\n[content of unknown type "video": {"url":"x"}]',
  },
  {
    what: 'a part without a type',
    answer: result({ content: [{ text: 'done' }] }),
    success: '[content without a type: {"text":"done"}]',
  },
  {
    what: 'a part that is null',
    answer: result({ content: [null, { type: 'text', text: 'done' }] }),
    success: '[invalid content: null]\ndone',
  },
  {
    what: 'a text part whose text is a number',
    answer: result({ content: [{ type: 'text', text: 5 }] }),
    success: '[invalid content "text": {"text":5}]',
  },
  {
    what: 'an image without a type',
    answer: result({ content: [{ type: 'image', data: 'AAAA' }] }),
    success: '[invalid content "image": {"data":"AAAA"}]',
  },
  {
    what: 'an image that is not base64',
    answer: result({ content: [{ type: 'image', data: '%%%', mimeType: 'image/png' }] }),
    success: '[invalid content "image": {"data":"%%%","mimeType":"image/png"}]',
  },
  {
    what: 'an image',
    answer: result({ content: [{ type: 'image', data: 'AAAA', mimeType: 'image/png' }] }),
    success: '[image: image/png, 3 bytes]',
  },
  {
    what: 'a resource without content',
    answer: result({ content: [{ type: 'resource', resource: { uri: 'a:b' } }] }),
    success: '[invalid content "resource": {"resource":{"uri":"a:b"}}]',
  },
  {
    what: 'invalid annotations',
    answer: result({ content: [{ type: 'text', text: 'done', annotations: { priority: 9 } }] }),
    success: 'done',
  },
  {
    what: 'metadata that is a list',
    answer: result({ content: [{ type: 'text', text: 'done', _meta: [] }], _meta: [] }),
    success: 'done',
  },
  {
    what: 'a value',
    answer: result({ content: [], structuredContent: { n: 1 } }),
    success: '{"n":1}',
  },
  {
    what: 'a value that is a list',
    answer: result({ content: [], structuredContent: [1, 2] }),
    success: '[1,2]',
  },
  {
    what: 'a value that is null',
    answer: result({ content: [{ type: 'text', text: 'done' }], structuredContent: null }),
    success: 'done',
  },
  {
    what: 'an unknown field',
    answer: result({ content: [{ type: 'text', text: 'done' }], cost: 3 }),
    success: 'done',
  },
  {
    what: 'isError that is null',
    answer: result({ content: [{ type: 'text', text: 'done' }], isError: null }),
    success: 'done',
  },
  {
    what: 'isError that is the text false',
    answer: result({ content: [{ type: 'text', text: 'done' }], isError: 'false' }),
    success: 'done',
  },
  {
    what: 'isError that is the text true',
    answer: result({ content: [{ type: 'text', text: 'disk full' }], isError: 'true' }),
    failure: 'disk full',
  },
  {
    what: 'a failure with text',
    answer: result({ content: [{ type: 'text', text: 'disk full' }], isError: true }),
    failure: 'disk full',
  },
  {
    what: 'a failure with a value only',
    answer: result({
      content: [],
      isError: true,
      structuredContent: { code: 'E_DISK', reason: 'disk full' },
    }),
    failure: '{"code":"E_DISK","reason":"disk full"}',
  },
  {
    what: 'a failure with blank text and a value',
    answer: result({
      content: [{ type: 'text', text: ' ' }],
      isError: true,
      structuredContent: { reason: 'disk full' },
    }),
    failure: '{"reason":"disk full"}',
  },
  {
    what: 'a failure with a list as its value',
    answer: result({ content: [], isError: true, structuredContent: ['disk full'] }),
    failure: '["disk full"]',
  },
  {
    what: 'a failure without anything',
    answer: result({ isError: true }),
    failure: 'The tool failed without a message',
  },
  {
    what: 'an error',
    answer: error({ code: -32_000, message: 'disk full' }),
    failure: 'returned error -32000: disk full',
  },
  {
    what: 'an error with data',
    answer: error({ code: -32_000, message: 'failed', data: { reason: 'disk full', disk: 2 } }),
    failure: 'returned error -32000: failed ({"reason":"disk full","disk":2})',
  },
  {
    what: 'an error with text as its data',
    answer: error({ code: -32_602, message: 'failed', data: 'disk full' }),
    failure: 'returned error -32602: failed (disk full)',
  },
  {
    what: 'an error with data that is null',
    answer: error({ code: -32_000, message: 'disk full', data: null }),
    failure: 'returned error -32000: disk full',
  },
  {
    what: 'an error with an empty message',
    answer: error({ code: -32_000, message: '', data: { reason: 'disk full' } }),
    failure: 'returned error -32000: no message ({"reason":"disk full"})',
  },
]

const ROWS = [...ENVELOPES, ...RESULTS]
const TRANSPORTS = ['stdio', 'json', 'stream'] as const

const LIST = result({
  tools: ROWS.map((_, index) => ({ name: `t${index}`, inputSchema: { type: 'object' } })),
})
const SCRIPT: McpScript = {
  'tools/list': LIST,
  ...Object.fromEntries(ROWS.map(({ answer }, index) => [`tools/call t${index}`, answer])),
}

describe.each(TRANSPORTS)('an answer over %s', (transport) => {
  let imported: McpTools | undefined
  let server: AsyncDisposable | undefined

  beforeAll(async () => {
    const opened = await open(transport, SCRIPT)
    server = opened.server
    imported = await mcpTools(opened.address)
  }, TIMEOUT_MS)

  afterAll(async () => {
    await imported?.close()
    await server?.[Symbol.asyncDispose]()
  })

  const table = ROWS.map((row, index) => [row.what, { ...row, index }] as const)

  it.each(table)(
    'An answer of a server with %s settles its call at once',
    async (_, { index, success, failure }) => {
      const tool = imported?.tools[index]
      if (tool === undefined) throw new Error(`No tool ${index}`)
      const { result: got } = await runTool(tool, { id: 'c', name: tool.name, arguments: '{}' })
      if (success !== undefined) {
        expect(got.success ? got.output : got.errorMessage).toBe(success)
        return
      }
      expect(got.success).toBe(false)
      expect(got.errorMessage).toContain(failure)
      expect(got.errorMessage).not.toContain('/node')
    },
    TIMEOUT_MS,
  )

  it('An invalid answer of a server leaves the connection usable', async () => {
    expect((await imported?.refresh())?.length).toBe(ROWS.length)
  })
})

const INIT = 'the answer to initialize'

describe.each(TRANSPORTS)('an answer to initialize over %s', (transport) => {
  it.each([
    [
      'an error',
      error({ code: -32_602, message: 'Unsupported protocol version', data: { supported: ['1'] } }),
      'returned error -32602: Unsupported protocol version ({"supported":["1"]})',
    ],
    [
      'no server',
      result({ protocolVersion: '2025-06-18', capabilities: {} }),
      `${INIT} must have a serverInfo with name and version`,
    ],
    [
      'no version',
      result({ capabilities: {}, serverInfo: { name: 'a', version: '1' } }),
      `${INIT} must have a protocolVersion that is text`,
    ],
    [
      'an unknown version',
      result({
        protocolVersion: '1999-01-01',
        capabilities: {},
        serverInfo: { name: 'a', version: '1' },
      }),
      "Server's protocol version is not supported: 1999-01-01",
    ],
    ['a batch', `[${result({ protocolVersion: '2025-06-18' })}]`, `${INIT} is in a batch`],
    [
      'a result that is null',
      '{"jsonrpc":"2.0","id":$ID,"result":null}',
      `${INIT} must have a result`,
    ],
  ])(
    'An answer to initialize with %s fails the import with the reason',
    async (_, answer, reason) => {
      const { server, address } = await open(transport, { initialize: answer })
      try {
        await expect(mcpTools(address)).rejects.toThrow(reason)
      } finally {
        await server?.[Symbol.asyncDispose]()
      }
    },
    TIMEOUT_MS,
  )

  it(
    'An answer to initialize without capabilities that are objects lists no tools',
    async () => {
      const serverInfo = { name: 'a', version: '1', extra: 1 }
      const { server, address } = await open(transport, {
        initialize: result({
          protocolVersion: '2025-06-18',
          capabilities: { tools: null },
          serverInfo,
        }),
      })
      const imported = await mcpTools(address)
      expect(imported.tools).toEqual([])
      await imported.close()
      await server?.[Symbol.asyncDispose]()
    },
    TIMEOUT_MS,
  )
})

async function open(
  transport: (typeof TRANSPORTS)[number],
  script: McpScript,
): Promise<{ readonly address: McpServer; readonly server: AsyncDisposable | undefined }> {
  if (transport === 'stdio') {
    const address = {
      command: process.execPath,
      args: [PROGRAM, JSON.stringify(script)],
      killGraceMs: 0,
    }
    return { address, server: undefined }
  }
  const server = await scriptedHttpServer(script, transport)
  return { address: { url: server.url }, server }
}

describe('a server that stops answering', () => {
  const server = (onMessage: string): McpServer => ({
    command: process.execPath,
    args: [
      '-e',
      `require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
        const { id, method, params } = JSON.parse(line)
        const reply = (result) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n')
        const serverInfo = { name: 's', version: '1' }
        if (method === 'initialize') reply({ protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo })
        ${onMessage}
      })`,
    ],
  })

  it('A server that stops answering fails the open call when it closes its standard output', async () => {
    await using imported = await mcpTools(
      server(`
        if (method === 'tools/list') reply({ tools: [{ name: 'a', inputSchema: { type: 'object' } }] })
        if (method === 'tools/call') process.stdout.end()
      `),
    )
    const [tool] = imported.tools
    if (tool === undefined) throw new Error('The tool was not imported')
    const { result: failed } = await runTool(tool, { id: 'c', name: 'a', arguments: '{}' })
    expect(failed).toMatchObject({ success: false })
    expect(JSON.stringify(failed)).toContain('it closed its standard output')
  })

  it('A server that stops answering is named when it does not list its tools in time', async () => {
    const importing = mcpTools(server(''), { connectTimeoutMs: 2_000 })
    await expect(importing).rejects.toThrow('did not answer in time')
  })
})
