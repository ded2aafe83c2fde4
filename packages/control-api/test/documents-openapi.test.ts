import { ERROR_CODES, ROUTES, type RouteName } from '@tutti/protocol'
import { COMMON_ERRORS, type Route } from '@tutti/protocol/internal'
import { Validator } from '@seriousme/openapi-schema-validator'
import { describe, expect, it } from 'vitest'

import { EXTENSIONS } from '../../../tooling/test-kit/compat.ts'
import { listAreas } from '../src/documents/areas.ts'
import { EXAMPLES } from '../src/documents/examples.ts'
import { buildOpenApiDocument } from '../src/documents/open-api-document.ts'
import { partOf, schemaCheck } from './answers-schemas.ts'

import type { ApiResponse, Operation } from '../src/documents/open-api-types.ts'

const document = buildOpenApiDocument(EXTENSIONS)
const check = schemaCheck('openapi', document)
const routes = Object.entries(ROUTES) as [RouteName, Route][]

describe('the OpenAPI document', () => {
  it('The OpenAPI document is valid OpenAPI 3.1 according to a common validator', async () => {
    const { valid, errors } = await new Validator().validate(structuredClone({ ...document }))
    expect([valid, errors]).toEqual([true, undefined])
  })

  it('The OpenAPI document of a server without extensions lacks their routes', () => {
    const { paths, components } = buildOpenApiDocument([])
    const own = Object.keys(document.paths).filter((path) => !/(?:trace|dag)$/.test(path))
    expect(Object.keys(paths).toSorted()).toEqual(own.toSorted())
    expect(components.schemas).not.toHaveProperty('TaskTrace')
  })

  it('The OpenAPI document has exactly one operation with its summary per route', () => {
    const operations = Object.entries(document.paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, { operationId, summary }]) =>
        [operationId, method.toUpperCase(), path, summary].join(' '),
      ),
    )
    const table = routes.map(([name, { method, path, summary }]) =>
      [name, method, path, summary].join(' '),
    )
    expect(operations.toSorted()).toEqual(table.toSorted())
  })

  it('The OpenAPI document has every route in exactly one area', () => {
    const names = listAreas(EXTENSIONS).flatMap((area) => area.routes)
    expect(names.toSorted()).toEqual(Object.keys(ROUTES).toSorted())
  })

  it('The OpenAPI document has no dangling references and no unused schemas', () => {
    const text = JSON.stringify(document)
    const references = new Set([...text.matchAll(/"\$ref":"([^"]+)"/g)].map(([, to = '']) => to))
    for (const reference of references) expect(() => partOf(document, reference)).not.toThrow()
    const schemas = Object.keys(document.components.schemas)
    const used = schemas.filter((name) => references.has(`#/components/schemas/${name}`))
    expect(used).toEqual(schemas)
  })

  it('The OpenAPI document has each schema of the protocol under its name, and never inline', () => {
    const { RunStatus, TaskTrace } = document.components.schemas
    expect(RunStatus).toEqual({
      description: expect.stringContaining('CANCELLING'),
      enum: expect.arrayContaining(['WAITING_REVIEW']),
    })
    const text = JSON.stringify(document)
    expect(text.split(JSON.stringify(RunStatus))).toHaveLength(2)
    expect(JSON.stringify(TaskTrace)).toContain('"$ref":"#/components/schemas/TaskTrace"')
  })

  it('The OpenAPI document describes every schema, and every field whose meaning is not plain', () => {
    const { schemas } = document.components
    const blank = Object.entries(schemas).filter(([, { description }]) => !description)
    expect(blank.map(([name]) => name)).toEqual([])
    expect(schemas['RunSummary']?.['properties']).toMatchObject({
      durationMs: { description: 'Duration in milliseconds; null until the run has ended.' },
    })
    expect(schemas['SubmitRunBody']?.['properties']).toMatchObject({
      options: { $ref: '#/components/schemas/RunOptionsBody', description: 'Settings of the run.' },
    })
  })

  it('The OpenAPI document has discriminators for unions whose members differ by type', () => {
    const { anyOf, discriminator } = document.components.schemas['RunEvent'] ?? {}
    expect(discriminator).toMatchObject({
      propertyName: 'type',
      mapping: { model_switched: '#/components/schemas/ModelSwitchedEvent' },
    })
    expect(Object.keys((discriminator as { mapping: object }).mapping)).toHaveLength(
      (anyOf as unknown[]).length,
    )
  })
})

