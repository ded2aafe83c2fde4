/** Attacks every route: its path, query, body and headers. */
import { ROUTES } from '@tutti/protocol'
import type { TObject } from '@tutti/core/internal'
import * as fc from 'fast-check'

import { hostileValue } from '../lib/hostile.ts'
import { valuesOf } from '../lib/values.ts'
import { bodiesOf, KNOWN, requestAttempt, type Target } from './target.ts'

/** Ends the server, as documented. */
const LEFT_OUT: readonly string[] = ['drain']

export function restTarget(): Target {
  return {
    name: 'rest',
    attempts: fc.oneof(
      ...Object.entries(ROUTES)
        .filter(([name]) => !LEFT_OUT.includes(name))
        .map(([, route]) => requestsOf(route)),
    ),
  }
}

interface FuzzedRoute {
  readonly method: string
  readonly path: string
  readonly body?: object
  readonly query?: TObject
}

function requestsOf({ method, path, body, query }: FuzzedRoute) {
  const parts = fc.record({
    path: pathsOf(path),
    query: query === undefined ? fc.constant('') : queriesOf(query),
    headers: headers(),
    body: body === undefined ? fc.constant(undefined) : bodiesOf(body),
  })
  return parts.map((part) =>
    requestAttempt({
      method,
      path: `${part.path}${part.query}`,
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...part.headers,
      },
      ...(part.body === undefined ? {} : { body: part.body }),
    }),
  )
}

/**
 * Generates a path with each parameter replaced: by a known value, an encoded one, or one that no decoder
 * accepts.
 */
function pathsOf(path: string): fc.Arbitrary<string> {
  const pieces = path.split('/').map((piece) => {
    const [, name] = /^\{(\w+)\}$/.exec(piece) ?? []
    return name === undefined ? fc.constant(piece) : segmentsOf(name)
  })
  return fc.tuple(...pieces).map((segments) => segments.join('/'))
}

function segmentsOf(name: string): fc.Arbitrary<string> {
  return fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(...(KNOWN[name] ?? ['x'])).map(String) },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        '%ff',
        '%',
        '%00',
        '..%2f',
        '%2e%2e',
        'a'.repeat(12_000),
        ':',
        '*',
      ),
    },
    {
      weight: 2,
      arbitrary: fc
        .string({ minLength: 1, maxLength: 60, unit: 'grapheme' })
        .map(encodeURIComponent),
    },
  )
}

function queriesOf(schema: TObject): fc.Arbitrary<string> {
  const odd = hostileValue().map((value) => JSON.stringify(value).slice(0, 8_000))
  const fields = Object.entries(schema.properties).map(([name, field]) =>
    fc
      .array(fc.oneof(valuesOf(Object(field), KNOWN).map(String), odd), { maxLength: 2 })
      .map((values) => values.map((value) => `${name}=${encoded(value)}`)),
  )
  const unknown = fc.array(
    fc.constantFrom('x=1', '__proto__=1', 'a[b]=1', '=', '%', '&&', 'limit=%ff'),
    { maxLength: 1 },
  )
  return fc.tuple(unknown, ...fields).map((parts) => `?${parts.flat().join('&')}`)
}

/** A lone surrogate cannot be encoded; it is sent as bytes that are not UTF-8. */
function encoded(value: string): string {
  return value.isWellFormed() ? encodeURIComponent(value) : '%ed%a0%80'
}

function headers(): fc.Arbitrary<Record<string, string>> {
  return fc.record(
    {
      accept: fc.oneof(
        { arbitrary: fc.constantFrom('*/*', ';;;', ''), weight: 4 },
        fc.constantFrom('text/html', 'image/png', 'text/event-stream', '*/*;q=0'),
      ),
      'content-type': fc.constantFrom(
        'application/json',
        'text/plain',
        'application/json; charset=utf-16',
        'x',
      ),
      'idempotency-key': fc.constantFrom('key-1', 'k'.repeat(300), ' ', 'a b'),
      'last-event-id': fc.constantFrom('0', '-1', 'first:3', '9'.repeat(400), 'x'),
      traceparent: fc.constantFrom(
        '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
        '00-0-0-0',
        'x',
      ),
      'if-none-match': fc.constantFrom('*', '"x"', 'W/"x"', ','.repeat(5_000)),
    },
    { requiredKeys: [] },
  )
}
