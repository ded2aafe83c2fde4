/**
 * Who calls: the security schemes of a document and the secrets for them.
 *
 * A1 Of the alternatives that an operation offers, the first is used whose secrets are all there; none
 *    is needed where the operation says so.
 * A2 With secrets missing the tool is misconfigured, and says which; nothing is sent. That is found out
 *    at the call, so that a document can be imported without the secrets of tools that nobody uses.
 */
import { isJsonObject, TuttiError } from '@tutti/core'

import { asObject, asObjects, asText, type OpenApiNode, type OpenApiReader } from './document.ts'

/** A secret, or what gives it for each call; of the scheme basic, `user:password`. */
export type OpenApiSecret = string | (() => string | Promise<string>)

/** Secrets by the name of their scheme. */
export type OpenApiAuth = Readonly<Record<string, OpenApiSecret>>

/** The parts of a request that say who calls. */
export interface Credentials {
  readonly headers: Readonly<Record<string, string>>
  /** Name and value, not encoded. */
  readonly query: readonly (readonly [string, string])[]
  readonly cookies: readonly (readonly [string, string])[]
}

/** What an operation needs; each alternative is a list of names of schemes. */
export type Security = readonly (readonly string[])[]

/** What an operation needs, by its own word or that of the document. */
export function securityOf({ root }: OpenApiReader, operation: OpenApiNode): Security {
  const given = operation['security'] ?? root['security']
  return asObjects(given).map((alternative) => Object.keys(alternative))
}

/** The schemes of a document, by name. */
export function schemesOf(document: OpenApiReader): ReadonlyMap<string, OpenApiNode> {
  const schemes = asObject(asObject(document.root['components'])['securitySchemes'])
  return new Map(Object.entries(schemes).map(([name, scheme]) => [name, document.resolve(scheme)]))
}

/** What credentials are made of. */
export interface SecurityContext {
  readonly toolName: string
  readonly schemes: ReadonlyMap<string, OpenApiNode>
  readonly auth: OpenApiAuth
}

/**
 * The credentials of one call.
 *
 * @throws {TuttiError} TOOL_CONFIGURATION when there are none for any alternative.
 */
export async function credentialsFor(
  security: Security,
  { toolName, schemes, auth }: SecurityContext,
): Promise<Credentials> {
  const known = security.filter((names) => names.every((name) => Object.hasOwn(auth, name)))
  const chosen = known.find((names) => names.length > 0) ?? known[0] ?? []
  if (known.length === 0 && security.length > 0) {
    const wanted = security
      .map((names) => names.map((name) => `"${name}"`).join(' and '))
      .join(', or ')
    throw new TuttiError('TOOL_CONFIGURATION', `Tool "${toolName}" needs auth for ${wanted}`)
  }
  const parts = await Promise.all(
    chosen.map(async (name) => {
      const secret = auth[name]
      const value = typeof secret === 'function' ? await secret() : (secret ?? '')
      return credentialsOf(value, asObject(schemes.get(name)))
    }),
  )
  return {
    headers: Object.assign({}, ...parts.map(({ headers }) => headers)),
    query: parts.flatMap(({ query }) => query),
    cookies: parts.flatMap(({ cookies }) => cookies),
  }
}

const NONE: Credentials = { headers: {}, query: [], cookies: [] }

function credentialsOf(value: string, scheme: OpenApiNode): Credentials {
  const { type } = scheme
  if (type === 'apiKey') {
    const name = asText(scheme['name']) ?? ''
    if (scheme['in'] === 'query') return { ...NONE, query: [[name, value]] }
    if (scheme['in'] === 'cookie') return { ...NONE, cookies: [[name, value]] }
    return { ...NONE, headers: { [name.toLowerCase()]: value } }
  }
  if (type === 'mutualTLS') return NONE
  const authorization = (): string => {
    const kind = type === 'http' ? (asText(scheme['scheme']) ?? '') : 'bearer'
    if (/^basic$/i.test(kind)) return `Basic ${Buffer.from(value).toString('base64')}`
    return /^bearer$/i.test(kind) ? `Bearer ${value}` : `${kind} ${value}`
  }
  return { ...NONE, headers: { authorization: authorization() } }
}

/** What is wrong with the secrets: names that no scheme has. */
export function authProblems(
  auth: OpenApiAuth,
  schemes: ReadonlyMap<string, OpenApiNode>,
): readonly string[] {
  if (!isJsonObject(auth)) return ['auth must be an object']
  const known = [...schemes.keys()].map((name) => `"${name}"`).join(', ') || 'none'
  return Object.keys(auth)
    .filter((name) => !schemes.has(name))
    .map((name) => `auth has no scheme "${name}" to be for; known: ${known}`)
}
