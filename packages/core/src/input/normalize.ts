/**
 * Reading a value by a schema where it is not yet what the schema asks for: unknown fields are
 * dropped, defaults filled in, slips of form mended.
 *
 *   value ─unions chosen─▶ fields, items ─each read─▶ conditions ─▶ unknown fields dropped
 *
 * What comes out need not fit: whoever calls checks it against the whole schema. Neighbours: objects
 * (`normalize-object.ts`), what is known of fields (`fields.ts`), members of unions (`choose-member.ts`),
 * texts (`coercions.ts`).
 *
 * CORE-M1 The value that came is never changed: what needs a change is copied, all else stays the object
 *    that it was.
 * CORE-M2 A field that is absent, or null where null does not fit, gets a fresh copy of its default.
 * CORE-M3 Null for a field that may be absent, where null does not fit, is an absent field.
 * CORE-M4 A value that fits is left alone; another one is mended only if what comes out fits.
 * CORE-M5 One value where a list is wanted is a list of one, but not in a list of lists: `[1, 2]` there
 *    could be one row or two.
 * CORE-M6 Unknown fields are dropped, at any depth, once all that may speak of them is known.
 * CORE-M7 Work is bounded: each part of the value is read once by each part of the schema, `MAX_DEPTH`
 *    levels deep, so cyclic and very deep values end too.
 */
import { isJsonObject, MAX_DEPTH } from '@tutti/protocol'

import { chooseMembers, type Attempt, type Trial } from './choose-member.ts'
import { coerceText } from './coercions.ts'
import { findItemSchemas } from './fields.ts'
import { wantsJsonType, allowsJsonType } from './json-types.ts'
import { normalizeObject, type NormalizeRules, type Tally } from './normalize-object.ts'

import type { SchemaPlace, SchemaDocument } from './schema-document.ts'

/**
 * The value as the schema would have it, as far as that is possible; the same one when there is
 * nothing to change. Can throw `RangeError` on a very deep value.
 */
export function normalize(
  document: SchemaDocument,
  value: unknown,
  rules: NormalizeRules,
): unknown {
  const at: At = { walk: startWalk(document, rules), depth: 0, inList: false }
  return normalizeValue(document.place([document.root]), value, at)
}

/** The default of a place, fresh and with its own defaults filled in; undefined when it has none. */
export function createDefault(place: SchemaPlace, document: SchemaDocument): unknown {
  const node = place.nodes.find((candidate) => candidate.default !== undefined)
  if (node === undefined || typeof node.default !== 'object') return node?.default
  const walk = startWalk(document, { coerce: false, fill: true, drop: false, nearest: false })
  return normalizeValue(place, structuredClone(node.default), { walk, depth: 0, inList: false })
}

/** One pass over a value. Mutable: what is done is counted, and what was read kept. */
interface Walk {
  readonly document: SchemaDocument
  readonly rules: NormalizeRules
  readonly known: Map<object, Map<SchemaPlace, Attempt>>
  readonly tally: Tally
  /** The same without mending of slips. */
  readonly plain: Walk | undefined
}

/** Where the walk is. */
interface At {
  readonly walk: Walk
  readonly depth: number
  /** Whether the value is an item of a list. */
  readonly inList: boolean
}

function startWalk(document: SchemaDocument, rules: NormalizeRules): Walk {
  const plain = rules.coerce ? startWalk(document, { ...rules, coerce: false }) : undefined
  return { document, rules, known: new Map(), tally: { dropped: 0, filled: 0 }, plain }
}

function normalizeValue(place: SchemaPlace, value: unknown, at: At): unknown {
  const { document, rules } = at.walk
  if (at.depth > MAX_DEPTH || value === undefined || value === null) return value
  if (Array.isArray(value)) return normalizeContainer(place, value, at)
  if (typeof value === 'object' && allowsJsonType('object', place, document)) {
    return normalizeContainer(place, value, at)
  }
  return rules.coerce ? coerceValue(place, value, at) : value
}

/** CORE-M4, CORE-M5: what the value means, if it does not fit and its meaning does. */
function coerceValue(place: SchemaPlace, value: unknown, at: At): unknown {
  const { document } = at.walk
  const wants = (type: string): boolean => wantsJsonType(type, place, document)
  const meanings = typeof value === 'string' ? coerceText(value, wants) : []
  const candidates = !at.inList && wants('array') ? [...meanings, [value]] : meanings
  if (candidates.length === 0 || document.fits(place, value)) return value
  for (const candidate of candidates) {
    const normalized = normalizeValue(place, candidate, { ...at, depth: at.depth + 1 })
    if (document.fits(place, normalized)) return normalized
  }
  return value
}

/** CORE-M7: each object is read once by each place; inside itself it is left as it is. */
function normalizeContainer(place: SchemaPlace, value: object, at: At): unknown {
  const { known, tally } = at.walk
  const byPlace = known.get(value) ?? new Map<SchemaPlace, Attempt>()
  known.set(value, byPlace)
  const before = byPlace.get(place)
  if (before !== undefined) {
    tally.dropped += before.dropped
    tally.filled += before.filled
    return before.value
  }
  byPlace.set(place, { value, dropped: 0, filled: 0 })
  const attempt = countChanges(at.walk, () => normalizeInside(place, value, at))
  byPlace.set(place, attempt)
  return attempt.value
}

function normalizeInside(place: SchemaPlace, value: object, at: At): unknown {
  const { document, rules, tally } = at.walk
  const trial = createTrial(at)
  if (Array.isArray(value)) return normalizeList(place, value, at)
  if (!isJsonObject(value)) return value
  return normalizeObject(place, value, {
    document,
    rules,
    tally,
    trial,
    read: (field, given) =>
      normalizeValue(field, given, { ...at, depth: at.depth + 1, inList: false }),
    freshDefault: (field) => createDefault(field, document),
  })
}

function normalizeList(place: SchemaPlace, items: readonly unknown[], at: At): readonly unknown[] {
  const whole = chooseMembers(place, items, createTrial(at))
  if (whole === undefined) return items
  const inside: At = { ...at, depth: at.depth + 1, inList: true }
  const normalized = items.map((item, index) => {
    const schemas = findItemSchemas(whole.nodes, index)
    return schemas.length === 0
      ? item
      : normalizeValue(at.walk.document.place(schemas), item, inside)
  })
  return normalized.every((item, index) => Object.is(item, items[index])) ? items : normalized
}

/** How members of unions are tried: on a walk of their own, whose count is not this one's. */
function createTrial(at: At): Trial {
  const { document, rules } = at.walk
  return {
    document,
    coerce: rules.coerce,
    nearest: rules.nearest,
    attempt(place, value, coerce) {
      const walk = coerce ? at.walk : (at.walk.plain ?? at.walk)
      const tried = { ...at, walk, depth: at.depth + 1 }
      const before = { ...walk.tally }
      const attempt = countChanges(walk, () => normalizeValue(place, value, tried))
      Object.assign(walk.tally, before)
      return attempt
    },
  }
}

function countChanges(walk: Walk, change: () => unknown): Attempt {
  const { dropped, filled } = walk.tally
  const value = change()
  return { value, dropped: walk.tally.dropped - dropped, filled: walk.tally.filled - filled }
}
