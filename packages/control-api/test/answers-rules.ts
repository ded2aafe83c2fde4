/** Checks responses against the OpenAPI document: status, media type, body and headers. */
import { EXTENSIONS } from '../../../tooling/test-kit/compat.ts'
import { buildOpenApiDocument } from '../src/documents/open-api-document.ts'
import { partOf, schemaCheck } from './answers-schemas.ts'

import type { ApiResponse, Operation } from '../src/documents/open-api-types.ts'

/** A received response. */
export interface Answer {
  readonly method: string
  /** Path of the request, with or without a query. */
  readonly path: string
  readonly status: number
  readonly headers: Headers
  /** Body as text; undefined if it is read elsewhere. */
  readonly body: string | undefined
}

/** Surface of the server: all routes, or only those of every process. */
export type Surface = 'all' | 'health'

const document = buildOpenApiDocument(EXTENSIONS)
const check = schemaCheck('openapi', document)

/** Routes of a process that accepts no runs. */
const HEALTH = ['getLiveness', 'getReadiness', 'getStatus', 'getMetrics']

/** Response rules for a path that is not in the document: a page, or nothing. */
const NOWHERE: ApiResponse = {
  description: 'Refused',
  content: {
    'application/json': {
      schema: {
        allOf: [
          { $ref: '#/components/schemas/ErrorBody' },
          { properties: { error: { enum: ['NOT_FOUND', ...commonCodes()] } } },
        ],
      },
    },
  },
}

/** Returns all deviations of a response from the document. */
export function findMisses(answer: Answer, surface: Surface = 'all'): readonly string[] {
  const expected = findExpected(answer, surface)
  if (expected === 'anything') return []
  const misses =
    expected === undefined
      ? [`status ${answer.status} is not listed`]
      : [...headerMisses(answer, expected), ...bodyMisses(answer, expected)]
  return misses.map((miss) => `${answer.method} ${answer.path} ${answer.status}: ${miss}`)
}

/** Returns the problems of one event of a stream. */
export function eventMisses(event: unknown): readonly string[] {
  return check({ $ref: '#/components/schemas/StreamedRunEvent' }, event)
}

function findExpected(
  { method, path, status }: Answer,
  surface: Surface,
): ApiResponse | 'anything' | undefined {
  const operations = operationsAt(path, surface)
  if (operations === undefined) return status < 400 ? 'anything' : NOWHERE
  if (method === 'OPTIONS' && status < 300) return 'anything'
  const operation = operations[method === 'HEAD' ? 'get' : method.toLowerCase()]
  const response = operation?.responses[status] ?? otherwise(operation, status)
  if (response === undefined || !('$ref' in response)) return response
  // NOTE: the responses of the document are referenced only here.
  return partOf(document, response.$ref) as unknown as ApiResponse
}

/** Methods that a path does not allow can return every common error. */
function otherwise(operation: Operation | undefined, status: number): ApiResponse | undefined {
  return operation === undefined ? document.components.responses[`Error${status}`] : undefined
}

function operationsAt(
  path: string,
  surface: Surface,
): Readonly<Record<string, Operation>> | undefined {
  const [pathname = ''] = path.split('?')
  const given = pathname.split('/')
  const fitting = Object.entries(document.paths).filter(([template]) => {
    const parts = template.split('/')
    return parts.length === given.length && parts.every((part, index) => fills(given[index], part))
  })
  // Paths without parameters precede those with parameters.
  const found = fitting.find(([template]) => template === pathname) ?? fitting[0]
  const operations: Readonly<Record<string, Operation>> = { ...found?.[1] }
  const isServed =
    surface === 'all' ||
    Object.values(operations).some(({ operationId }) => HEALTH.includes(operationId))
  return found !== undefined && isServed ? operations : undefined
}

function fills(given: string | undefined, part: string): boolean {
  return part.startsWith('{') ? given !== undefined && given !== '' : given === part
}

function headerMisses(
  { headers }: Answer,
  { headers: listed = {} }: ApiResponse,
): readonly string[] {
  return Object.entries(listed).flatMap(([name, { required, schema }]) => {
    const value = headers.get(name)
    if (value === null) return required === true ? [`header ${name} is missing`] : []
    const isNumber = schema['type'] === 'integer'
    return check(schema, isNumber ? Number(value) : value).map((miss) => `header ${name} ${miss}`)
  })
}

function bodyMisses(
  { method, headers, body }: Answer,
  { content }: ApiResponse,
): readonly string[] {
  const type = headers.get('content-type')
  if (content === undefined) return body === '' ? [] : ['there is a body, and none is listed']
  const [essence = ''] = (type ?? '').split(';')
  const listed = content[essence]
  if (listed === undefined) {
    return [`content-type ${type ?? 'none'} is not among ${Object.keys(content).join(', ')}`]
  }
  if (method === 'HEAD' || body === undefined || essence !== 'application/json') return []
  const value = parseJson(body)
  return value === undefined ? ['the body is not JSON'] : check(listed.schema, value)
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function commonCodes(): readonly string[] {
  return Object.values(document.components.responses).flatMap(({ content }) =>
    Object.keys(content?.['application/json']?.examples ?? {}),
  )
}
