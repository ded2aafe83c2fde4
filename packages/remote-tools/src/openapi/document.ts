/** Reads OpenAPI documents: accesses unchecked values and follows references. Pure. */

import { isJsonObject } from '@tutti/core/internal'

/** A JSON object with unknown fields. */
export type OpenApiNode = Readonly<Record<string, unknown>>

/** A part of a document that cannot be used. */
export class DocumentProblem extends Error {
  override readonly name = 'DocumentProblem'
}

/** Returns a value that is an object, otherwise an empty object. */
export function asObject(value: unknown): OpenApiNode {
  return isJsonObject(value) ? value : {}
}

/** Returns the objects of a list; other values are omitted. */
export function asObjects(value: unknown): readonly OpenApiNode[] {
  return Array.isArray(value) ? value.filter((item) => isJsonObject(item)) : []
}

/** Returns a value that is a string, otherwise undefined. */
export function asText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

/** A document whose references can be followed. */
export class OpenApiReader {
  readonly root: OpenApiNode
  /** Whether its schemas are those of OpenAPI 3.0, which differ from JSON Schema. */
  readonly isVersion30: boolean

  /** @throws {TypeError} when the value is not an OpenAPI document of version 3.0 or 3.1. */
  constructor(value: unknown) {
    const root = asObject(value)
    const version = asText(root['openapi']) ?? ''
    if (!/^3\.[01](\.|$)/.test(version)) {
      const swagger = asText(root['swagger'])
      const got = swagger === undefined ? JSON.stringify(root['openapi']) : `Swagger ${swagger}`
      throw new TypeError(
        `Cannot import an OpenAPI document: its version must be 3.0 or 3.1, got ${got}`,
      )
    }
    this.root = root
    this.isVersion30 = version.startsWith('3.0')
  }

  /** Returns the object that a value is or refers to, through any number of references. */
  resolve(value: unknown): OpenApiNode {
    let found = value
    for (const seen = new Set<string>(); isJsonObject(found);) {
      const ref = found['$ref']
      if (typeof ref !== 'string') return found
      if (seen.has(ref)) throw new DocumentProblem(`${ref} refers to itself`)
      seen.add(ref)
      found = this.at(ref)
    }
    return {}
  }

  /** Returns the target of a reference. @throws {DocumentProblem} when it does not exist. */
  at(ref: string): unknown {
    if (!ref.startsWith('#')) throw new DocumentProblem(`${ref} is in another document`)
    let found: unknown = this.root
    for (const step of parsePointer(ref)) {
      found = typeof found === 'object' && found !== null ? Reflect.get(found, step) : undefined
    }
    if (found === undefined) throw new DocumentProblem(`${ref} is not in the document`)
    return found
  }
}

/** @see https://www.rfc-editor.org/rfc/rfc6901#section-6 */
function parsePointer(ref: string): readonly string[] {
  return ref
    .slice(1)
    .split('/')
    .slice(1)
    .map((step) => decodeStep(step).replaceAll('~1', '/').replaceAll('~0', '~'))
}

function decodeStep(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
