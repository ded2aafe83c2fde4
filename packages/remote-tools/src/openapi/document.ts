/** Reading an OpenAPI document: values of any shape, followed where they refer to others. Pure. */

import { isJsonObject } from '@tutti/core'

/** A JSON object of which nothing is known. */
export type OpenApiNode = Readonly<Record<string, unknown>>

/** Something of a document that cannot be used, with the place that it is at. */
export class DocumentProblem extends Error {
  override readonly name = 'DocumentProblem'
}

/** The value as an object; an empty one when it is none. */
export function asObject(value: unknown): OpenApiNode {
  return isJsonObject(value) ? value : {}
}

/** The value as a list of objects; what is none is left out. */
export function asObjects(value: unknown): readonly OpenApiNode[] {
  return Array.isArray(value) ? value.filter((item) => isJsonObject(item)) : []
}

/** The value as text; undefined when it is none. */
export function asText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

/** A document, and the way through its references. */
export class OpenApiReader {
  readonly root: OpenApiNode
  /** Whether its schemas are those of OpenAPI 3.0, which are not quite JSON Schema. */
  readonly isVersion30: boolean

  /** @throws {TypeError} when it is no OpenAPI document of version 3.0 or 3.1. */
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

  /** The object that a value is or refers to, over any number of references. */
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

  /** The value that a reference points to. @throws {DocumentProblem} when there is none. */
  at(ref: string): unknown {
    if (!ref.startsWith('#')) throw new DocumentProblem(`${ref} is in another document`)
    let found: unknown = this.root
    for (const step of stepsOf(ref)) {
      found = typeof found === 'object' && found !== null ? Reflect.get(found, step) : undefined
    }
    if (found === undefined) throw new DocumentProblem(`${ref} is not in the document`)
    return found
  }
}

/** @see https://www.rfc-editor.org/rfc/rfc6901#section-6 */
function stepsOf(ref: string): readonly string[] {
  return ref
    .slice(1)
    .split('/')
    .slice(1)
    .map((step) => decoded(step).replaceAll('~1', '/').replaceAll('~0', '~'))
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
