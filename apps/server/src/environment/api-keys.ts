/**
 * Pure: parses the keys of TUTTI_API_KEYS. Each has one of the forms
 *
 *   KEY   NAME:KEY   NAME:SCOPE+SCOPE+role=ROLE:KEY
 *
 * where KEY is the key itself, or `sha256:` and the 64 hexadecimal digits of its SHA-256. A key without scopes has all
 * scopes; a key with roles must name its scopes. No problem contains a key.
 */
import { Scope } from '@tutti/protocol'

import { parseList } from './variable.ts'

/** A key from the environment. */
export interface EnvironmentKey {
  readonly name: string
  readonly scopes: readonly Scope[]
  /** Roles that reviews can require. */
  readonly roles?: readonly string[]
  /** The key; undefined when only its hash is known. */
  readonly key: string | undefined
  /** SHA-256 of the key in hexadecimal digits; undefined when the key itself is known. */
  readonly sha256: string | undefined
}

/** Minimum length of a key: 16 characters cannot be guessed over a network. */
export const MIN_KEY_LENGTH = 16

const SCOPES: readonly Scope[] = Scope.enum

/** Prefix of a role among the scopes of a key. */
const ROLE = 'role='

const NAME = /^[\w.-]{1,64}$/

/** Parses the list, and adds its problems to `problems`. */
export function readApiKeys(list: string, problems: string[]): readonly EnvironmentKey[] {
  const keys = parseList(list).map((part, index) => readKey(part, `key-${index + 1}`, problems))
  const names = keys.map(({ name }) => name)
  for (const name of new Set(names.filter((given, at) => names.indexOf(given) !== at))) {
    problems.push(`TUTTI_API_KEYS has two keys with the name "${name}"`)
  }
  return keys
}

/** Lists the keys and their hashes. */
export function listKeySecrets(
  keys: readonly { readonly key?: string | undefined; readonly sha256?: string | undefined }[],
): readonly string[] {
  return keys
    .flatMap(({ key, sha256 }) => [key, sha256, sha256?.toLowerCase()])
    .filter((secret) => secret !== undefined)
}

function readKey(text: string, unnamed: string, problems: string[]): EnvironmentKey {
  const { head, ...secret } = splitSecret(text)
  const colon = head.indexOf(':')
  const name = head === '' ? unnamed : colon === -1 ? head : head.slice(0, colon)
  // An invalid name may be the start of a key that contains a colon, so it is not shown.
  const shown = NAME.test(name) ? `Key "${name}"` : `Key ${unnamed.slice('key-'.length)}`
  const problem = (reason: string): void => {
    problems.push(`${shown} of TUTTI_API_KEYS ${reason}`)
  }
  if (!NAME.test(name)) problem('must have a name of letters, digits, ".", "_" and "-"')
  const { key, sha256 } = secret
  if (key !== undefined && (key.length < MIN_KEY_LENGTH || /\s/.test(key))) {
    problem(`must have at least ${MIN_KEY_LENGTH} characters and no spaces`)
  }
  if (sha256 !== undefined && !/^[0-9a-f]{64}$/i.test(sha256)) {
    problem('must have 64 hexadecimal digits after "sha256:"')
  }
  const entries = colon === -1 ? [] : head.slice(colon + 1).split('+')
  const roles = entries.flatMap((entry) =>
    entry.startsWith(ROLE) ? [entry.slice(ROLE.length)] : [],
  )
  const given = entries.filter((entry) => !entry.startsWith(ROLE))
  const scopes = SCOPES.filter((scope) => given.includes(scope))
  if (new Set(given).size > scopes.length) {
    problem(`must have scopes of ${SCOPES.join(', ')}, with "+" between them`)
  }
  if (!roles.every((role) => NAME.test(role))) {
    problem('must have roles of letters, digits, ".", "_" and "-"')
  }
  if (roles.length > 0 && given.length === 0) problem('must have scopes besides its roles')
  return {
    name,
    scopes: colon === -1 ? ['admin'] : scopes,
    ...(roles.length === 0 ? {} : { roles }),
    key,
    sha256,
  }
}

interface Split extends Pick<EnvironmentKey, 'key' | 'sha256'> {
  /** Text before the key: empty, a name, or a name and scopes. */
  readonly head: string
}

function splitSecret(text: string): Split {
  const [, head = '', sha256] = /^(?:(.*):)?sha256:([^:]*)$/i.exec(text) ?? []
  if (sha256 !== undefined) return { head, key: undefined, sha256 }
  const colon = text.lastIndexOf(':')
  return {
    head: text.slice(0, Math.max(colon, 0)),
    key: text.slice(colon + 1),
    sha256: undefined,
  }
}
