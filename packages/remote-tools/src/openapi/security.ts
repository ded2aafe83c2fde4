/**
 * Creates credentials from the security schemes of a document and the configured secrets.
 *
 * REMOTE-A1 The first alternative of an operation whose secrets are all configured is used. An operation may also allow
 *    requests without credentials.
 * REMOTE-A2 If secrets are missing, the call fails as a configuration error that names them, and no request is sent.
 *    The check is part of the call, so a document can be imported without the secrets of unused tools.
 */
import { TuttiError } from '@tutti/core'
import { isJsonObject } from '@tutti/core/internal'

import { asObject, asObjects, asText, type OpenApiNode, type OpenApiReader } from './document.ts'

/** A secret, or a function that returns it for each call; `user:password` for the scheme basic. */
export type OpenApiSecret = string | (() => string | Promise<string>)

/** Secrets by the name of their scheme. */
export type OpenApiAuth = Readonly<Record<string, OpenApiSecret>>

/** The parts of a request that authenticate the caller. */
export interface Credentials {
  readonly headers: Readonly<Record<string, string>>
  /** Names and values, not encoded. */
  readonly query: readonly (readonly [string, string])[]
  readonly cookies: readonly (readonly [string, string])[]
}

/** Alternatives of an operation, each a list of names of schemes. */
export type Security = readonly (readonly string[])[]

/** Returns the alternatives of an operation, or those of the document if it has none. */
export function readSecurity({ root }: OpenApiReader, operation: OpenApiNode): Security {
  const given = operation['security'] ?? root['security']
  return asObjects(given).map((alternative) => Object.keys(alternative))
}

/** Returns the schemes of a document by name. */
export function readSchemes(document: OpenApiReader): ReadonlyMap<string, OpenApiNode> {
  const schemes = asObject(asObject(document.root['components'])['securitySchemes'])
  return new Map(Object.entries(schemes).map(([name, scheme]) => [name, document.resolve(scheme)]))
}

/** The schemes and secrets of a tool. */
export interface SecurityContext {
  readonly toolName: string
  readonly schemes: ReadonlyMap<string, OpenApiNode>
  readonly auth: OpenApiAuth
}

/**
 * Creates the credentials of one call.
 *
 * @throws {TuttiError} TOOL_CONFIGURATION when every alternative lacks a secret.
 */
export async function createCredentials(
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
      return toCredentials(value, asObject(schemes.get(name)))
    }),
  )
  return {
    headers: Object.assign({}, ...parts.map(({ headers }) => headers)),
    query: parts.flatMap(({ query }) => query),
    cookies: parts.flatMap(({ cookies }) => cookies),
  }
}

const NONE: Credentials = { headers: {}, query: [], cookies: [] }

function toCredentials(value: string, scheme: OpenApiNode): Credentials {
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

/** Returns the problems of the secrets: names without a scheme. */
export function findAuthProblems(
  auth: OpenApiAuth,
  schemes: ReadonlyMap<string, OpenApiNode>,
): readonly string[] {
  if (!isJsonObject(auth)) return ['auth must be an object']
  const known = [...schemes.keys()].map((name) => `"${name}"`).join(', ') || 'none'
  return Object.keys(auth)
    .filter((name) => !schemes.has(name))
    .map((name) => `auth names the unknown scheme "${name}"; known: ${known}`)
}
