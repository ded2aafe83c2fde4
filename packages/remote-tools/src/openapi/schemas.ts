/**
 * Schemas of a document as schemas that stand alone: JSON Schema 2020-12, with the definitions that
 * they use, and no others, under `$defs`.
 *
 * S1 A recursive schema stays recursive.
 * S2 What the service alone may set (`readOnly`) is not in input, and what it never gives back
 *    (`writeOnly`) is not required of output.
 * S3 Of very many definitions the nearest are kept; a reference to one that is not allows any value.
 *    The service checks what it gets in any case.
 * S4 `oneOf` becomes `anyOf`: real documents have members that overlap, which services do not mind.
 */
import { isJsonObject } from '@tutti/core'

import { DocumentProblem, type OpenApiNode, type OpenApiReader } from './document.ts'
import { mapSubSchemas, toJsonSchemaKeywords } from './schema-keywords.ts'

/** Which way values go. */
export type Direction = 'input' | 'output'

/** Characters of the definitions of one schema, at most: of input, which is sent to models, and of output. */
export const MAX_DEFINITIONS_LENGTH: Readonly<Record<Direction, number>> = {
  input: 50_000,
  output: 20_000,
}

/** A converted schema, and the references that are in it. */
interface Converted {
  readonly schema: unknown
  readonly refs: readonly string[]
  /** Characters of its JSON text. */
  readonly length: number
}

/** Converts the schemas of one document; each definition is converted once. */
export class Schemas {
  readonly #document: OpenApiReader
  readonly #definitions = new Map<string, Converted>()
  readonly #names = new Map<string, string>()
  readonly #takenNames = new Set<string>()

  constructor(document: OpenApiReader) {
    this.#document = document
  }

  /**
   * Makes `schema` stand alone.
   *
   * @throws {DocumentProblem} when it refers to what is not there.
   */
  standalone(schema: unknown, direction: Direction): OpenApiNode {
    const { schema: converted, refs } = this.#convert(schema, direction)
    const definitions: Record<string, unknown> = {}
    const queue = [...refs]
    const seen = new Set(queue)
    let left = MAX_DEFINITIONS_LENGTH[direction]
    for (let ref = queue.shift(); ref !== undefined; ref = queue.shift()) {
      const definition = this.#definition(ref, direction)
      const isKept = definition.length <= left
      definitions[this.#nameOf(ref)] = isKept ? definition.schema : {}
      if (!isKept) continue
      left -= definition.length
      for (const next of definition.refs) {
        if (!seen.has(next)) queue.push(next)
        seen.add(next)
      }
    }
    const own = isJsonObject(converted) ? converted : {}
    return Object.keys(definitions).length === 0 ? own : { ...own, $defs: definitions }
  }

  #definition(ref: string, direction: Direction): Converted {
    const key = `${direction} ${ref}`
    const known = this.#definitions.get(key)
    if (known !== undefined) return known
    const converted = this.#convert(this.#document.at(ref), direction)
    this.#definitions.set(key, converted)
    return converted
  }

  #convert(schema: unknown, direction: Direction): Converted {
    const refs = new Set<string>()
    const convert = (part: unknown, depth: number): unknown => {
      if (typeof part === 'boolean') return part
      if (!isJsonObject(part)) return {}
      // Deeper than any schema that is meant: a document that was put together by a program gone astray.
      if (depth > 200) throw new DocumentProblem('a schema is nested more than 200 levels deep')
      const ref = part['$ref']
      if (typeof ref === 'string') {
        // To be named, it must be there.
        this.#document.at(ref)
        refs.add(ref)
        return this.#reference(ref, part, (sub) => convert(sub, depth + 1))
      }
      const kept = this.#withoutOneWay(part, direction)
      return toJsonSchemaKeywords(
        mapSubSchemas(withoutOneOf(kept), (sub) => convert(sub, depth + 1)),
      )
    }
    const converted = convert(schema, 0)
    return { schema: converted, refs: [...refs], length: JSON.stringify(converted).length }
  }

  /** In OpenAPI 3.0 what stands beside a reference does not count; `nullable` is meant all the same. */
  #reference(ref: string, part: OpenApiNode, convert: (sub: unknown) => unknown): OpenApiNode {
    const reference = { $ref: `#/$defs/${this.#nameOf(ref)}` }
    if (this.#document.isVersion30) {
      return part['nullable'] === true ? { anyOf: [reference, { type: 'null' }] } : reference
    }
    const { $ref: _, ...beside } = part
    if (Object.keys(beside).length === 0) return reference
    const rest = convert(beside)
    return isJsonObject(rest) && Object.keys(rest).length > 0
      ? { ...rest, ...reference }
      : reference
  }

  #withoutOneWay(schema: OpenApiNode, direction: Direction): OpenApiNode {
    const { properties, required } = schema
    if (!isJsonObject(properties)) return schema
    const oneWay = direction === 'input' ? 'readOnly' : 'writeOnly'
    const hidden = Object.keys(properties).filter((name) => this.#has(properties[name], oneWay))
    if (hidden.length === 0) return schema
    const kept = Object.entries(properties).filter(([name]) => !hidden.includes(name))
    return {
      ...schema,
      properties: direction === 'input' ? Object.fromEntries(kept) : properties,
      required: Array.isArray(required) ? required.filter((name) => !hidden.includes(name)) : [],
    }
  }

  #has(schema: unknown, keyword: string): boolean {
    return isJsonObject(schema) && this.#document.resolve(schema)[keyword] === true
  }

  /** The name of a definition: the last part of its place, with a number where two end alike. */
  #nameOf(ref: string): string {
    const known = this.#names.get(ref)
    if (known !== undefined) return known
    const last = ref.slice(ref.lastIndexOf('/') + 1).replaceAll(/[^\w.-]+/g, '_') || 'root'
    let name = last
    for (let number = 2; this.#takenNames.has(name); number += 1) name = `${last}_${number}`
    this.#takenNames.add(name)
    this.#names.set(ref, name)
    return name
  }
}

/** The schema with `anyOf` in place of `oneOf`. */
function withoutOneOf(schema: OpenApiNode): OpenApiNode {
  const { oneOf, ...rest } = schema
  if (!Array.isArray(oneOf) || oneOf.length === 0) return rest
  if (rest['anyOf'] === undefined) return { ...rest, anyOf: oneOf }
  const { allOf } = rest
  return { ...rest, allOf: [...(Array.isArray(allOf) ? allOf : []), { anyOf: oneOf }] }
}
