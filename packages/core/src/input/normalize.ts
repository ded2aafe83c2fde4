/**
 * Normalization of a value by a schema: drops unknown fields, fills in defaults and coerces values.
 *
 *   value ─unions chosen─▶ fields, items ─each read─▶ conditions ─▶ unknown fields dropped
 *
 * The result can still be invalid: the caller validates it against the whole schema. Related: objects
 * (`normalize-object.ts`), known fields (`fields.ts`), members of unions (`choose-member.ts`), texts (`coercions.ts`).
 *
 * CORE-M1 The caller's value is never modified: changed parts are copied, all others stay the same objects.
 * CORE-M2 A field that is absent, or null where null is invalid, gets a fresh copy of its default.
 * CORE-M3 Null for an optional field, where null is invalid, counts as an absent field.
 * CORE-M4 A valid value stays unchanged; an invalid one is coerced only if the result is valid.
 * CORE-M5 One value where a list is expected becomes a list of one, except within a list of lists: `[1, 2]` there could be
 *    one row or two.
 * CORE-M6 Unknown fields are dropped at any depth, after all schemas that could declare them are known.
 * CORE-M7 Work is bounded: each part of the value is read once by each part of the schema, up to `MAX_DEPTH` levels deep,
 *    so cyclic and very deep values terminate. Every read takes steps of a run, and throws `CheckLimitError` when none are
 *    left.
 */
import { CheckRun, isJsonObject, MAX_DEPTH, parseExactJson } from '@tutti/protocol/internal'

import { chooseMembers, type Attempt, type Trial } from './choose-member.ts'
import { coerceText } from './coercions.ts'
import { findItemSchemas } from './fields.ts'
import { coerceInteger } from './integers.ts'
import { wantsJsonType, allowsJsonType } from './json-types.ts'
import { normalizeObject, type NormalizeRules, type Tally } from './normalize-object.ts'

import type { SchemaLocation, SchemaDocument } from './schema-document.ts'

/**
 * Returns the normalized value; the same value when it has no changes. `run` counts the steps.
 *
 * @throws {CheckLimitError} when the run has no steps left.
 * @throws {RangeError} when the value is nested deeper than the stack.
 */
export function normalize(
  document: SchemaDocument,
  value: unknown,
  { run = new CheckRun(), ...rules }: NormalizeRules & { readonly run?: CheckRun | undefined },
): unknown {
  const at: At = { walk: startWalk(document, rules, run), depth: 0, inList: false }
  return normalizeValue(document.locate([document.root]), value, at)
}

/** Returns a fresh copy of the default of a location, with nested defaults filled in; undefined when it has none. */
export function createDefault(
  location: SchemaLocation,
  document: SchemaDocument,
  run: CheckRun = new CheckRun(),
): unknown {
  const node = location.nodes.find((candidate) => candidate.default !== undefined)
  if (node === undefined || typeof node.default !== 'object') return node?.default
  // A default can contain fields that have one again.
  run.spend(STEPS_PER_DEFAULT)
  const rules = { coerce: false, fill: true, drop: false, nearest: false }
  const walk = startWalk(document, rules, run)
  return normalizeValue(location, structuredClone(node.default), { walk, depth: 0, inList: false })
}

/**
 * An object as a location reads it. Mutable while it is read; a linked list, because most objects are read at one
 * location.
 */
interface Known {
  readonly location: SchemaLocation
  value: unknown
  dropped: number
  filled: number
  readonly next: Known | undefined
}

/** One pass over a value. Mutable: it counts changes and stores the results for each object. */
interface Walk {
  readonly document: SchemaDocument
  readonly rules: NormalizeRules
  readonly known: Map<object, Known>
  readonly tally: Tally
  readonly run: CheckRun
  /** The same pass without coercion. */
  readonly plain: Walk | undefined
}

/** Position of the walk. */
interface At {
  readonly walk: Walk
  readonly depth: number
  /** Whether the value is an item of a list. */
  readonly inList: boolean
}

function startWalk(document: SchemaDocument, rules: NormalizeRules, run: CheckRun): Walk {
  const plain = rules.coerce ? startWalk(document, { ...rules, coerce: false }, run) : undefined
  return { document, rules, known: new Map(), tally: { dropped: 0, filled: 0 }, run, plain }
}

/** Steps of reading one part of a value, in addition to one for each schema that applies to it. */
const STEPS_PER_PART = 4

/** Steps of reading an object or a list, in addition. */
const STEPS_PER_CONTAINER = 20

/** Steps of trying to read an object as a member of a union. */
const STEPS_PER_ATTEMPT = 20

/** Steps of a fresh copy of a default. */
const STEPS_PER_DEFAULT = 50

