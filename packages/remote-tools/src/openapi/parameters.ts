/** The parameters of an operation. Pure. */
import { isJsonObject } from '@tutti/core'

import {
  DocumentProblem,
  objectOf,
  objectsOf,
  textOf,
  type JsonObject,
  type OpenApiDocument,
} from './document.ts'

import type { ParameterStyle } from './parameter-style.ts'

/** Where a parameter goes. */
export type Place = 'path' | 'query' | 'header' | 'cookie'

/** A parameter, read. */
export interface Parameter extends ParameterStyle {
  readonly place: Place
  readonly required: boolean
  readonly description: string | undefined
  /** As the document has it. */
  readonly schema: unknown
  /** Whether its value is written as JSON text. */
  readonly isJson: boolean
}

const STYLES: Readonly<Record<Place, string>> = {
  path: 'simple',
  query: 'form',
  header: 'simple',
  cookie: 'form',
}

/** Headers that other parts of the document speak of. @see https://spec.openapis.org/oas/v3.1.1.html#parameter-object */
const NOT_PARAMETERS: ReadonlySet<string> = new Set(['accept', 'content-type', 'authorization'])

/**
 * The parameters of an operation: its own, and those of its path that it does not replace.
 *
 * @throws {DocumentProblem} when one is none.
 */
export function parametersOf(
  document: OpenApiDocument,
  { pathItem, operation }: { readonly pathItem: JsonObject; readonly operation: JsonObject },
): readonly Parameter[] {
  const found = new Map<string, Parameter>()
  for (const given of [
    ...objectsOf(pathItem['parameters']),
    ...objectsOf(operation['parameters']),
  ]) {
    const parameter = read(document.resolve(given))
    found.set(`${parameter.place} ${parameter.name}`, parameter)
  }
  return [...found.values()].filter(
    ({ place, name }) => place !== 'header' || !NOT_PARAMETERS.has(name.toLowerCase()),
  )
}

function read(given: JsonObject): Parameter {
  const name = textOf(given['name'])
  const place = given['in']
  if (name === undefined || name === '') throw new DocumentProblem('a parameter has no name')
  if (!isPlace(place)) {
    throw new DocumentProblem(
      `parameter "${name}" must be in path, query, header or cookie, got ${JSON.stringify(place)}`,
    )
  }
  const style = textOf(given['style']) ?? STYLES[place]
  const [content] = Object.entries(objectOf(given['content']))
  const schema = content === undefined ? given['schema'] : objectOf(content[1])['schema']
  return {
    name,
    place,
    style,
    explode: typeof given['explode'] === 'boolean' ? given['explode'] : style === 'form',
    allowReserved: given['allowReserved'] === true,
    required: place === 'path' || given['required'] === true,
    description: textOf(given['description']),
    schema: isJsonObject(schema) ? schema : {},
    isJson: content !== undefined && /\bjson\b/i.test(content[0]),
  }
}

function isPlace(value: unknown): value is Place {
  return typeof value === 'string' && value in STYLES
}
