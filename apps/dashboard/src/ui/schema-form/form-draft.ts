/**
 * A value while somebody types it. Pure: plain JSON, and beside it the texts that are meant to be JSON and
 * are not yet, by their places.
 */
import { type Problem, describeProblems } from '@tutti/protocol'

import { above, isWithin, valueAtPointer, withoutValueAt, withValueAt } from './pointer.ts'
import { withDefaults } from './initial-value.ts'

/** A value, and the parts of it that cannot be read. */
export interface FormDraft {
  readonly value: unknown
  /** Text by the pointer of its place. */
  readonly broken: Readonly<Record<string, string>>
}

export function draftOf(value: unknown): FormDraft {
  return { value, broken: {} }
}

/** The draft with another value at a place. */
export function withValue(draft: FormDraft, path: string, value: unknown): FormDraft {
  return {
    value: path === '' ? value : withValueAt(draft.value, path, value),
    broken: notAround(draft.broken, path),
  }
}

/** The draft without what is at a place. */
export function withoutValue(draft: FormDraft, path: string): FormDraft {
  const holder = above(path) ?? ''
  const place = Array.isArray(valueAtPointer(draft.value, holder)) ? holder : path
  // Items that come later have another place now, so what was broken in the list is forgotten.
  return { value: withoutValueAt(draft.value, path), broken: notAround(draft.broken, place) }
}

/** The draft with the text of a place that is meant to be JSON: its value when it is, else the text. */
export function withJson(draft: FormDraft, path: string, text: string): FormDraft {
  const read = tryParseJson(text)
  if (read.ok) return withValue(draft, path, read.value)
  return { ...draft, broken: { ...notAround(draft.broken, path), [path]: text } }
}

/** What cannot be read. */
export function brokenProblems({ broken }: FormDraft): readonly Problem[] {
  return Object.entries(broken).flatMap(([path, text]) => {
    const read = tryParseJson(text)
    return read.ok ? [] : [{ path, message: `is not JSON: ${read.why}` }]
  })
}

/** What a text of JSON says, or why it is none. */
export type ReadJson =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly why: string }

/** Reads a text that is meant to be JSON. */
export function tryParseJson(text: string): ReadJson {
  if (text.trim() === '') return { ok: false, why: 'it is empty' }
  try {
    return { ok: true, value: JSON.parse(text) }
  } catch (error) {
    return { ok: false, why: error instanceof Error ? error.message : String(error) }
  }
}

/** What is broken neither in a place that changed nor round it: a change there is in place of its text. */
function notAround(
  broken: Readonly<Record<string, string>>,
  place: string,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(broken).filter(([path]) => !isWithin(path, place) && !isWithin(place, path)),
  )
}

/** What a check found. */
interface Checked {
  readonly problems: readonly Problem[]
  /** Why the schema cannot be checked against; whoever takes the value judges alone. */
  readonly unchecked: string | undefined
}

/**
 * Every problem of a draft: texts that cannot be read, and beside them what the schema says of the value.
 * Fields with a default may be left out.
 */
export function checkDraft(schema: object, draft: FormDraft): Checked {
  const broken = brokenProblems(draft)
  try {
    const found = describeProblems(schema, withDefaults(schema, draft.value, schema))
    const others = found.filter(({ path }) => !broken.some((one) => isWithin(path, one.path)))
    return { problems: [...broken, ...others], unchecked: undefined }
  } catch (error) {
    // A schema may hold a pattern that is none.
    return { problems: broken, unchecked: error instanceof Error ? error.message : String(error) }
  }
}
