/**
 * A value while it is being edited: plain JSON, plus the texts that are not values yet, by pointer.
 * Pure.
 */
import { type Problem, describeProblems, isJsonObject } from '@tutti/protocol/internal'

import {
  toChildPointer,
  toParentPointer,
  isWithin,
  getValueAt,
  removeValueAt,
  setValueAt,
} from './pointer.ts'
import { fillDefaults } from './initial-value.ts'

/** A text that is not a value yet, and the reason. */
export interface Broken {
  readonly text: string
  readonly why: string
}

/** A value, and the texts that could not be parsed. */
export interface FormDraft {
  readonly value: unknown
  /** By pointer. */
  readonly broken: Readonly<Record<string, Broken>>
}

export function createFormDraft(value: unknown): FormDraft {
  return { value, broken: {} }
}

/** Returns the draft with `value` at a pointer. */
export function setDraftValue(draft: FormDraft, path: string, value: unknown): FormDraft {
  return {
    value: path === '' ? value : setValueAt(draft.value, path, value),
    broken: dropAround(draft.broken, path),
  }
}

/** Returns the draft without the value at a pointer; `prunes` also removes objects that become empty. */
export function removeDraftValue(draft: FormDraft, path: string, prunes = false): FormDraft {
  const holder = toParentPointer(path) ?? ''
  const around = getValueAt(draft.value, holder)
  if (prunes && holder !== '' && isJsonObject(around)) {
    const isLast = Object.keys(around).every((key) => toChildPointer(holder, key) === path)
    if (isLast) return removeDraftValue(draft, holder, prunes)
  }
  const changed = Array.isArray(around) ? holder : path
  // Removing an item shifts the following ones, so the invalid texts of the whole list are dropped.
  return { value: removeValueAt(draft.value, path), broken: dropAround(draft.broken, changed) }
}

/** Returns the draft with a JSON text at a pointer: its value if it parses, else the text. */
export function setDraftJson(draft: FormDraft, path: string, text: string): FormDraft {
  const read = parseJsonDraft(text)
  if (read.ok) return setDraftValue(draft, path, read.value)
  return setDraftBroken(draft, path, { text, why: `is not valid JSON: ${read.why}` })
}

/** Returns the draft with a text at a pointer that is not a value yet. */
export function setDraftBroken(draft: FormDraft, path: string, broken: Broken): FormDraft {
  return { ...draft, broken: { ...dropAround(draft.broken, path), [path]: broken } }
}

/** Returns a problem for each text that is not a value. */
export function findBrokenProblems({ broken }: Pick<FormDraft, 'broken'>): readonly Problem[] {
  return Object.entries(broken).map(([path, { why }]) => ({ path, message: why }))
}

/** The value of a JSON text, or the reason why it is invalid. */
export type ReadJson =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly why: string }

/** Parses a JSON text. Empty text is invalid. */
export function parseJsonDraft(text: string): ReadJson {
  if (text.trim() === '') return { ok: false, why: 'it is empty' }
  try {
    return { ok: true, value: JSON.parse(text) }
  } catch (error) {
    return { ok: false, why: error instanceof Error ? error.message : String(error) }
  }
}

/** Drops texts at, inside or around `changed`: the changed value replaces them. */
function dropAround(broken: FormDraft['broken'], changed: string): FormDraft['broken'] {
  return Object.fromEntries(
    Object.entries(broken).filter(([path]) => !isWithin(path, changed) && !isWithin(changed, path)),
  )
}

/** Result of a check. */
interface Checked {
  readonly problems: readonly Problem[]
  /** Reason why the schema cannot be compiled; the value is then checked only by its receiver. */
  readonly unchecked: string | undefined
}

/**
 * Returns every problem of a draft: invalid JSON texts, and violations of the schema. Fields with a
 * default may be absent.
 */
export function checkDraft(schema: object, draft: FormDraft): Checked {
  const broken = findBrokenProblems(draft)
  try {
    const found = describeProblems(schema, fillDefaults(schema, draft.value, schema))
    const others = found.filter(({ path }) => !broken.some((one) => isWithin(path, one.path)))
    return { problems: [...broken, ...others], unchecked: undefined }
  } catch (error) {
    // The schema may contain an invalid pattern.
    return { problems: broken, unchecked: error instanceof Error ? error.message : String(error) }
  }
}
