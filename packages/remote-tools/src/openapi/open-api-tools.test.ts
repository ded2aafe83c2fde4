import { runTool, type AgentTool, type RunToolOptions } from '@tutti/core'
import { scriptedReviewer } from '@tutti/testing'
import { describe, expect, it, onTestFinished } from 'vitest'

import { localServer, type Answer } from '../../../../tooling/test-kit/local-server.ts'
import { openApiTools } from './open-api-tools.ts'

import type { OpenApiToolsOptions } from './options.ts'

const echo: Answer = (response, request) => {
  response.setHeader('content-type', 'application/json').end(JSON.stringify(request))
}

/** Creates a document with these paths. */
function api(paths: object, more: object = {}): object {
  return { openapi: '3.1.0', info: { title: 'Test', version: '1' }, paths, ...more }
}

function imported(document: object, options: OpenApiToolsOptions = {}) {
  const result = openApiTools(document, { baseUrl: 'http://127.0.0.1:9', ...options })
  onTestFinished(() => result.close())
  return result
}

function only(document: object, options?: OpenApiToolsOptions): AgentTool {
  const { tools, skipped } = imported(document, options)
  const [tool] = tools
  if (tool === undefined) throw new Error(JSON.stringify(skipped))
  return tool
}

/** Calls the only operation of a document; returns the request that the server receives. */
async function sent(
  document: object,
  input: object,
  options: OpenApiToolsOptions & RunToolOptions = {},
) {
  const server = await localServer(echo)
  const tool = only(document, { ...options, baseUrl: `${server.origin}/v1/` })
  const call = { id: 'c', name: tool.name, arguments: JSON.stringify(input) }
  const { result, end, error } = await runTool(tool, call, options)
  return { result, end, error, request: server.requests[0] }
}

const param = (place: string, name: string, more: object = {}) => ({
  in: place,
  name,
  schema: { type: 'string' },
  ...more,
})

const json = (schema: object) => ({ content: { 'application/json': { schema } } })

