/**
 * Converts the schemas of a document to self-contained JSON Schema 2020-12, with the definitions that they use under
 * `$defs`.
 *
 * REMOTE-S1 A recursive schema stays recursive.
 * REMOTE-S2 Fields that only the service sets (`readOnly`) are not part of the input. Fields that it never returns
 *    (`writeOnly`) are not required in the output.
 * REMOTE-S3 If there are too many definitions, the nearest ones are retained, and a reference to another one allows
 *    any value. The service checks its input in any case.
 * REMOTE-S4 `oneOf` becomes `anyOf`, because the members of real documents overlap and services accept that.
 * REMOTE-S5 A `discriminator` becomes fixed values: each member of the union that does not fix them itself requires
 *    the field with the values that the mapping gives it, or with its own name.
 */
import { isJsonObject } from '@tutti/core/internal'

import { DocumentProblem, type OpenApiNode, type OpenApiReader } from './document.ts'
import { mapSubSchemas, toJsonSchemaKeywords } from './schema-keywords.ts'

/** Direction of values: to the service or from it. */
export type Direction = 'input' | 'output'

/** Maximum number of characters of the definitions of one schema. That of the input is sent to models. */
export const MAX_DEFINITIONS_LENGTH: Readonly<Record<Direction, number>> = {
  input: 50_000,
  output: 20_000,
}

/** A converted schema with its references. */
interface Converted {
  readonly schema: unknown
  readonly refs: readonly string[]
  /** Number of characters of its JSON text. */
  readonly length: number
}

/** Converts the schemas of one document, each definition once per direction. */
export class Schemas {
  readonly #document: OpenApiReader
  readonly #definitions = new Map<string, Converted>()
  readonly #names = new Map<string, string>()
  readonly #takenNames = new Set<string>()

  constructor(document: OpenApiReader) {
    this.#document = document
  }

  /**
   * Returns the self-contained form of `schema`.
   *
   * @throws {DocumentProblem} when a reference has no target.
   */
  standalone(schema: unknown, direction: Direction): OpenApiNode {
    const { schema: converted, refs } = this.#convert(schema, direction)
    const definitions: Record<string, unknown> = {}
    const queue = [...refs]
    const seen = new Set(queue)
    let left = MAX_DEFINITIONS_LENGTH[direction]
    for (let ref = queue.shift(); ref !== undefined; ref = queue.shift()) {
      const definition = this.#definition(ref, direction)
      const fits = definition.length <= left
      definitions[this.#nameOf(ref)] = fits ? definition.schema : {}
      if (!fits) continue
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
      // Deeper than any real schema; probably a generated document with an error.
      if (depth > 200) throw new DocumentProblem('a schema is nested more than 200 levels deep')
      const ref = part['$ref']
      if (typeof ref === 'string') {
        // Throws if the target does not exist.
        this.#document.at(ref)
        refs.add(ref)
        return this.#reference(ref, part, (sub) => convert(sub, depth + 1))
      }
      const visible = this.#fixTags(this.#removeOneWayFields(part, direction))
      return toJsonSchemaKeywords(
        mapSubSchemas(replaceOneOf(visible), (sub) => convert(sub, depth + 1)),
      )
    }
    const converted = convert(schema, 0)
    return { schema: converted, refs: [...refs], length: JSON.stringify(converted).length }
  }

  /** Converts a reference. OpenAPI 3.0 ignores keywords next to `$ref`, but documents use `nullable` there. */
  #reference(ref: string, part: OpenApiNode, convert: (sub: unknown) => unknown): OpenApiNode {
    const reference = { $ref: `#/$defs/${this.#nameOf(ref)}` }
    if (this.#document.isVersion30) {
      return part['nullable'] === true ? { anyOf: [reference, { type: 'null' }] } : reference
    }
    const { $ref: _, ...others } = part
    if (Object.keys(others).length === 0) return reference
    const rest = convert(others)
    return isJsonObject(rest) && Object.keys(rest).length > 0
      ? { ...rest, ...reference }
      : reference
  }

  /** Applies REMOTE-S5. Members without a reference have no name, so a discriminator does not concern them. */
  #fixTags(schema: OpenApiNode): OpenApiNode {
    const { discriminator } = schema
    const keyword = Array.isArray(schema['oneOf']) ? 'oneOf' : 'anyOf'
    const members = schema[keyword]
    if (!isJsonObject(discriminator) || !Array.isArray(members)) return schema
    const { propertyName: field, mapping } = discriminator
    if (typeof field !== 'string') return schema
    const fixed = members.map((member: unknown) => {
      const ref = isJsonObject(member) ? member['$ref'] : undefined
      if (typeof ref !== 'string' || this.#fixes(member, field, new Set())) return member
      return {
        allOf: [
          {
            type: 'object',
            properties: { [field]: { type: 'string', enum: findTags(ref, mapping) } },
            required: [field],
          },
          member,
        ],
      }
    })
    return { ...schema, [keyword]: fixed }
  }

  /** Returns whether a schema allows only fixed values of a field. */
  #fixes(schema: unknown, field: string, seen: Set<unknown>): boolean {
    if (!isJsonObject(schema)) return false
    const node = this.#document.resolve(schema)
    if (seen.has(node)) return false
    seen.add(node)
    const { properties, allOf } = node
    const own = isJsonObject(properties) ? properties[field] : undefined
    const values = isJsonObject(own) ? this.#document.resolve(own) : {}
    if (Array.isArray(values['enum']) || 'const' in values) return true
    return Array.isArray(allOf) && allOf.some((part) => this.#fixes(part, field, seen))
  }

  #removeOneWayFields(schema: OpenApiNode, direction: Direction): OpenApiNode {
    const { properties, required } = schema
    if (!isJsonObject(properties)) return schema
    const oneWay = direction === 'input' ? 'readOnly' : 'writeOnly'
    const hidden = Object.keys(properties).filter((name) => this.#has(properties[name], oneWay))
    if (hidden.length === 0) return schema
    const visible = Object.entries(properties).filter(([name]) => !hidden.includes(name))
    return {
      ...schema,
      properties: direction === 'input' ? Object.fromEntries(visible) : properties,
      required: Array.isArray(required) ? required.filter((name) => !hidden.includes(name)) : [],
    }
  }

  #has(schema: unknown, keyword: string): boolean {
    return isJsonObject(schema) && this.#document.resolve(schema)[keyword] === true
  }

  /** Returns the name of a definition: the last part of its reference, with a number if two have the same. */
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

/** Returns the values that a mapping gives a reference, or the name of the schema if it gives none. */
function findTags(ref: string, mapping: unknown): readonly string[] {
  const name = ref.slice(ref.lastIndexOf('/') + 1)
  // The target of a mapping is a reference, or the name of a schema.
  const tags = Object.entries(isJsonObject(mapping) ? mapping : {}).filter(
    ([, target]) => target === ref || target === name,
  )
  return tags.length === 0 ? [name] : tags.map(([tag]) => tag)
}

/** Replaces `oneOf` with `anyOf`. */
function replaceOneOf(schema: OpenApiNode): OpenApiNode {
  const { oneOf, ...rest } = schema
  if (!Array.isArray(oneOf) || oneOf.length === 0) return rest
  if (rest['anyOf'] === undefined) return { ...rest, anyOf: oneOf }
  const { allOf } = rest
  return { ...rest, allOf: [...(Array.isArray(allOf) ? allOf : []), { anyOf: oneOf }] }
}
