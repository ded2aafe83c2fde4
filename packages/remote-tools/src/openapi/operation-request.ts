/**
 * Converts the input of a call to the request of an operation. Pure.
 *
 * REMOTE-OR1 A value cannot leave its placeholder: in the path it is percent-encoded, and a value that would still
 *    change the path (an empty segment, `.` or `..`) is refused.
 */
import { formatExactJson } from '@tutti/core/internal'

import { scalarText, type PlannedRequest } from '../http/request-parts.ts'
import { encodeText } from '../http/url-template.ts'
import type { OpenApiNode } from './document.ts'
import { cookiePairs, headerText, pathText, queryFields } from './parameter-style.ts'
import { encodeRequestBody } from './request-body.ts'

import type { OperationInput, ParameterField } from './operation-input.ts'
import type { ParameterLocation } from './parameters.ts'
import type { Credentials } from './security.ts'

/** The URL of an operation and the layout of its input. */
export interface OperationTarget {
  /** URL that precedes the path. */
  readonly server: string
  /** Path with placeholders, such as `/users/{id}`. */
  readonly path: string
  readonly input: OperationInput
}

/** The request, or the problems of the values. */
export type OperationPlan =
  | { readonly ok: true; readonly request: PlannedRequest }
  | { readonly ok: false; readonly problems: readonly string[] }

export function buildOperationRequest(
  { server, path, input: layout }: OperationTarget,
  input: OpenApiNode,
  credentials: Credentials,
): OperationPlan {
  const given = layout.parameters.flatMap((one) => {
    const value = input[one.field]
    return value === undefined || value === null ? [] : [{ ...one, value }]
  })
  const at = (location: ParameterLocation): readonly GivenField[] =>
    given.filter(({ parameter }) => parameter.location === location)
  const [base, serverQuery] = splitQuery(server)
  const filled = fillPath(path, at('path'))
  if (!filled.ok) return filled
  const secrets = credentials.query.map(
    ([name, value]) => `${encodeText(name)}=${encodeText(value)}`,
  )
  const [filledPath, pathQuery] = splitQuery(filled.path)
  const fields = [
    serverQuery,
    pathQuery,
    ...at('query').flatMap((one) => queryFields(toSent(one), one.parameter)),
    ...secrets,
  ].filter((field) => field !== '')
  const query = fields.length === 0 ? '' : `?${fields.join('&')}`
  const cookies = [
    ...at('cookie').flatMap((one) => cookiePairs(toSent(one), one.parameter)),
    ...credentials.cookies.map(([name, value]) => `${name}=${value}`),
  ]
  const headers = at('header').map(
    (one) => [one.parameter.name.toLowerCase(), headerText(toSent(one), one.parameter)] as const,
  )
  const sent = encodeInputBody(layout, input)
  return {
    ok: true,
    request: {
      url: `${base}${filledPath}${query}`,
      headers: {
        accept: 'application/json, text/*;q=0.9, */*;q=0.5',
        ...Object.fromEntries(headers),
        ...(cookies.length === 0 ? {} : { cookie: cookies.join('; ') }),
        ...(sent === undefined ? {} : { 'content-type': sent.contentType }),
        ...credentials.headers,
      },
      ...(sent === undefined ? {} : { body: sent.body }),
    },
  }
}

/** Splits a URL or path at its query; a fragment is never sent. */
export function splitQuery(url: string): readonly [string, string] {
  const [sent = ''] = url.split('#', 1)
  const at = sent.indexOf('?')
  return at === -1 ? [sent, ''] : [sent.slice(0, at), sent.slice(at + 1).replace(/&+$/, '')]
}

type GivenField = ParameterField & { readonly value: unknown }

/** Returns the value to send; that of a JSON parameter is its text. */
function toSent({ value, parameter }: GivenField): unknown {
  return parameter.isJson ? formatExactJson(value) : value
}

type FilledPath =
  | { readonly ok: true; readonly path: string }
  | { readonly ok: false; readonly problems: readonly string[] }

function fillPath(path: string, fields: readonly GivenField[]): FilledPath {
  const problems: string[] = []
  const [own, query] = splitQuery(path)
  const segments = own.split('/').map((segment) => {
    const names: string[] = []
    const filled = fillPlaceholders(segment, fields, names)
    if (names.length > 0 && /^\.{0,2}$/.test(filled)) {
      problems.push(`${names.join(' and ')} must not make the path segment "${filled}"`)
    }
    return filled
  })
  if (problems.length > 0) return { ok: false, problems }
  const filledQuery = query === '' ? '' : `?${fillPlaceholders(query, fields, [])}`
  return { ok: true, path: `${segments.join('/')}${filledQuery}` }
}

/** Fills the placeholders of a text, and adds the fields that it used to `used`. */
function fillPlaceholders(text: string, fields: readonly GivenField[], used: string[]): string {
  return text.replaceAll(/\{([^{}]+)\}/g, (placeholder, name: string) => {
    const field = fields.find(({ parameter }) => parameter.name === name)
    if (field === undefined) return placeholder
    used.push(field.field)
    return pathText(toSent(field), field.parameter)
  })
}

function encodeInputBody({ body }: OperationInput, input: OpenApiNode) {
  if (body === undefined) return undefined
  const value = body.fields === undefined ? input[body.field] : pickFields(body.fields, input)
  if (value === undefined || (value === null && !body.body.required)) return undefined
  return encodeRequestBody(value, body.body)
}

function pickFields(fields: ReadonlyMap<string, string>, input: OpenApiNode): OpenApiNode {
  const value: Record<string, unknown> = {}
  for (const [field, name] of fields) if (input[field] !== undefined) value[name] = input[field]
  return value
}

/** Returns the start of an input, for reviewers. */
export function formatInput(input: unknown): string {
  const text = scalarText(input)
  return text.length > 200 ? `${text.slice(0, 200).replace(/[\uD800-\uDBFF]$/, '')}…` : text
}