describe('an operation', () => {
  it('An OpenAPI operation becomes a tool with its name, description, input and output', () => {
    const tool = only(
      api({
        '/users/{id}': {
          parameters: [param('path', 'id', { description: 'Whose' })],
          get: {
            operationId: 'users/get-user',
            summary: 'Gets a user.',
            description: 'By id.',
            parameters: [param('query', 'full', { schema: { type: 'boolean' }, required: true })],
            responses: { 404: json({ type: 'null' }), 200: json({ type: 'object' }) },
          },
        },
      }),
    )
    expect(tool).toMatchObject({
      name: 'users_get-user',
      description: 'Gets a user.\nBy id.',
      kind: 'typed',
      idempotent: true,
      requireApproval: false,
      inputSchema: {
        type: 'object',
        properties: { id: { type: 'string', description: 'Whose' }, full: { type: 'boolean' } },
        required: ['id', 'full'],
      },
      outputSchema: { type: 'object' },
    })
  })

  it('An OpenAPI operation gets a unique name of its method and path when it has no id', () => {
    const { tools } = imported(
      api({
        '/a/{b}': { get: {}, post: {} },
        '/c': { get: { operationId: 'same!' }, put: { operationId: 'same?' } },
        [`/${'d'.repeat(80)}`]: { get: {} },
      }),
    )
    expect(tools.map(({ name, description }) => `${name}: ${description}`)).toEqual([
      'get_a_b: GET /a/{b}',
      'post_a_b: POST /a/{b}',
      'same: GET /c',
      'same_2: PUT /c',
      `get_${'d'.repeat(60)}: GET /${'d'.repeat(80)}`,
    ])
  })

  it('An OpenAPI operation does not repeat a summary that equals the description', () => {
    expect(only(api({ '/': { get: { summary: 'A', description: 'A ' } } })).description).toBe('A')
  })

  it('An OpenAPI operation has the schema of its first successful response as its output', () => {
    const responses = { '2XX': json({ type: 'null' }), 201: json({ type: 'array' }), 500: json({}) }
    expect(only(api({ '/': { post: { responses } } })).outputSchema).toEqual({ type: 'array' })
    const other = { 204: {}, 200: { $ref: '#/components/responses/ok' } }
    const components = { responses: { ok: json({ type: 'string' }) } }
    const document = api({ '/': { get: { responses: other } } }, { components })
    expect(only(document).outputSchema).toEqual({ type: 'string' })
  })

  it('An OpenAPI operation gets a shortened description when it is long', () => {
    const { description } = only(api({ '/': { get: { description: 'x'.repeat(5000) } } }))
    expect(description).toBe(`${'x'.repeat(999)}…`)
  })

  it('An OpenAPI operation can be chosen, renamed and made subject to approval', () => {
    const document = api({
      '/a': { get: { operationId: 'a', tags: ['x'] }, post: { operationId: 'b' } },
      '/c': { get: { deprecated: true } },
    })
    const names = (options: OpenApiToolsOptions): string =>
      imported(document, options)
        .tools.map(({ name, requireApproval }) => name + (requireApproval ? '!' : ''))
        .join(' ')
    expect(names({})).toBe('a b')
    expect(names({ deprecated: true })).toBe('a b get_c')
    expect(names({ include: ['a', 'GET /c'], deprecated: true })).toBe('a get_c')
    expect(names({ exclude: ({ tags }) => tags.includes('x') })).toBe('b')
    expect(names({ prefix: 't_', rename: ({ id }) => (id === 'a' ? 'first' : undefined) })).toBe(
      't_first t_b',
    )
    expect(names({ approve: 'all' })).toBe('a! b!')
    expect(names({ approve: 'writes' })).toBe('a b!')
    expect(names({ approve: ({ method }) => method === 'GET' })).toBe('a! b')
  })

  it('An OpenAPI operation is retried only when that is safe', () => {
    const document = api({ '/': { get: {}, post: {} } })
    const { tools, skipped } = imported(document, { retries: { max: 1 } })
    expect(tools.map(({ idempotent }) => idempotent)).toEqual([true, false])
    expect(skipped).toEqual([])
  })

  it('An OpenAPI operation is listed with the reason when it cannot become a tool', () => {
    const { tools, skipped } = imported(
      api(
        {
          '/a': { get: { deprecated: true } },
          '/b': { get: { operationId: 'b', parameters: [{ $ref: '#/nowhere' }] } },
          '/c': { get: { parameters: [{ in: 'body', name: 'x' }] } },
          '/d': { post: { requestBody: json({ $ref: 'other.yaml#/X' }) } },
          '/e': { get: { servers: [{ url: 'ws://a.test' }] } },
          '/f': { get: {} },
          '/g': { get: { parameters: [{ $ref: '#/components/parameters/round' }] } },
        },
        { components: { parameters: { round: { $ref: '#/components/parameters/round' } } } },
      ),
      { baseUrl: 'http://127.0.0.1:9' },
    )
    expect(tools.map(({ name }) => name)).toEqual(['get_e', 'get_f'])
    expect(skipped).toEqual([
      { operation: 'GET /a', reason: 'it is deprecated' },
      { operation: 'b', reason: '#/nowhere is not in the document' },
      {
        operation: 'GET /c',
        reason: 'parameter "x" must be in path, query, header or cookie, got "body"',
      },
      { operation: 'POST /d', reason: 'other.yaml#/X is in another document' },
      { operation: 'GET /g', reason: '#/components/parameters/round refers to itself' },
    ])
    const own = { servers: [{ url: 'ws://a.test' }] }
    const alone = openApiTools(api({ '/e': { get: own }, '/g': { get: {} } }))
    expect(alone.skipped).toEqual([
      { operation: 'GET /e', reason: 'the server "ws://a.test" must be an http or https URL' },
      { operation: 'GET /g', reason: 'the document has no server: set baseUrl' },
    ])
  })
})

