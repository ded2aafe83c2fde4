/**
 * Choice of the union member as which a value is read.
 *
 * CORE-U1 A field with a different fixed value in each member (`type`, `kind`) decides, if there is one.
 * CORE-U2 Otherwise a member that the value matches unchanged is chosen; else one that it matches once unknown fields are
 *    dropped and defaults filled in; else one that it matches once its values are coerced too.
 * CORE-U3 Of several matching members, the one that keeps most fields is chosen, then the one that fills in fewest, then
 *    the first. If it does not know all fields, the value is read as all matching members together that declare more of
 *    them, so no field is dropped that a matching member declares. A member that the value matches once integers
 *    beyond 2^53 are text is added too, unless it fills in fields. For an exclusive union (`oneOf`) the choice must be
 *    unambiguous; otherwise no member is chosen.
 * CORE-U4 If no member matches, none is chosen; or, to describe the problems of the value, the closest one.
 */
import {
  discriminatorOf,
  isJsonObject,
  ownValue,
  type CheckRun,
  type Schema,
  type SchemaNode,
} from '@tutti/protocol/internal'

import { coerceText } from './coercions.ts'
import { isRequired } from './fields.ts'
import { allowsJsonType } from './json-types.ts'

import type { SchemaLocation, SchemaDocument } from './schema-document.ts'

/** A union in a schema: `anyOf` or `oneOf`. */
export interface Union {
  readonly members: readonly Schema[]
  /** Whether a value may match only one member. */
  readonly exclusive: boolean
}

/** Value as one member would read it. */
export interface Attempt {
  readonly value: unknown
  /** Number of fields that the member does not know. */
  readonly dropped: number
  /** Number of fields that it fills in. */
  readonly filled: number
}

/** Way to try a value as a member: with or without coercion. */
export interface Trial {
  readonly document: SchemaDocument
  readonly coerce: boolean
  /** Whether CORE-U4 applies. */
  readonly nearest: boolean
  /** Counts the steps. */
  readonly run: CheckRun
  attempt(location: SchemaLocation, value: unknown, coerce: boolean): Attempt
}

/**
 * Returns the location with the chosen members added, including those of nested unions; undefined when a union has no
 * choice.
 */
export function chooseMembers(
  location: SchemaLocation,
  value: object,
  trial: Trial,
): SchemaLocation | undefined {
  let chosen = location
  for (;;) {
    const union = findOpenUnion(chosen)
    if (union === undefined) return chosen
    const members = chooseMembersOf(union, { location: chosen, value }, trial)
    if (members === undefined) return undefined
    chosen = settleUnion(chosen, union, { members, document: trial.document })
  }
}

/** Returns the first unsettled union of a location. */
export function findOpenUnion({ nodes, settled }: SchemaLocation): Union | undefined {
  return nodes.flatMap(listUnions).find(({ members }) => !settled.includes(members))
}

/** Returns the location with its union settled by the chosen members. */
export function settleUnion(
  { nodes, settled }: SchemaLocation,
  union: Union,
  { members, document }: { readonly members: readonly Schema[]; readonly document: SchemaDocument },
): SchemaLocation {
  return document.locate([...nodes, ...members], [...settled, union.members])
}

/** Returns the unions of a node. */
function listUnions({ anyOf, oneOf }: SchemaNode): readonly Union[] {
  const unions: Union[] = []
  if (anyOf !== undefined) unions.push({ members: anyOf, exclusive: false })
  if (oneOf !== undefined) unions.push({ members: oneOf, exclusive: true })
  return unions
}

/** Returns the members; undefined when the choice is ambiguous or the value names no member. */
function chooseMembersOf(
  union: Union,
  { location, value }: { readonly location: SchemaLocation; readonly value: object },
  trial: Trial,
): readonly Schema[] | undefined {
  const { document } = trial
  const named = findMemberByTag(union.members, value, trial)
  if (named !== undefined) return named.members
  const tried = (members: readonly Schema[], coerce: boolean): Attempt | undefined => {
    const attempt = trial.attempt(
      settleUnion(location, union, { members, document }),
      value,
      coerce,
    )
    return members.some((member) => fits(trial, member, attempt.value)) ? attempt : undefined
  }
  const fitting = union.members.filter((member) => fits(trial, member, value))
  if (union.exclusive && fitting.length > 1) return undefined
  const chosen =
    chooseBest(fitting, union, (members) => tried(members, false)) ??
    chooseBest(union.members, union, (members) => tried(members, false))
  if (chosen !== undefined && (union.exclusive || chosen.dropped === 0)) return chosen.members
  if (chosen !== undefined) {
    return addMembers(chosen, union.members, (members) => {
      const attempt = tried(members, false)
      const isMatch =
        attempt !== undefined && members.every((member) => fits(trial, member, attempt.value))
      return isMatch && attempt.filled <= chosen.filled ? attempt : undefined
    }).members
  }
  const coerced = trial.coerce
    ? chooseBest(union.members, union, (members) => tried(members, true))
    : undefined
  if (coerced !== undefined) return coerced.members
  const closest = trial.nearest ? findClosest(union.members, value, document) : undefined
  return closest === undefined ? undefined : [closest]
}

