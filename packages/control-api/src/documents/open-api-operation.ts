/** Converts a route of the protocol's route table to an OpenAPI operation. Pure. */
import { ERROR_CODES, type ErrorCode, type RouteName } from '@tutti/protocol'
import { COMMON_ERRORS, type Route } from '@tutti/protocol/internal'

import { EXAMPLES } from './examples.ts'
import { errorResponse, errorResponses } from './open-api-errors.ts'
import { describeRoute, otherHeaders, requestHeaders, responseHeaders } from './route-notes.ts'

import type { ApiResponse, MediaType, Operation, Parameter } from './open-api-types.ts'
import {
  findFieldDescription,
  type JsonSchema,
  type SchemaComponents,
} from './schema-components.ts'

/** Returns the operation of a route in a group of routes, and adds its schemas to `components`. */
export function buildOperation(
  name: RouteName,
  { route, area }: { readonly route: Route; readonly area: string },
  components: SchemaComponents,
): Operation {
  const parameters = [
    ...pathParameters(route),
    ...queryParameters(route, components),
    ...requestHeaders(name),
  ]
  return {
    operationId: name,
    tags: [area],
    summary: route.summary,
    description: describeRoute(name, route),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(route.body === undefined
      ? {}
      : {
          requestBody: {
            required: route.bodyOptional !== true,
            content: { 'application/json': buildMediaType(route.body, components) },
          },
        }),
    responses: {
      [route.status]: {
        description: describeSuccess(route),
        ...responseHeaders(name),
        ...buildContent(route, components),
      },
      ...errorResponses(route.errors, components),
      ...otherResponses(name, route, components),
    },
    security: buildSecurity(route),
  }
}

function describeSuccess({ status, mediaType, response }: Route): string {
  if (status === 101) {
    return 'The connection becomes a WebSocket; `/asyncapi.json` describes its messages'
  }
  if (mediaType === 'text/event-stream') {
    return 'A stream of server-sent events: `id` is the id of the event, `event` its type, and `data` the event as JSON with this schema. Comments keep an idle stream open. The stream ends after `run_result`.'
  }
  return response === null && mediaType === undefined ? 'Success, without a body' : 'Success'
}

/** Returns the further responses that are not errors. A status that errors share has both bodies. */
function otherResponses(
  name: RouteName,
  { errors, others = [] }: Route,
  components: SchemaComponents,
): Readonly<Record<string, ApiResponse>> {
  const codes: readonly ErrorCode[] = [...errors, ...COMMON_ERRORS]
  return Object.fromEntries(
    others.map(({ status, response, event, meaning }) => {
      const same = codes.filter((code) => ERROR_CODES[code].status === status)
      const answer = {
        description: meaning,
        ...otherHeaders(name, status),
        ...(response === null ? {} : { content: buildContents({ response, event }, components) }),
      }
      const isError = same.length > 0
      return [status, isError ? either(answer, errorResponse(status, same, components)) : answer]
    }),
  )
}

function either(answer: ApiResponse, error: ApiResponse): ApiResponse {
  const bodies = [answer, error].flatMap(({ content }) => Object.values(content ?? {}))
  return {
    ...error,
    description: `${answer.description}, or an error:\n\n${error.description}`,
    ...jsonContent({
      schema: { anyOf: bodies.map(({ schema }) => schema) },
      examples: Object.assign({}, ...bodies.map(({ examples }) => examples)),
    }),
  }
}

/** Returns the JSON of a response, and the event of the stream that callers can get instead. */
function buildContents(
  { response, event }: { readonly response: object; readonly event: object | undefined },
  components: SchemaComponents,
): NonNullable<ApiResponse['content']> {
  return {
    'application/json': buildMediaType(response, components),
    ...(event === undefined ? {} : { 'text/event-stream': buildMediaType(event, components) }),
  }
}

function jsonContent(body: MediaType): Pick<ApiResponse, 'content'> {
  return { content: { 'application/json': body } }
}

function buildContent(
  { response, mediaType }: Route,
  components: SchemaComponents,
): Pick<ApiResponse, 'content'> {
  if (response !== null) {
    return { content: { [mediaType ?? 'application/json']: buildMediaType(response, components) } }
  }
  if (mediaType === undefined) return {}
  return { content: { [mediaType]: { schema: { type: 'string' } } } }
}

function buildMediaType(schema: object, components: SchemaComponents): MediaType {
  const referred = components.refer(schema)
  const [, name] = /([^/]+)$/.exec(String(referred['$ref'])) ?? []
  const examples = name === undefined ? undefined : EXAMPLES[name]
  return { schema: referred, ...(examples === undefined ? {} : { examples }) }
}

function pathParameters({ path }: Route): readonly Parameter[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string', minLength: 1 },
  }))
}

/** Returns the fields of the query except `ticket`, which is a security scheme. */
function queryParameters({ query }: Route, components: SchemaComponents): readonly Parameter[] {
  if (query === undefined || !('properties' in query)) return []
  const required: readonly unknown[] =
    'required' in query && Array.isArray(query.required) ? query.required : []
  // NOTE: the properties of an object schema are schemas by their names.
  return Object.entries(query.properties as Readonly<Record<string, JsonSchema>>)
    .filter(([name]) => name !== 'ticket')
    .map(([name, schema]) => {
      const description = findFieldDescription(query, name)
      return {
        name,
        in: 'query',
        required: required.includes(name),
        ...(description === undefined ? {} : { description }),
        schema: components.refer(schema),
      }
    })
}

function buildSecurity({ scope, takesTicket }: Route): Operation['security'] {
  if (scope === null) return []
  const ways = [{ key: [scope] }, ...(takesTicket === true ? [{ ticket: [scope] }] : [])]
  return [...ways, {}]
}