describe('the parameters of a request', () => {
  it('The parameters of a request are sent in their locations', async () => {
    const document = api({
      '/users/{id}/{file}.json': {
        get: {
          parameters: [
            param('path', 'id'),
            param('path', 'file'),
            param('query', 'filter[name]'),
            param('query', 'tags', { schema: { type: 'array', items: { type: 'string' } } }),
            param('query', 'where', {
              content: { 'application/json': { schema: {} } },
              schema: {},
            }),
            param('header', 'X-Trace'),
            param('header', 'Accept'),
            param('cookie', 'session'),
          ],
        },
      },
    })
    const input = {
      id: 'a/b',
      file: 'c',
      filter_name: 'n',
      tags: ['1', '2'],
      where: { a: 1 },
      'X-Trace': 't',
      session: 's',
    }
    expect(Object.keys(Object(only(document).inputSchema).properties)).toEqual(Object.keys(input))
    const { request } = await sent(document, input)
    expect(request).toMatchObject({
      method: 'GET',
      url: '/v1/users/a%2Fb/c.json?filter%5Bname%5D=n&tags=1&tags=2&where=%7B%22a%22%3A1%7D',
      headers: { 'x-trace': 't', cookie: 'session=s', accept: expect.stringContaining('json') },
      body: '',
    })
  })

  it.each(['', '.', '..'])(
    '[REMOTE-OR1] The parameters of a request cannot change the path: %j',
    async (id) => {
      const document = api({ '/users/{id}': { delete: { parameters: [param('path', 'id')] } } })
      const { result, request } = await sent(document, { id })
      expect(result.errorMessage).toBe(
        `Invalid input for "delete_users_id": id must not make the path segment "${id}"`,
      )
      expect(request).toBeUndefined()
    },
  )

  it('The parameters of a request are serialized in the default of their style', async () => {
    const list = { type: 'array', items: {} }
    const parameters = [
      param('query', 'a', { schema: list }),
      param('query', 'b', { schema: list, style: 'pipeDelimited' }),
      param('header', 'X-C', { schema: { type: 'object' } }),
    ]
    const input = { a: [1, 2], b: [3, 4], 'X-C': { k: 5 } }
    const { request } = await sent(api({ '/': { get: { parameters } } }), input)
    expect(request).toMatchObject({ url: '/v1/?a=1&a=2&b=3%7C4', headers: { 'x-c': 'k,5' } })
  })

  it('[REMOTE-I1] The parameters of a request get their location as a prefix when they share a name', async () => {
    const document = api({
      '/{id}': { get: { parameters: [param('path', 'id'), param('query', 'id')] } },
    })
    const { request } = await sent(document, { path_id: 'p', query_id: 'q' })
    expect(request?.url).toBe('/v1/p?id=q')
  })

  it('The parameters of a request cannot break out of a header', async () => {
    const document = api({ '/': { get: { parameters: [param('header', 'X-A')] } } })
    const { result, request } = await sent(document, { 'X-A': 'a\r\nX-B: b' })
    expect(result.errorMessage).toMatch(
      /^HTTP request failed: Cannot make a request: the value of the header "x-a"/,
    )
    expect(request).toBeUndefined()
  })
})