describe('an operation', () => {
  it.each(routes)('%s lists its responses, and every error code with its status', (name, route) => {
    const { responses } = operationOf(name)
    const codes = [...route.errors, ...COMMON_ERRORS]
    const statuses = [
      route.status,
      ...(route.others ?? []).map(({ status }) => status),
      ...codes.map((code) => ERROR_CODES[code].status),
    ]
    expect(Object.keys(responses).map(Number)).toEqual([...new Set(statuses)].toSorted(ascending))
    for (const code of codes) {
      const { status } = ERROR_CODES[code]
      const answer = responseOf(name, status)
      expect(answer.description, code).toContain(`\`${code}\``)
      const { schema } = answer.content?.['application/json'] ?? { schema: { not: {} } }
      expect(check(schema, { error: code, message: 'For a reason' }), code).toEqual([])
    }
    const foreign = Object.keys(ERROR_CODES).find((code) => !codes.some((own) => own === code))
    const [some] = route.errors
    const { schema } = responseOf(name, some === undefined ? 400 : ERROR_CODES[some].status)
      .content?.['application/json'] ?? { schema: {} }
    expect(check(schema, { error: foreign, message: 'For a reason' })).not.toEqual([])
  })

  it.each(routes)('%s has a summary of one line, and describes its query', (name, { query }) => {
    const { summary, parameters = [] } = operationOf(name)
    expect(summary).toMatch(/^[A-Z][^\n]{5,98}[^.\n]$/)
    const inQuery = query === undefined ? [] : parameters.filter((one) => one.in === 'query')
    for (const { description } of inQuery) expect(description).toMatch(/^.{5,}$/)
  })

  it.each(routes)('%s has the parameters of its path and query', (name, route) => {
    const parameters = operationOf(name).parameters ?? []
    const inPath = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, parameter]) => parameter)
    expect(parameters.filter((one) => one.in === 'path').map((one) => one.name)).toEqual(inPath)
    const fields = route.query === undefined ? {} : Object(route.query).properties
    expect(parameters.filter((one) => one.in === 'query').map((one) => one.name)).toEqual(
      Object.keys(fields).filter((field) => field !== 'ticket'),
    )
  })

  it.each(routes)('%s requires the scope of its route', (name, { scope, takesTicket }) => {
    const { security, description } = operationOf(name)
    const ways = security.flatMap((way) => Object.keys(way))
    expect(ways).toEqual(scope === null ? [] : takesTicket === true ? ['key', 'ticket'] : ['key'])
    expect(description).toContain(scope === null ? 'no key' : `\`${scope}\``)
  })

  it('An operation of the OpenAPI document describes the headers that it reads and sends', () => {
    const read = (name: RouteName): readonly string[] =>
      (operationOf(name).parameters ?? [])
        .filter((one) => one.in === 'header')
        .map((one) => one.name)
    expect(read('submitRun')).toEqual(['Idempotency-Key', 'Last-Event-ID'])
    expect(read('streamRunEvents')).toEqual(['Last-Event-ID'])
    expect(Object.keys(responseOf('submitRun', 202).headers ?? {})).toEqual([
      'Location',
      'Tutti-Run-Id',
    ])
    expect(Object.keys(responseOf('submitRun', 429).headers ?? {})).toEqual(['Retry-After'])
    expect(Object.keys(responseOf('listRuns', 401).headers ?? {})).toEqual(['WWW-Authenticate'])
  })

  it('An operation of the OpenAPI document has a body if its route does, which is optional only if the route declares it so', () => {
    for (const [name, { body, bodyOptional }] of routes) {
      const { requestBody } = operationOf(name)
      expect(requestBody?.required, name).toBe(
        body === undefined ? undefined : bodyOptional !== true,
      )
    }
  })

  it('An operation of the OpenAPI document describes the run and the events that a submission can return with the same status', () => {
    const { content = {} } = responseOf('submitRun', 200)
    expect(Object.keys(content)).toEqual(['application/json', 'text/event-stream'])
    const event = { type: 'task_started', runId: 'run-1', seq: 0, id: 'run-1:0' }
    expect(check(content['text/event-stream']?.schema ?? {}, event)).not.toEqual([])
  })

  it('An operation of the OpenAPI document has both bodies when a status is a success and an error', () => {
    const { schema } = responseOf('getReadiness', 503).content?.['application/json'] ?? {
      schema: { not: {} },
    }
    expect(check(schema, { status: 'NOT_READY', lifecycleState: 'DRAINING' })).toEqual([])
    expect(check(schema, { error: 'STORE_UNAVAILABLE', message: 'Away' })).toEqual([])
    expect(check(schema, { error: 'RUN_NOT_FOUND', message: 'Away' })).not.toEqual([])
  })
})

describe('the examples', () => {
  it.each(Object.entries(EXAMPLES))(
    'The examples in the OpenAPI document of %s match its schema without extra fields',
    (name, of) => {
      const schema = document.components.schemas[name]
      if (schema === undefined) throw new Error(`No schema is called ${name}`)
      for (const { value } of Object.values(of)) expect(check(schema, value)).toEqual([])
    },
  )

  it('The examples in the OpenAPI document exist for every request body that is required', () => {
    const bodies = routes.flatMap(([name, { body }]) =>
      body === undefined ? [] : [operationOf(name).requestBody?.content['application/json']],
    )
    for (const body of bodies) expect(Object.keys(body?.examples ?? {})).not.toEqual([])
  })
})

function operationOf(name: RouteName): Operation {
  const items = Object.values(document.paths).flatMap((item) => Object.values(item))
  const found = items.find(({ operationId }) => operationId === name)
  if (found === undefined) throw new Error(`No operation is called ${name}`)
  return found
}

function responseOf(name: RouteName, status: number): ApiResponse {
  const response = operationOf(name).responses[status]
  if (response === undefined) throw new Error(`${name} has no answer with ${status}`)
  return '$ref' in response ? (partOf(document, response.$ref) as unknown as ApiResponse) : response
}

function ascending(one: number, other: number): number {
  return one - other
}
