/**
 * Replaces names that a provider refuses. Pure.
 *
 * LC-N1 The replacement depends on the name alone, unless another name has taken it: the same conversation is sent in
 *    the same form every time, so that the provider can cache it.
 * LC-N2 Two names never have the same replacement.
 */
import { createHash } from 'node:crypto'

import type { NameRule } from './rule.ts'

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** Length of the hash at the end of a readable replacement, in characters. */
const HASH_LENGTH = 6

/** Returns whether a provider accepts the name; no provider accepts lone surrogates. */
export function isAccepted(name: string, rule: NameRule | undefined): boolean {
  return name.isWellFormed() && (rule === undefined || rule.pattern.test(name))
}

/** Rule for names of a provider that accepts every well-formed name. */
const ANY_NAME: Pick<NameRule, 'maxLength' | 'separator'> = { maxLength: 64, separator: '_' }

/** Returns the replacement of a refused name that is not in `taken`, and adds it there. */
export function replaceName(name: string, rule: NameRule | undefined, taken: Set<string>): string {
  for (let attempt = 0; ; attempt += 1) {
    const replacement = createReplacement(name, rule ?? ANY_NAME, attempt)
    if (taken.has(replacement)) continue
    taken.add(replacement)
    return replacement
  }
}

function createReplacement(
  name: string,
  { maxLength, separator }: Pick<NameRule, 'maxLength' | 'separator'>,
  attempt: number,
): string {
  if (separator === '') return hash(name, attempt, maxLength)
  const readable = name
    .replaceAll(/[^a-zA-Z0-9]+/g, separator)
    .replace(/^[^a-zA-Z]+/, '')
    .slice(0, maxLength - HASH_LENGTH - separator.length)
    .replace(/_$/, '')
  return `${readable === '' ? 'n' : readable}${separator}${hash(name, attempt, HASH_LENGTH)}`
}

function hash(name: string, attempt: number, length: number): string {
  // NOTE: UTF-16, because UTF-8 has one form for all lone surrogates.
  const digest = createHash('sha256').update(`${attempt}:${name}`, 'utf16le').digest()
  return [...digest.subarray(0, length)].map((byte) => ALPHABET[byte % ALPHABET.length]).join('')
}