describe('[REMOTE-I2] the body of a request', () => {
  const fields = {
    type: 'object',
    required: ['name'],
    properties: {
      name: { type: 'string' },
      age: { type: 'integer' },
      at: { type: 'string', readOnly: true },
    },
  }

  it('The body of a request consists of fields next to the parameters', async () => {
    const requestBody = { required: true, ...json(fields) }
    const document = api({ '/{id}': { put: { parameters: [param('path', 'id')], requestBody } } })
    expect(only(document).inputSchema).toMatchObject({
      properties: { id: {}, name: { type: 'string' }, age: { type: 'integer' } },
      required: ['id', 'name'],
    })
    const { request } = await sent(document, { id: '1', name: 'Ada' })
    expect(request).toMatchObject({
      method: 'PUT',
      url: '/v1/1',
      headers: { 'content-type': 'application/json' },
      body: '{"name":"Ada"}',
    })
  })

  it.each([
    ['a field has the name of a parameter', 'age', { required: true }, fields],
    ['it may be left out', 'id', {}, fields],
    ['it is no object', 'id', { required: true }, { type: 'array', items: {} }],
    ['it is made of others', 'id', { required: true }, { ...fields, allOf: [{}] }],
    ['it may have more', 'id', { required: true }, { ...fields, additionalProperties: {} }],
  ])('The body of a request is one field when %s', async (_, name, more, schema) => {
    const requestBody = { ...more, ...json(schema) }
    const parameters = [param('query', name)]
    const document = api({ '/': { post: { parameters, requestBody } } })
    const { properties } = Object(only(document).inputSchema)
    expect(Object.keys(properties)).toEqual([name, 'body'])
    const value = schema === fields || 'properties' in schema ? { name: 'Ada' } : [1]
    const { request } = await sent(document, { body: value })
    expect(JSON.parse(request?.body ?? '')).toEqual(value)
  })

  it('The body of a request has another name when a parameter is called body', async () => {
    const document = api({
      '/': { post: { parameters: [param('query', 'body')], requestBody: json(fields) } },
    })
    const { request } = await sent(document, { body: 'q', request_body: { name: 'Ada' } })
    expect(request).toMatchObject({ url: '/v1/?body=q', body: '{"name":"Ada"}' })
  })

  it('The body of a request is not sent when it is omitted', async () => {
    const document = api({ '/': { post: { requestBody: json(fields) } } })
    const { request } = await sent(document, {})
    expect(request?.body).toBe('')
    expect(request?.headers).not.toHaveProperty('content-type')
  })

  it('The body of a request can be a form', async () => {
    const schema = {
      type: 'object',
      properties: { a: {}, list: { type: 'array', items: {} }, deep: {}, plain: {} },
    }
    const encoding = { deep: { style: 'deepObject', explode: true } }
    const content = { 'application/x-www-form-urlencoded': { schema, encoding } }
    const document = api({ '/': { post: { requestBody: { required: true, content } } } })
    const { request } = await sent(document, {
      a: 'x y',
      list: [1, 2],
      deep: { k: { l: 'v' } },
      plain: { m: 1 },
    })
    expect(request?.headers['content-type']).toBe('application/x-www-form-urlencoded')
    expect(request?.body).toBe('a=x%20y&list=1&list=2&deep[k][l]=v&plain=%7B%22m%22%3A1%7D')
  })

  it('The body of a request can be multipart, with bytes as base64', async () => {
    const schema = {
      type: 'object',
      properties: {
        note: { type: 'string' },
        meta: { type: 'object' },
        'fi"le': { type: 'string', format: 'binary' },
      },
    }
    const content = { 'multipart/form-data': { schema } }
    const document = api({ '/': { post: { requestBody: { required: true, content } } } })
    const field = 'fi_le'
    expect(only(document).inputSchema).toMatchObject({
      properties: { [field]: { type: 'string', contentEncoding: 'base64' } },
    })
    const file = Buffer.from('bytes').toString('base64')
    const { request } = await sent(document, { note: 'n', meta: { a: 1 }, [field]: file })
    const { headers, body } = request ?? { headers: {}, body: '' }
    const form = await new Response(body, {
      headers: { 'content-type': headers['content-type'] ?? '' },
    }).formData()
    expect([...form.keys()]).toEqual(['note', 'meta', 'fi"le'])
    expect(form.get('note')).toBe('n')
    expect(body).toContain('name="meta"\r\nContent-Type: application/json\r\n\r\n{"a":1}\r\n')
    const part = form.get('fi"le')
    expect(part instanceof File ? await part.text() : part).toBe('bytes')
  })

  it.each([
    ['text/csv', 'a,b', 'a,b', 'text/csv'],
    ['application/xml', '<a/>', '<a/>', 'application/xml'],
    ['application/octet-stream', 'aGk=', 'hi', 'application/octet-stream'],
    ['image/*', 'aGk=', 'hi', 'application/octet-stream'],
    ['application/vnd.api+json', { a: 1 }, '{"a":1}', 'application/vnd.api+json'],
  ])(
    'The body of a request can be a document of the type %s',
    async (type, value, body, sentType) => {
      const content = { [type]: { schema: {} }, 'x/y': { schema: {} } }
      const document = api({ '/': { post: { requestBody: { required: true, content } } } })
      const { request } = await sent(document, { body: value })
      expect(request).toMatchObject({ body, headers: { 'content-type': sentType } })
    },
  )

  it('The body of a request is JSON if the operation offers it', async () => {
    const content = { 'text/plain': {}, 'multipart/form-data': {}, 'application/json': {} }
    const document = api({ '/': { post: { requestBody: { required: true, content } } } })
    const { request } = await sent(document, { body: { a: 1 } })
    expect(request?.headers['content-type']).toBe('application/json')
  })
})

describe('the response of an operation', () => {
  it('The response of an operation is the structured result when the operation declares its schema', async () => {
    const responses = { '2XX': json({ type: 'object', properties: { method: { const: 'GET' } } }) }
    const { result } = await sent(api({ '/': { get: { responses } } }), {})
    expect(result.structured).toMatchObject({ method: 'GET', url: '/v1/' })
    const { result: facts } = await sent(api({ '/': { get: {} } }), {})
    expect(facts.structured).toMatchObject({ status: 200, body: { method: 'GET' } })
  })
})

