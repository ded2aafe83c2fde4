/** Validates the keys, origins, ticket secret and public address of a server. Pure; no problem contains a secret. */
import { Scope } from '@tutti/protocol'
import { findExcessProblems, MAX_TIME_MS, RunPriority } from '@tutti/protocol/internal'

import type { ApiKey } from './keys.ts'

/** Minimum length of a ticket secret: 32 hexadecimal digits have 128 bits. */
const MIN_TICKET_SECRET_LENGTH = 32

const SHA256 = /^[0-9a-f]{64}$/i

const SCOPES: readonly string[] = Scope.enum

/** Access settings of a server. */
export interface Access {
  readonly apiKeys: readonly ApiKey[]
  readonly allowedOrigins: readonly string[]
  readonly publicUrl?: string | undefined
  readonly ticketSecret?: string | undefined
}

/** Returns all problems of the settings; the server starts only if there are none. */
export function findAccessProblems({
  apiKeys,
  allowedOrigins,
  publicUrl,
  ticketSecret,
}: Access): readonly string[] {
  return [
    ...keyProblems(apiKeys),
    ...originProblems(allowedOrigins),
    ...(publicUrl === undefined ? [] : publicUrlProblems(publicUrl)),
    ...(ticketSecret === undefined ? [] : ticketSecretProblems(ticketSecret)),
  ]
}

function ticketSecretProblems(secret: string): readonly string[] {
  const { length } = secret
  if (length >= MIN_TICKET_SECRET_LENGTH) return []
  return [`ticketSecret must have at least ${MIN_TICKET_SECRET_LENGTH} characters, got ${length}`]
}

/** Requires an address without query and fragment, because clients append paths to it. */
function publicUrlProblems(publicUrl: string): readonly string[] {
  const url = URL.canParse(publicUrl) ? new URL(publicUrl) : undefined
  const isAddress = url !== undefined && ['http:', 'https:'].includes(url.protocol)
  if (isAddress && url.href === url.origin + url.pathname && !/[?#]/.test(publicUrl)) return []
  const wanted = 'an address like "https://agents.example.com", without query, fragment or password'
  return [`publicUrl must be ${wanted}, got "${maskPassword(publicUrl)}"`]
}

function maskPassword(text: string): string {
  return text.replace(/\/\/[^/@]*@/, '//…@')
}

function keyProblems(keys: readonly ApiKey[]): readonly string[] {
  const problems = keys.flatMap(({ name, sha256, scopes = [], expiresAt, limits = {} }, index) => {
    const what = `key ${index + 1} ("${name}")`
    const unknown = scopes.filter((scope) => !SCOPES.includes(scope))
    const { maxPriority, ...counts } = limits
    const numbers = Object.entries({ expiresAt, ...counts }).filter(
      ([, value]) => value !== undefined && !(value >= 0),
    )
    return [
      ...(name === '' ? [`${what} needs a name`] : []),
      ...(SHA256.test(sha256) ? [] : [`${what} needs its SHA-256 as 64 hexadecimal digits`]),
      ...unknown.map(
        (scope) => `${what} has the unknown scope "${scope}". Known: ${SCOPES.join(', ')}`,
      ),
      ...numbers.map(([field, value]) => `${field} of ${what} must be a number >= 0, got ${value}`),
      ...(maxPriority === undefined || RunPriority.enum.includes(maxPriority)
        ? []
        : [
            `maxPriority of ${what} must be one of ${RunPriority.enum.join(', ')}, got ${JSON.stringify(maxPriority)}`,
          ]),
      ...findExcessProblems(counts).map((problem) => `${what}: ${problem}`),
      ...(expiresAt === undefined || expiresAt <= MAX_TIME_MS || expiresAt === Infinity
        ? []
        : [`expiresAt of ${what} must be <= ${MAX_TIME_MS}, got ${expiresAt}`]),
    ]
  })
  return [
    ...problems,
    ...findRepeated(keys.map(({ name }) => name)).map((name) => `two keys have the name "${name}"`),
    ...findRepeated(keys.map(({ sha256 }) => sha256.toLowerCase())).map(
      () => 'two keys have the same SHA-256',
    ),
  ]
}

function originProblems(origins: readonly string[]): readonly string[] {
  return origins
    .filter((origin) => !URL.canParse(origin) || new URL(origin).origin !== origin)
    .map(
      (origin) =>
        `an allowed origin must be like "https://app.example.com", with no path, got "${origin}"`,
    )
}

function findRepeated(texts: readonly string[]): readonly string[] {
  return [...new Set(texts.filter((text, index) => texts.indexOf(text) !== index))]
}
