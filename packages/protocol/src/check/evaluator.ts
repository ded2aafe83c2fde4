/**
 * Checks of values in bounded steps: a schema becomes functions that call each other, without generated code.
 *
 * PROTO-C1 The verdict is that of JSON Schema 2020-12, with what TypeBox adds: types such as `bigint`, `~refine`,
 *    `dependencies`, tuples of draft 7, `$recursiveRef`. An invalid keyword counts as absent. Formats are asserted.
 * PROTO-C2 Every step is counted. A value that needs more steps than its run has is never valid: `CheckLimitError` is
 *    thrown.
 * PROTO-C3 With `remember`, the target of a reference reads each value once per run: unions that nest through
 *    references take time that grows with the product of schema and value, and not exponentially with the depth.
 * PROTO-C4 Only own fields count, and an optional field that is undefined counts as absent.
 * PROTO-C5 Parts of a schema become functions when a value reaches them, so their number and depth do not matter.
 */
import { ReferenceScope } from '../schema-engine.ts'
import { isJsonObject, type Schema, type SchemaNode } from '../schema-node.ts'
import { buildApplicators } from './applicators.ts'
import { buildAssertions } from './assertions.ts'
import { nativePatterns, type PatternEngine } from './pattern.ts'
import {
  addMarks,
  countMarks,
  fitsOnce,
  isSchema,
  type Build,
  type Evaluated,
  type CheckPart,
  type PartRule,
} from './part.ts'
import type { CheckRun } from './check-run.ts'

/** Schemas by `$ref`, for a schema that was taken out of its document. */
export type References = Readonly<Record<string, object | boolean>>

export interface EvaluatorOptions {
  /** Schemas by the text of their `$ref`. */
  readonly references?: References | undefined
  /** Engine of the regular expressions. @default the one of JavaScript */
  readonly patterns?: PatternEngine | undefined
  /** Whether results are stored, as in PROTO-C3. */
  readonly remember: boolean
}

/** Checks values against a schema, and against the parts of it. */
export interface Evaluator {
  /**
   * Returns whether the value matches a schema in the document of the evaluator.
   *
   * @throws {CheckLimitError} when the run has no steps left.
   * @throws {RangeError} when the value is nested deeper than the stack.
   */
  fits(schema: Schema, value: unknown, run: CheckRun, scope?: ReferenceScope): boolean
  /**
   * Returns the fields and items that a schema evaluates without its own `unevaluated…`; undefined when the value does not
   * match it.
   */
  evaluated(
    schema: SchemaNode,
    value: unknown,
    run: CheckRun,
    scope?: ReferenceScope,
  ): Evaluated | undefined
  /** Scope of the root, for references. */
  readonly scope: ReferenceScope
}

/** Creates the evaluator of a schema document. */
export function createEvaluator(root: Schema, options: EvaluatorOptions): Evaluator {
  const { references = {}, patterns = nativePatterns, remember } = options
  const scope = ReferenceScope.around(root, references)
  const documents = [root, ...Object.values(references)]
  const isMarking = documents.some((part) => hasKeyword(part, UNEVALUATED))
  const known = new Map<unknown, Map<string, CheckPart>>()

  function partOf(schema: unknown, around: ReferenceScope): CheckPart {
    if (typeof schema === 'boolean') return schema ? ANY : NONE
    const inside = isSchema(schema) ? around.enter(schema) : around
    const byScope = known.get(schema) ?? new Map<string, CheckPart>()
    known.set(schema, byScope)
    const key = inside.key()
    const before = byScope.get(key)
    if (before !== undefined) return before
    const part = createPart(schema, { partOf, scope: inside, patterns, isMarking, remember })
    byScope.set(key, part)
    return part
  }

  /** Returns the part of a schema, in counted steps when its scope must be found. */
  function partAt(schema: Schema, around: ReferenceScope, run: CheckRun): CheckPart {
    if (!around.hasEntered(schema)) run.spend(STEPS_PER_SCOPE)
    return partOf(schema, around)
  }

  const open = new Map<SchemaNode, SchemaNode>()
  return {
    scope,
    // oxlint-disable-next-line max-params -- called for every part of a value, without an object for its options
    evaluated(schema, value, run, around = scope) {
      const rest = open.get(schema) ?? withoutUnevaluated(schema)
      open.set(schema, rest)
      const marks: Evaluated = { keys: new Set(), items: new Set() }
      return partAt(rest, around, run)(value, run, marks) ? marks : undefined
    },
    // oxlint-disable-next-line max-params -- as above
    fits(schema, value, run, around = scope) {
      const part = partAt(schema, around, run)
      // A scalar is checked faster than its result is stored.
      return remember && typeof value === 'object'
        ? fitsOnce(part, value, { run, isMarking }) !== false
        : part(value, run, undefined)
    },
  }
}

const ANY: CheckPart = () => true
const NONE: CheckPart = () => false

/** Steps of resolving references at a location of a schema with ids or anchors. */
const STEPS_PER_SCOPE = 50

function createPart(schema: unknown, build: Build): CheckPart {
  if (!isJsonObject(schema)) return ANY
  let rules: readonly PartRule[] | undefined
  return (value, run, outer) => {
    run.spend(1)
    rules ??= [...buildAssertions(schema, build), ...buildApplicators(schema, build)]
    const marks: Evaluated | undefined = build.isMarking
      ? { keys: new Set(), items: new Set() }
      : undefined
    for (const rule of rules) if (!rule(value, run, marks)) return false
    if (marks === undefined) return true
    run.spend(countMarks(marks))
    if (outer !== undefined) addMarks(outer, marks, run)
    return true
  }
}

function withoutUnevaluated(schema: SchemaNode): SchemaNode {
  const { unevaluatedItems: _items, unevaluatedProperties: _fields, ...rest } = schema
  return rest
}

const UNEVALUATED: ReadonlySet<string> = new Set(['unevaluatedItems', 'unevaluatedProperties'])

/** Returns whether a keyword occurs anywhere in a schema. */
export function hasKeyword(schema: unknown, keywords: ReadonlySet<string>): boolean {
  const seen = new Set<unknown>()
  const open: unknown[] = [schema]
  for (let part = open.pop(); open.length > 0 || part !== undefined; part = open.pop()) {
    if (typeof part !== 'object' || part === null || seen.has(part)) continue
    seen.add(part)
    for (const [key, inner] of Object.entries(part)) {
      if (keywords.has(key) && !Array.isArray(part)) return true
      open.push(inner)
    }
  }
  return false
}