interface Chosen {
  readonly members: readonly Schema[] | undefined
  /** Number of fields that none of the members knows. */
  readonly dropped: number
  /** Number of fields that the members fill in. */
  readonly filled: number
}

/** Applies CORE-U1: returns the member that the value names, or an empty choice when it names none. */
function findMemberByTag(
  members: readonly Schema[],
  value: object,
  { document }: Trial,
): Chosen | undefined {
  if (!isJsonObject(value)) return undefined
  const resolved = document.resolved(members)
  const discriminator = discriminatorOf(resolved)
  if (discriminator === undefined || !Object.hasOwn(value, discriminator.field)) return undefined
  const tag = ownValue(value, discriminator.field)
  const isScalar = (type: string): boolean => type === 'number' || type === 'boolean'
  const meant = typeof tag === 'string' ? coerceText(tag, isScalar) : []
  const named = [tag, ...meant].map((each) => discriminator.members.get(each))
  const found = named.find((member) => member !== undefined)
  const member = found === undefined ? undefined : members[resolved.indexOf(found)]
  return { members: member === undefined ? undefined : [member], dropped: 0, filled: 0 }
}

/** Applies CORE-U3: returns an empty choice when two members of an exclusive union are equally good. */
function chooseBest(
  members: readonly Schema[],
  { exclusive }: Union,
  attemptOf: (members: readonly Schema[]) => Attempt | undefined,
): Chosen | undefined {
  const attempts: (Attempt & { readonly member: Schema })[] = []
  for (const member of members) {
    const attempt = attemptOf([member])
    if (attempt === undefined) continue
    attempts.push({ member, ...attempt })
    // No later member is better.
    if (!exclusive && attempt.dropped === 0 && attempt.filled === 0) break
  }
  const [first, ...others] = attempts.toSorted(
    (a, b) => a.dropped - b.dropped || a.filled - b.filled,
  )
  if (first === undefined) return undefined
  const { member: best, dropped, filled } = first
  const isAmbiguous = exclusive && others[0]?.dropped === dropped
  const chosen = { members: isAmbiguous ? undefined : [best], dropped, filled }
  const more = others.map(({ member }) => member)
  return exclusive ? chosen : addMembers(chosen, more, attemptOf)
}

/** Applies CORE-U3: returns the choice with each of the other members with which it drops fewer fields. */
function addMembers(
  chosen: Chosen,
  others: readonly Schema[],
  attemptOf: (members: readonly Schema[]) => Attempt | undefined,
): Chosen {
  const members = [...(chosen.members ?? [])]
  let { dropped, filled } = chosen
  for (const member of others) {
    if (dropped === 0) break
    if (members.includes(member)) continue
    const joint = attemptOf([...members, member])
    if (joint === undefined || joint.dropped >= dropped) continue
    members.push(member)
    dropped = joint.dropped
    filled = joint.filled
  }
  return { members, dropped, filled }
}

/** Applies CORE-U4: returns the member of the value's type with most of its fields known and fewest missing. */
function findClosest(
  members: readonly Schema[],
  value: object,
  document: SchemaDocument,
): Schema | undefined {
  const type = Array.isArray(value) ? 'array' : 'object'
  const locations = members.map((member) => document.locate([member]))
  const candidates = locations.filter((location) => allowsJsonType(type, location, document))
  const given = Object.keys(value)
  const ranked = candidates.map((location) => {
    const declared = new Set(location.nodes.flatMap((node) => Object.keys(node.properties ?? {})))
    return {
      member: location.schemas[0],
      known: given.filter((key) => declared.has(key)).length,
      missing: [...declared].filter(
        (key) => isRequired(location.nodes, key) && !Object.hasOwn(value, key),
      ).length,
    }
  })
  return ranked.toSorted((a, b) => b.known - a.known || a.missing - b.missing)[0]?.member
}

/** Steps of finding a member's location and a stored result. */
const STEPS_PER_LOOKUP = 2

function fits({ document, run }: Trial, member: Schema, value: unknown): boolean {
  run.spend(STEPS_PER_LOOKUP)
  return document.fits(document.locate([member]), value, run)
}
