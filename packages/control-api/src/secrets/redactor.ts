/**
 * Pure: takes the secrets of an operator out of texts and values.
 *
 * A secret is looked for as it is, and in the forms in which it usually leaks: as JSON, in a URL, and in
 * base64 at any of its three offsets, as in `Authorization: Basic`. Other forms are not recognised.
 */
import { secretForms } from './secret-forms.ts'

import type { Redactor } from '@tutti/gateway'

/** What stands where a secret was. */
export const REDACTED = '[redacted]'

/**
 * Makes a redactor. Secrets shorter than 8 characters are left out: they would be found in innocent
 * text.
 */
export function redactor(secrets: Iterable<string>): Redactor {
  const forms = secretForms(secrets)
  if (forms.length === 0) return { text: (text) => text, value: (value) => value }
  const pattern = new RegExp(forms.map(escaped).join('|'), 'g')
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
  // NOTE: a value without secrets is given back as it is; one with secrets has other texts only.
  return { text, value: <T>(value: T) => clean(value) as T }
}

/** `text` as a pattern that matches it and nothing else. */
function escaped(text: string): string {
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
