/**
 * From the input of a call to the request of an operation. Pure.
 *
 * O1 A value stays in its place: in the path it is percent-encoded, and one that would still make
 *    another path of it (empty, `.` or `..` as a whole segment) is refused.
 */
import { isJsonObject } from '@tutti/core'

import { scalarText, type PlannedRequest } from '../http/request-parts.ts'
import { encodeText } from '../http/url-template.ts'
import { type OpenApiNode } from './document.ts'
import { cookiePairs, headerText, pathText, queryFields } from './parameter-style.ts'
import { sentBody } from './request-body.ts'

import type { OperationInput, ParameterField } from './operation-input.ts'
import type { ParameterPlace } from './parameters.ts'
import type { Credentials } from './security.ts'

/** Where an operation is, and what its input becomes. */
export interface OperationPlace {
  /** URL that the path is put after. */
  readonly server: string
  /** With places, such as `/users/{id}`. */
  readonly path: string
  readonly input: OperationInput
}

/** The request, or every value that does not fit its place. */
export type OperationPlan =
  | { readonly ok: true; readonly request: PlannedRequest }
  | { readonly ok: false; readonly problems: readonly string[] }

/** Makes the request. */
export function operationRequest(
  { server, path, input: layout }: OperationPlace,
  input: OpenApiNode,
  credentials: Credentials,
): OperationPlan {
  const given = layout.parameters.flatMap((one) => {
    const value = input[one.field]
    return value === undefined || value === null ? [] : [{ ...one, value }]
  })
  const at = (place: ParameterPlace): readonly GivenField[] =>
    given.filter(({ parameter }) => parameter.place === place)
  const filled = fillPath(path, at('path'))
  if (!filled.ok) return filled
  const secrets = credentials.query.map(
    ([name, value]) => `${encodeText(name)}=${encodeText(value)}`,
  )
  const fields = [
    ...at('query').flatMap((one) => queryFields(written(one), one.parameter)),
    ...secrets,
  ]
  const query = fields.length === 0 ? '' : `?${fields.join('&')}`
  const cookies = [
    ...at('cookie').flatMap((one) => cookiePairs(written(one), one.parameter)),
    ...credentials.cookies.map(([name, value]) => `${name}=${value}`),
  ]
  const headers = at('header').map(
    (one) => [one.parameter.name.toLowerCase(), headerText(written(one), one.parameter)] as const,
  )
  const sent = bodyOf(layout, input)
  return {
    ok: true,
    request: {
      url: `${server}${filled.path}${query}`,
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

type GivenField = ParameterField & { readonly value: unknown }

/** A value as it is written: that of a JSON parameter is its text. */
function written({ value, parameter }: GivenField): unknown {
  return parameter.isJson ? JSON.stringify(value) : value
}

type FilledPath =
  | { readonly ok: true; readonly path: string }
  | { readonly ok: false; readonly problems: readonly string[] }

function fillPath(path: string, fields: readonly GivenField[]): FilledPath {
  const problems: string[] = []
  const segments = path.split('/').map((segment) => {
    const names: string[] = []
    const filled = segment.replaceAll(/\{([^{}]+)\}/g, (place, name: string) => {
      const field = fields.find(({ parameter }) => parameter.name === name)
      if (field === undefined) return place
      names.push(field.field)
      return pathText(written(field), field.parameter)
    })
    if (names.length > 0 && /^\.{0,2}$/.test(filled)) {
      problems.push(`${names.join(' and ')} must not make the path segment "${filled}"`)
    }
    return filled
  })
  return problems.length > 0 ? { ok: false, problems } : { ok: true, path: segments.join('/') }
}

function bodyOf({ body }: OperationInput, input: OpenApiNode) {
  if (body === undefined) return undefined
  const value = body.fields === undefined ? input[body.field] : fieldsOf(body.fields, input)
  if (value === undefined || (value === null && !body.body.required)) return undefined
  return sentBody(value, body.body)
}

function fieldsOf(fields: ReadonlyMap<string, string>, input: OpenApiNode): OpenApiNode {
  const value: Record<string, unknown> = {}
  for (const [field, name] of fields) if (input[field] !== undefined) value[name] = input[field]
  return value
}

/** What a reviewer is shown of an input: its start. */
export function shownInput(input: unknown): string {
  const text = isJsonObject(input) ? JSON.stringify(input) : scalarText(input)
  return text.length > 200 ? `${text.slice(0, 200).replace(/[\uD800-\uDBFF]$/, '')}…` : text
}
