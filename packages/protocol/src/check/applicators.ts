/** Keywords that apply other schemas: to the same value, to its fields, or to its items. */
import { isJsonObject, type Schema } from '../schema-node.ts'
import type { ReferenceScope } from '../schema-engine.ts'
import {
  addMarks,
  fitsOnce,
  isSchema,
  isSchemaList,
  isSchemaMap,
  isTextList,
  type Build,
  type Node,
  type CheckPart,
  type PartRule,
} from './part.ts'
import type { Pattern } from './pattern.ts'

/** Returns the rules of the keywords that a schema has; `unevaluated…` last, because it depends on all others. */
export function buildApplicators(schema: Node, build: Build): readonly PartRule[] {
  const rules: (PartRule | undefined)[] = [
    ...buildFields(schema, build),
    ...buildItems(schema, build),
    ...buildReferences(schema, build),
    ...buildCombinations(schema, build),
    buildUnevaluatedItems(schema, build),
    buildUnevaluatedFields(schema, build),
  ]
  return rules.filter((rule) => rule !== undefined)
}

/** A sub-schema whose part is created on first use. Not a function, which would take a frame of the stack at each level. */
class Sub {
  readonly #schema: unknown
  readonly #build: Build
  #part: CheckPart | undefined

  constructor(schema: unknown, build: Build) {
    this.#schema = schema
    this.#build = build
  }

  get part(): CheckPart {
    this.#part ??= this.#build.partOf(this.#schema, this.#build.scope)
    return this.#part
  }
}

type JsonObject = Readonly<Record<string, unknown>>

function buildFields(schema: Node, build: Build): readonly (PartRule | undefined)[] {
  const { properties, patternProperties, additionalProperties, propertyNames } = schema
  const own = isSchemaMap(properties) ? properties : {}
  const byPattern = isSchemaMap(patternProperties)
    ? Object.entries(patternProperties).map(
        ([source, part]) => [build.patterns(source), new Sub(part, build)] as const,
      )
    : []
  const needed = isTextList(schema['required']) ? schema['required'] : []
  return [
    isSchemaMap(properties) ? buildProperties(properties, new Set(needed), build) : undefined,
    byPattern.length > 0 ? buildPatternProperties(byPattern) : undefined,
    isSchema(additionalProperties) && (additionalProperties !== true || build.isMarking)
      ? buildAdditional(new Sub(additionalProperties, build), { own, byPattern })
      : undefined,
    isSchema(propertyNames) ? buildNames(new Sub(propertyNames, build)) : undefined,
    ...buildDependencies(schema, build),
  ]
}

function buildProperties(
  properties: Readonly<Record<string, Schema>>,
  needed: ReadonlySet<string>,
  build: Build,
): PartRule {
  const fields = Object.entries(properties).map(([key, part]) => ({
    key,
    sub: new Sub(part, build),
    isOptional: !needed.has(key),
  }))
  return (value, run, marks) => {
    if (!isJsonObject(value)) return true
    run.spend(fields.length / FIELDS_PER_STEP)
    for (const { key, sub, isOptional } of fields) {
      if (!Object.hasOwn(value, key)) continue
      const field = value[key]
      if (field === undefined && isOptional) continue
      if (!sub.part(field, run, undefined)) return false
      marks?.keys.add(key)
    }
    return true
  }
}

/** Number of fields that are looked up in the time of a step. */
const FIELDS_PER_STEP = 4

type PatternParts = readonly (readonly [Pattern, Sub])[]

function buildPatternProperties(byPattern: PatternParts): PartRule {
  return (value, run, marks) => {
    if (!isJsonObject(value)) return true
    for (const key of Object.keys(value)) {
      for (const [pattern, sub] of byPattern) {
        if (!pattern.test(key, run)) continue
        if (!sub.part(value[key], run, undefined)) return false
        marks?.keys.add(key)
      }
    }
    return true
  }
}

function buildAdditional(
  sub: Sub,
  { own, byPattern }: { readonly own: JsonObject; readonly byPattern: PatternParts },
): PartRule {
  return (value, run, marks) => {
    if (!isJsonObject(value)) return true
    for (const key of Object.keys(value)) {
      run.spend(1 / FIELDS_PER_STEP)
      if (Object.hasOwn(own, key)) continue
      if (byPattern.some(([pattern]) => pattern.test(key, run))) continue
      if (!sub.part(value[key], run, undefined)) return false
      marks?.keys.add(key)
    }
    return true
  }
}