describe('the credentials of a request', () => {
  const securitySchemes = {
    key: { type: 'apiKey', in: 'header', name: 'X-Key' },
    query: { type: 'apiKey', in: 'query', name: 'key' },
    cookie: { type: 'apiKey', in: 'cookie', name: 'sid' },
    bearer: { type: 'http', scheme: 'bearer' },
    basic: { type: 'http', scheme: 'Basic' },
    oauth: { type: 'oauth2', flows: {} },
  }
  const secured = (security: unknown, own?: unknown): object =>
    api(
      { '/': { get: own === undefined ? {} : { security: own } } },
      { components: { securitySchemes }, security },
    )

  it.each([
    [{ key: 'k' }, { headers: { 'x-key': 'k' } }],
    [{ query: 'k&l' }, { url: '/v1/?key=k%26l' }],
    [{ cookie: 'k' }, { headers: { cookie: 'sid=k' } }],
    [{ bearer: 't' }, { headers: { authorization: 'Bearer t' } }],
    [{ basic: 'me:pw' }, { headers: { authorization: 'Basic bWU6cHc=' } }],
    [{ oauth: 't' }, { headers: { authorization: 'Bearer t' } }],
  ])('The credentials of a request are sent as the scheme defines: %j', async (auth, expected) => {
    const names = Object.keys(auth).map((name) => ({ [name]: [] }))
    expect((await sent(secured(names), {}, { auth })).request).toMatchObject(expected)
  })

  it('[REMOTE-A1] The credentials of a request are those of the first alternative whose secrets are configured', async () => {
    const security = [{ bearer: [] }, { key: [], query: [] }, {}]
    const auth = { key: () => 'k', query: async () => Promise.resolve('q') }
    const { request } = await sent(secured(security), {}, { auth })
    expect(request).toMatchObject({ url: '/v1/?key=q', headers: { 'x-key': 'k' } })
    const none = await sent(secured(security), {}, { auth: { key: 'k' } })
    expect(none.request?.headers).not.toHaveProperty('x-key')
    const open = await sent(secured([{}, { key: [] }]), {}, { auth: { key: 'k' } })
    expect(open.request?.headers).toHaveProperty('x-key', 'k')
    const own = await sent(secured(security, []), {}, { auth: { bearer: 't' } })
    expect(own.request?.headers).not.toHaveProperty('authorization')
  })

  it('[REMOTE-A2] The credentials of a request fail as a configuration error when secrets are missing, and no request is sent', async () => {
    const { end, error, request } = await sent(secured([{ key: [], query: [] }, { oauth: [] }]), {})
    expect(end).toBe('misconfigured')
    expect(error).toMatchObject({
      code: 'TOOL_CONFIGURATION',
      message: 'Tool "get" needs auth for "key" and "query", or "oauth"',
    })
    expect(request).toBeUndefined()
  })

  it('The credentials of a request must be for schemes of the document', () => {
    expect(() => imported(secured([]), { auth: { nope: 'x' }, baseUrl: 'ftp://a' })).toThrow(
      'auth names the unknown scheme "nope"; known: "key", "query", "cookie", "bearer", "basic", "oauth"; baseUrl must be',
    )
  })
})

describe('the URL of a request', () => {
  const url = (servers: unknown, baseUrl?: string, own?: unknown): string | undefined => {
    const get = own === undefined ? {} : { servers: own }
    const options = { approve: 'all', ...(baseUrl === undefined ? {} : { baseUrl }) } as const
    const { tools, skipped } = openApiTools(api({ '/x': { get } }, { servers }), options)
    return tools.length === 1 ? described(tools[0]) : skipped[0]?.reason
  }

  /** Returns the URL that the reviewer sees. */
  function described(tool: AgentTool | undefined): string {
    let shown = ''
    const reviewer = scriptedReviewer(['REJECT'])
    if (tool !== undefined) {
      void runTool(tool, { id: 'c', name: tool.name, arguments: '{}' }, { reviewer })
      shown = reviewer.requests[0]?.description ?? ''
    }
    return /^HTTP GET (\S+)\n/.exec(shown)?.[1] ?? shown
  }

  it('The URL of a request starts with the first server, that of the operation if it has one', () => {
    expect(url([{ url: 'https://a.test/v1/' }, { url: 'https://b.test' }])).toBe(
      'https://a.test/v1/x',
    )
    expect(url([{ url: 'https://a.test' }], undefined, [{ url: 'https://c.test/o' }])).toBe(
      'https://c.test/o/x',
    )
  })

  it('The URL of a request contains the values of the variables of its server', () => {
    const variables = { region: { default: 'eu' }, port: { default: 8443 } }
    expect(url([{ url: 'https://{region}.a.test:{port}/v1', variables }])).toBe(
      'https://eu.a.test:8443/v1/x',
    )
    expect(url([{ url: 'https://{nope}.a.test' }])).toBe(
      'the server "https://{nope}.a.test" has a variable without a value: set baseUrl',
    )
    expect(url([{ url: 'https://{nope}.a.test/v1' }], 'https://b.test')).toBe('https://b.test/x')
  })

  it('The URL of a request starts with the base URL, or with a server relative to it', () => {
    expect(url([{ url: 'https://a.test/v1' }], 'http://b.test/w')).toBe('http://b.test/w/x')
    expect(url([{ url: '/v2' }], 'http://b.test/w')).toBe('http://b.test/v2/x')
    expect(url([], 'http://b.test/w')).toBe('http://b.test/w/x')
    expect(url([{ url: '/v2' }])).toBe('the document has the server "/v2": set baseUrl')
  })
})
