/**
 * Which member of a union the value at hand is read as.
 *
 * CORE-U1 A field with a fixed value of its own in each member (`type`, `kind`) decides, if there is one.
 * CORE-U2 Else a member that the value fits as it is; else one that it fits once unknown fields are dropped
 *    and defaults filled in; else one that it fits once its slips are mended too.
 * CORE-U3 Of several that fit equally well, the one that keeps most fields, then fills in fewest, then
 *    stands first. Of an exclusive union (`oneOf`) it must be one clearly: else nothing is chosen.
 * CORE-U4 Where no member fits, none is chosen; or, to tell what is wrong with the value, the one that has
 *    most in common with it.
 */
import {
  discriminatorOf,
  isJsonObject,
  ownValue,
  type Schema,
  type SchemaNode,
} from '@tutti/protocol'

import { coerceText } from './coercions.ts'
import { isRequired } from './fields.ts'
import { allowsJsonType } from './json-types.ts'

import type { SchemaPlace, SchemaDocument } from './schema-document.ts'

/** A union at a place. */
export interface Union {
  readonly members: readonly Schema[]
  /** Whether a value may fit one member only. */
  readonly exclusive: boolean
}

/** A value as a member would have it. */
export interface Attempt {
  readonly value: unknown
  /** Fields that the member does not know. */
  readonly dropped: number
  /** Fields that it fills in. */
  readonly filled: number
}

/** How a value is tried as a member: with or without mending its slips. */
export interface Trial {
  readonly document: SchemaDocument
  readonly coerce: boolean
  /** Whether CORE-U4 applies. */
  readonly nearest: boolean
  attempt(place: SchemaPlace, value: unknown, coerce: boolean): Attempt
}

/**
 * The place with the chosen members added, and those of the unions in these; nothing when one of the
 * unions has no choice.
 */
export function chooseMembers(
  place: SchemaPlace,
  value: object,
  trial: Trial,
): SchemaPlace | undefined {
  let chosen = place
  for (;;) {
    const union = findOpenUnion(chosen)
    if (union === undefined) return chosen
    const member = chooseMember(union, { place: chosen, value }, trial)
    if (member === undefined) return undefined
    chosen = settleUnion(chosen, union, { member, document: trial.document })
  }
}

/** The first union of a place that is not settled. */
export function findOpenUnion({ nodes, settled }: SchemaPlace): Union | undefined {
  return nodes.flatMap(listUnions).find(({ members }) => !settled.includes(members))
}

/** The place with its union settled. */
export function settleUnion(
  { nodes, settled }: SchemaPlace,
  { members }: Union,
  { member, document }: { readonly member: Schema; readonly document: SchemaDocument },
): SchemaPlace {
  return document.place([...nodes, member], [...settled, members])
}

/** The unions of a node. */
function listUnions({ anyOf, oneOf }: SchemaNode): readonly Union[] {
  const unions: Union[] = []
  if (anyOf !== undefined) unions.push({ members: anyOf, exclusive: false })
  if (oneOf !== undefined) unions.push({ members: oneOf, exclusive: true })
  return unions
}

/** The member, or nothing when the value could as well be another one, or names none of them. */
function chooseMember(
  union: Union,
  { place, value }: { readonly place: SchemaPlace; readonly value: object },
  trial: Trial,
): Schema | undefined {
  const { document } = trial
  const named = findMemberByTag(union.members, value, trial)
  if (named !== undefined) return named.member
  const tried = (member: Schema, coerce: boolean): Attempt | undefined => {
    const attempt = trial.attempt(settleUnion(place, union, { member, document }), value, coerce)
    return fits(document, member, attempt.value) ? attempt : undefined
  }
  const fitting = union.members.filter((member) => fits(document, member, value))
  if (union.exclusive && fitting.length > 1) return undefined
  const chosen =
    chooseBest(fitting, union, (member) => tried(member, false)) ??
    chooseBest(union.members, union, (member) => tried(member, false)) ??
    (trial.coerce ? chooseBest(union.members, union, (member) => tried(member, true)) : undefined)
  if (chosen !== undefined) return chosen.member
  return trial.nearest ? findClosest(union.members, value, document) : undefined
}

interface Chosen {
  readonly member: Schema | undefined
}

/** CORE-U1: the member that the value names; a choice of none when it names none of them. */
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
  return { member: found === undefined ? undefined : members[resolved.indexOf(found)] }
}

/** CORE-U3. A choice of none when two are equally good and only one may be. */
function chooseBest(
  members: readonly Schema[],
  { exclusive }: Union,
  attemptOf: (member: Schema) => Attempt | undefined,
): Chosen | undefined {
  const attempts = members.flatMap((member) => {
    const attempt = attemptOf(member)
    return attempt === undefined ? [] : [{ member, ...attempt }]
  })
  const [first, second] = attempts.toSorted((a, b) => a.dropped - b.dropped || a.filled - b.filled)
  if (first === undefined) return undefined
  return { member: exclusive && second?.dropped === first.dropped ? undefined : first.member }
}

/** CORE-U4: of the value's type, with most of its fields known and fewest missing. */
function findClosest(
  members: readonly Schema[],
  value: object,
  document: SchemaDocument,
): Schema | undefined {
  const type = Array.isArray(value) ? 'array' : 'object'
  const places = members.map((member) => document.place([member]))
  const candidates = places.filter((place) => allowsJsonType(type, place, document))
  const given = Object.keys(value)
  const ranked = candidates.map((place) => {
    const declared = new Set(place.nodes.flatMap((node) => Object.keys(node.properties ?? {})))
    return {
      member: place.schemas[0],
      known: given.filter((key) => declared.has(key)).length,
      missing: [...declared].filter(
        (key) => isRequired(place.nodes, key) && !Object.hasOwn(value, key),
      ).length,
    }
  })
  return ranked.toSorted((a, b) => b.known - a.known || a.missing - b.missing)[0]?.member
}

function fits(document: SchemaDocument, member: Schema, value: unknown): boolean {
  return document.fits(document.place([member]), value)
}
