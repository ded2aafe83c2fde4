/**
 * Reading a value by a schema where it is not yet what the schema asks for: unknown fields are
 * dropped, defaults filled in, slips of form mended.
 *
 *   value ─unions chosen─▶ fields, items ─each read─▶ conditions ─▶ unknown fields dropped
 *
 * What comes out need not fit: whoever calls checks it against the whole schema. Neighbours: objects
 * (`mend-object.ts`), what is known of fields (`fields.ts`), members of unions (`choose-member.ts`),
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

import { withChosenMembers, type Attempt, type Trial } from './choose-member.ts'
import { meaningsOf } from './coercions.ts'
import { itemSchemas } from './fields.ts'
import { asksFor, mayBe } from './json-types.ts'
import { mendObject, type MendRules, type Tally } from './mend-object.ts'

import type { SchemaPlace, SchemaDocument } from './schema-document.ts'

/**
 * The value as the schema would have it, as far as that is possible; the same one when there is
 * nothing to change. Can throw `RangeError` on a very deep value.
 */
export function mend(document: SchemaDocument, value: unknown, rules: MendRules): unknown {
  const at: At = { walk: newWalk(document, rules), depth: 0, inList: false }
  return mendValue(document.place([document.root]), value, at)
}

/** The default of a place, fresh and with its own defaults filled in; undefined when it has none. */
export function freshDefault(place: SchemaPlace, document: SchemaDocument): unknown {
  const node = place.nodes.find((candidate) => candidate.default !== undefined)
  if (node === undefined || typeof node.default !== 'object') return node?.default
  const walk = newWalk(document, { coerce: false, fill: true, drop: false, nearest: false })
  return mendValue(place, structuredClone(node.default), { walk, depth: 0, inList: false })
}

/** One pass over a value. Mutable: what is done is counted, and what was read kept. */
interface Walk {
  readonly document: SchemaDocument
  readonly rules: MendRules
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

function newWalk(document: SchemaDocument, rules: MendRules): Walk {
  const plain = rules.coerce ? newWalk(document, { ...rules, coerce: false }) : undefined
  return { document, rules, known: new Map(), tally: { dropped: 0, filled: 0 }, plain }
}

function mendValue(place: SchemaPlace, value: unknown, at: At): unknown {
  const { document, rules } = at.walk
  if (at.depth > MAX_DEPTH || value === undefined || value === null) return value
  if (Array.isArray(value)) return mendContainer(place, value, at)
  if (typeof value === 'object' && mayBe('object', place, document)) {
    return mendContainer(place, value, at)
  }
  return rules.coerce ? coerced(place, value, at) : value
}

/** CORE-M4, CORE-M5: what the value means, if it does not fit and its meaning does. */
function coerced(place: SchemaPlace, value: unknown, at: At): unknown {
  const { document } = at.walk
  const wants = (type: string): boolean => asksFor(type, place, document)
  const meanings = typeof value === 'string' ? meaningsOf(value, wants) : []
  const candidates = !at.inList && wants('array') ? [...meanings, [value]] : meanings
  if (candidates.length === 0 || document.fits(place, value)) return value
  for (const candidate of candidates) {
    const mended = mendValue(place, candidate, { ...at, depth: at.depth + 1 })
    if (document.fits(place, mended)) return mended
  }
  return value
}

/** CORE-M7: each object is read once by each place; inside itself it is left as it is. */
function mendContainer(place: SchemaPlace, value: object, at: At): unknown {
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
  const attempt = counted(at.walk, () => mendInside(place, value, at))
  byPlace.set(place, attempt)
  return attempt.value
}

function mendInside(place: SchemaPlace, value: object, at: At): unknown {
  const { document, rules, tally } = at.walk
  const trial = trialAt(at)
  if (Array.isArray(value)) return mendList(place, value, at)
  if (!isJsonObject(value)) return value
  return mendObject(place, value, {
    document,
    rules,
    tally,
    trial,
    read: (field, given) => mendValue(field, given, { ...at, depth: at.depth + 1, inList: false }),
    freshDefault: (field) => freshDefault(field, document),
  })
}

function mendList(place: SchemaPlace, items: readonly unknown[], at: At): readonly unknown[] {
  const whole = withChosenMembers(place, items, trialAt(at))
  if (whole === undefined) return items
  const inside: At = { ...at, depth: at.depth + 1, inList: true }
  const mended = items.map((item, index) => {
    const schemas = itemSchemas(whole.nodes, index)
    return schemas.length === 0 ? item : mendValue(at.walk.document.place(schemas), item, inside)
  })
  return mended.every((item, index) => Object.is(item, items[index])) ? items : mended
}

/** How members of unions are tried: on a walk of their own, whose count is not this one's. */
function trialAt(at: At): Trial {
  const { document, rules } = at.walk
  return {
    document,
    coerce: rules.coerce,
    nearest: rules.nearest,
    attempt(place, value, coerce) {
      const walk = coerce ? at.walk : (at.walk.plain ?? at.walk)
      const tried = { ...at, walk, depth: at.depth + 1 }
      const before = { ...walk.tally }
      const attempt = counted(walk, () => mendValue(place, value, tried))
      Object.assign(walk.tally, before)
      return attempt
    },
  }
}

function counted(walk: Walk, mending: () => unknown): Attempt {
  const { dropped, filled } = walk.tally
  const value = mending()
  return { value, dropped: walk.tally.dropped - dropped, filled: walk.tally.filled - filled }
}
