/**
 * Removes the secrets of an operator, and the tokens of event links, from texts and values. Pure.
 *
 * It finds a secret in plain form and in the forms in which secrets usually leak: as JSON, URL-encoded, and in base64 at
 * any of the three offsets, as in `Authorization: Basic`. Other forms are not recognized. The token of a link is found after the
 * path of its route: a reader of it could send the event without the scope `events:send`.
 */
import { ROUTES } from '@tutti/protocol'

import type { Redactor } from '@tutti/gateway/internal'

/** Minimum length of a secret to be redacted. */
const MIN_SECRET_LENGTH = 8

/** Replacement for secrets. */
export const REDACTED = '[redacted]'

/** Path of the links of events, up to the token. */
const LINK_PATH = ROUTES.sendLinkedEvent.path.replace('{token}', '')

/** Patterns of the links of events, also within the query of another URL. */
const LINKS = [LINK_PATH, encodeURIComponent(LINK_PATH)].map(
  (path) => String.raw`${escapePattern(path)}[\w-]+\.[\w-]+`,
)

/** Creates a redactor. Secrets shorter than 8 characters are ignored, because they would match ordinary text. */
export function redactor(secrets: Iterable<string>): Redactor {
  const pattern = new RegExp([...secretForms(secrets).map(escapePattern), ...LINKS].join('|'), 'g')
  const text = (given: string): string => given.replace(pattern, REDACTED)
  const clean = (given: unknown): unknown => {
    if (typeof given === 'string') return text(given)
    if (typeof given !== 'object' || given === null) return given
    if (Array.isArray(given)) return cleanList(given, clean)
    const prototype: unknown = Object.getPrototypeOf(given)
    return prototype === Object.prototype || prototype === null
      ? cleanObject(given, clean, text)
      : given
  }
  // NOTE: the result has the type of the value, because only texts are replaced.
  return { text, value: <T>(value: T) => clean(value) as T }
}

/** Escapes a text for use in a regular expression. */
function escapePattern(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\/]/g, String.raw`\$&`)
}

type Clean = (given: unknown) => unknown

function cleanList(list: readonly unknown[], clean: Clean): readonly unknown[] {
  const cleaned = list.map(clean)
  return cleaned.some((part, at) => part !== list[at]) ? cleaned : list
}

function cleanObject(object: object, clean: Clean, text: (given: string) => string): object {
  let changed = false
  const cleaned = Object.entries(object).map(([key, part]): [string, unknown] => {
    const entry: [string, unknown] = [text(key), clean(part)]
    if (entry[0] !== key || entry[1] !== part) changed = true
    return entry
  })
  return changed ? Object.fromEntries(cleaned) : object
}

/** Returns all forms of the secrets that are long enough, without duplicates, longest first. */
function secretForms(secrets: Iterable<string>): readonly string[] {
  const forms = new Set<string>()
  for (const secret of secrets) {
    if (secret.length < MIN_SECRET_LENGTH) continue
    forms.add(secret)
    forms.add(JSON.stringify(secret).slice(1, -1))
    forms.add(secret.isWellFormed() ? encodeURIComponent(secret) : secret)
    for (const form of base64Forms(secret)) forms.add(form)
  }
  return [...forms].toSorted((a, b) => b.length - a.length)
}

/**
 * Returns the base64 characters of a secret that do not depend on the text around it, for each of the three offsets at
 * which it can start within 3 bytes, in both alphabets.
 */
function base64Forms(secret: string): readonly string[] {
  return [0, 1, 2].flatMap((offset) => {
    const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(secret)])
    const wholeBits = Math.floor((bytes.length * 8) / 6)
    const from = Math.ceil((offset * 8) / 6)
    return [
      bytes.toString('base64').slice(from, wholeBits),
      bytes.toString('base64url').slice(from, wholeBits),
    ]
  })
}