function buildNames(sub: Sub): PartRule {
  return (value, run) =>
    !isJsonObject(value) || Object.keys(value).every((key) => sub.part(key, run, undefined))
}

function buildDependencies(schema: Node, build: Build): readonly PartRule[] {
  const { dependencies, dependentSchemas } = schema
  const rules: PartRule[] = []
  if (isSchemaMap(dependentSchemas)) rules.push(buildDependents(dependentSchemas, build))
  if (!isJsonObject(dependencies)) return rules
  const lists = Object.entries(dependencies).filter(([, part]) => Array.isArray(part))
  const schemas = Object.entries(dependencies).filter(([, part]) => isSchema(part))
  const isValid =
    lists.length + schemas.length === Object.keys(dependencies).length &&
    lists.every(([, names]) => isTextList(names))
  if (!isValid) return rules
  const needs = lists.map(([key, names]) => [key, isTextList(names) ? names : []] as const)
  rules.push(buildDependents(Object.fromEntries(schemas), build), (value, run) => {
    if (!isJsonObject(value)) return true
    run.spend(needs.length)
    return needs.every(
      ([key, names]) =>
        !Object.hasOwn(value, key) || names.every((name) => Object.hasOwn(value, name)),
    )
  })
  return rules
}

function buildDependents(schemas: JsonObject, build: Build): PartRule {
  const parts = Object.entries(schemas).map(([key, part]) => [key, new Sub(part, build)] as const)
  return (value, run, marks) => {
    if (!isJsonObject(value)) return true
    for (const [key, sub] of parts) {
      run.spend(1 / FIELDS_PER_STEP)
      if (Object.hasOwn(value, key) && !sub.part(value, run, marks)) return false
    }
    return true
  }
}

function buildItems(schema: Node, build: Build): readonly (PartRule | undefined)[] {
  const { items, prefixItems, additionalItems } = schema
  const leading = isSchemaList(prefixItems) ? prefixItems : []
  return [
    isSchemaList(prefixItems) ? buildLeading(prefixItems, build) : undefined,
    isSchemaList(items) ? buildLeading(items, build) : undefined,
    isSchemaList(items) && isSchema(additionalItems)
      ? buildRest(new Sub(additionalItems, build), items.length)
      : undefined,
    isSchema(items) ? buildRest(new Sub(items, build), leading.length) : undefined,
    buildContains(schema, build),
  ]
}

function buildLeading(schemas: readonly Schema[], build: Build): PartRule {
  const parts = schemas.map((schema) => new Sub(schema, build))
  return (value, run, marks) => {
    if (!Array.isArray(value)) return true
    for (const [index, sub] of parts.entries()) {
      if (index >= value.length) return true
      if (!sub.part(value[index], run, undefined)) return false
      marks?.items.add(index)
    }
    return true
  }
}

function buildRest(sub: Sub, from: number): PartRule {
  return (value, run, marks) => {
    if (!Array.isArray(value)) return true
    for (let index = from; index < value.length; index += 1) {
      if (!sub.part(value[index], run, undefined)) return false
      marks?.items.add(index)
    }
    return true
  }
}

/** Builds the rule of `contains` and its bounds. Without evaluated items, counting stops when the result is certain. */
function buildContains(schema: Node, build: Build): PartRule | undefined {
  const { contains, minContains = 1, maxContains = Infinity } = schema
  if (!isSchema(contains)) return undefined
  const least = typeof minContains === 'number' ? minContains : 1
  const most = typeof maxContains === 'number' ? maxContains : Infinity
  const sub = new Sub(contains, build)
  return (value, run, marks) => {
    if (!Array.isArray(value)) return true
    let count = 0
    for (const [index, item] of value.entries()) {
      if (!sub.part(item, run, undefined)) continue
      count += 1
      marks?.items.add(index)
      if (count > most) return false
      if (marks === undefined && count >= least && most === Infinity) return true
    }
    return count >= least
  }
}