function normalizeValue(location: SchemaLocation, value: unknown, at: At): unknown {
  const { document, run } = at.walk
  run.spend(STEPS_PER_PART + location.nodes.length)
  if (at.depth > MAX_DEPTH || value === undefined || value === null) return value
  if (Array.isArray(value)) return normalizeContainer(location, value, at)
  if (typeof value === 'object' && allowsJsonType('object', location, document)) {
    return normalizeContainer(location, value, at)
  }
  return coerceValue(location, value, at)
}

/** Applies CORE-M4 and CORE-M5: returns a coerced value if the original is invalid and the coerced one is valid. */
function coerceValue(location: SchemaLocation, value: unknown, at: At): unknown {
  const { document, run } = at.walk
  const candidates = listCandidates(location, value, at)
  if (candidates.length === 0 || document.fits(location, value, run)) return value
  for (const candidate of candidates) {
    const normalized = normalizeValue(location, candidate, { ...at, depth: at.depth + 1 })
    if (document.fits(location, normalized, run)) return normalized
  }
  return value
}

/** Returns what a value could mean. The same objects each time, so that each is read once. */
function listCandidates(
  location: SchemaLocation,
  value: unknown,
  { walk, inList }: At,
): readonly unknown[] {
  const { document, rules, run } = walk
  const wants = (type: string): boolean => wantsJsonType(type, location, document)
  const isNumber = typeof value === 'bigint' || typeof value === 'number'
  const integers = isNumber ? coerceInteger(value, wants) : []
  if (!rules.coerce) return integers
  const texts = run.resultsOf<readonly unknown[]>(PARSED)
  const lists = run.resultsOf<readonly unknown[]>(WRAPPED)
  const parseOnce = (text: string): unknown => {
    const before = texts.get(text)
    if (before !== undefined) return before[0]
    run.spend(text.length)
    const parsed = parseExactJson(text)
    texts.set(text, [parsed])
    return parsed
  }
  const meanings = typeof value === 'string' ? coerceText(value, wants, parseOnce) : integers
  if (inList || !wants('array')) return meanings
  const list = lists.get(value) ?? [value]
  lists.set(value, list)
  return [...meanings, list]
}

/** Keys of results: texts parsed as JSON, and values as lists of one. */
const PARSED = {}
const WRAPPED = {}

/** Applies CORE-M7: each location reads an object once; within itself the object stays unchanged. */
function normalizeContainer(location: SchemaLocation, value: object, at: At): unknown {
  const { known, tally, run } = at.walk
  const others = known.get(value)
  for (let before = others; before !== undefined; before = before.next) {
    run.spend(1)
    if (before.location !== location) continue
    tally.dropped += before.dropped
    tally.filled += before.filled
    return before.value
  }
  run.spend(STEPS_PER_CONTAINER)
  const attempt: Known = { location, value, dropped: 0, filled: 0, next: others }
  known.set(value, attempt)
  const { dropped, filled } = tally
  attempt.value = normalizeInside(location, value, at)
  attempt.dropped = tally.dropped - dropped
  attempt.filled = tally.filled - filled
  return attempt.value
}

function normalizeInside(location: SchemaLocation, value: object, at: At): unknown {
  const { document, rules, tally, run } = at.walk
  const trial = createTrial(at)
  if (Array.isArray(value)) return normalizeList(location, value, at)
  if (!isJsonObject(value)) return value
  return normalizeObject(location, value, {
    document,
    rules,
    tally,
    trial,
    run,
    read: (field, given) =>
      normalizeValue(field, given, { ...at, depth: at.depth + 1, inList: false }),
    freshDefault: (field) => createDefault(field, document, run),
  })
}

function normalizeList(
  location: SchemaLocation,
  items: readonly unknown[],
  at: At,
): readonly unknown[] {
  const whole = chooseMembers(location, items, createTrial(at))
  if (whole === undefined) return items
  const inside: At = { ...at, depth: at.depth + 1, inList: true }
  const normalized = items.map((item, index) => {
    const schemas = findItemSchemas(whole.nodes, index)
    return schemas.length === 0
      ? item
      : normalizeValue(at.walk.document.locate(schemas), item, inside)
  })
  return normalized.every((item, index) => Object.is(item, items[index])) ? items : normalized
}

/** Creates the trial of union members; a trial counts its changes separately. */
function createTrial(at: At): Trial {
  const { document, rules, run } = at.walk
  return {
    document,
    run,
    coerce: rules.coerce,
    nearest: rules.nearest,
    attempt(location, value, coerce) {
      run.spend(STEPS_PER_ATTEMPT + location.schemas.length + location.nodes.length)
      const walk = coerce ? at.walk : (at.walk.plain ?? at.walk)
      const tried = { ...at, walk, depth: at.depth + 1 }
      const before = { ...walk.tally }
      const attempt = countChanges(walk, () => normalizeValue(location, value, tried))
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