function buildReferences(schema: Node, build: Build): readonly (PartRule | undefined)[] {
  const { $ref, $dynamicRef, $recursiveRef } = schema
  const { scope } = build
  return [
    typeof $ref === 'string' ? buildTarget(() => scope.resolve($ref), build) : undefined,
    typeof $recursiveRef === 'string'
      ? buildTarget(() => scope.resolveRecursive($recursiveRef), build)
      : undefined,
    typeof $dynamicRef === 'string'
      ? buildTarget(() => scope.resolveDynamic($dynamicRef), build)
      : undefined,
  ]
}

interface Target {
  readonly schema: unknown
  readonly scope: ReferenceScope
}

/** Builds the rule of a reference. Without a target, no value is valid. */
function buildTarget(resolve: () => Target, build: Build): PartRule {
  let part: CheckPart | undefined
  return (value, run, marks) => {
    if (part === undefined) {
      const { schema, scope } = resolve()
      part = build.partOf(isSchema(schema) ? schema : false, scope)
    }
    if (!build.remember) return part(value, run, marks)
    const result = fitsOnce(part, value, { run, isMarking: build.isMarking })
    if (marks !== undefined && typeof result === 'object') addMarks(marks, result, run)
    return result !== false
  }
}

function buildCombinations(schema: Node, build: Build): readonly (PartRule | undefined)[] {
  const { allOf, anyOf, oneOf, not } = schema
  return [
    isSchemaList(allOf) ? buildAll(toParts(allOf, build)) : undefined,
    isSchemaList(anyOf) ? buildAny(toParts(anyOf, build)) : undefined,
    isSchemaList(oneOf) ? buildOne(toParts(oneOf, build)) : undefined,
    isSchema(not) ? buildNot(new Sub(not, build)) : undefined,
    isSchema(schema['if']) ? buildCondition(schema, build) : undefined,
  ]
}

function toParts(schemas: readonly Schema[], build: Build): readonly Sub[] {
  return schemas.map((schema) => new Sub(schema, build))
}

function buildAll(parts: readonly Sub[]): PartRule {
  return (value, run, marks) => {
    for (const sub of parts) if (!sub.part(value, run, marks)) return false
    return true
  }
}

function buildAny(parts: readonly Sub[]): PartRule {
  return (value, run, marks) => {
    let found = false
    for (const sub of parts) {
      if (!sub.part(value, run, marks)) continue
      // All members that match have evaluated fields.
      if (marks === undefined) return true
      found = true
    }
    return found
  }
}

function buildOne(parts: readonly Sub[]): PartRule {
  return (value, run, marks) => {
    let count = 0
    for (const sub of parts) {
      if (sub.part(value, run, marks)) count += 1
      if (count > 1) return false
    }
    return count === 1
  }
}

function buildNot(sub: Sub): PartRule {
  return (value, run) => !sub.part(value, run, undefined)
}

function buildCondition(schema: Node, build: Build): PartRule {
  const holds = new Sub(schema['if'], build)
  const then = new Sub(isSchema(schema['then']) ? schema['then'] : true, build)
  const otherwise = new Sub(isSchema(schema['else']) ? schema['else'] : true, build)
  return (value, run, marks) =>
    holds.part(value, run, marks) ? then.part(value, run, marks) : otherwise.part(value, run, marks)
}

function buildUnevaluatedItems(schema: Node, build: Build): PartRule | undefined {
  if (!isSchema(schema['unevaluatedItems'])) return undefined
  const sub = new Sub(schema['unevaluatedItems'], build)
  return (value, run, marks) => {
    if (!Array.isArray(value)) return true
    for (const [index, item] of value.entries()) {
      run.spend(1 / FIELDS_PER_STEP)
      if (marks?.items.has(index) === true) continue
      if (!sub.part(item, run, undefined)) return false
      marks?.items.add(index)
    }
    return true
  }
}

function buildUnevaluatedFields(schema: Node, build: Build): PartRule | undefined {
  if (!isSchema(schema['unevaluatedProperties'])) return undefined
  const sub = new Sub(schema['unevaluatedProperties'], build)
  return (value, run, marks) => {
    if (!isJsonObject(value)) return true
    for (const key of Object.keys(value)) {
      run.spend(1 / FIELDS_PER_STEP)
      if (marks?.keys.has(key) === true) continue
      if (!sub.part(value[key], run, undefined)) return false
      marks?.keys.add(key)
    }
    return true
  }
}
