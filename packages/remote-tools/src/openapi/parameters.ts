/** The parameters of an operation. Pure. */
import { isJsonObject } from '@tutti/core'

import {
  DocumentProblem,
  asObject,
  asObjects,
  asText,
  type OpenApiNode,
  type OpenApiReader,
} from './document.ts'

import type { ParameterStyle } from './parameter-style.ts'

/** Where a parameter goes. */
export type ParameterPlace = 'path' | 'query' | 'header' | 'cookie'

/** A parameter, read. */
export interface OperationParameter extends ParameterStyle {
  readonly place: ParameterPlace
  readonly required: boolean
  readonly description: string | undefined
  /** As the document has it. */
  readonly schema: unknown
  /** Whether its value is written as JSON text. */
  readonly isJson: boolean
}

const STYLES: Readonly<Record<ParameterPlace, string>> = {
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
  document: OpenApiReader,
  { pathItem, operation }: { readonly pathItem: OpenApiNode; readonly operation: OpenApiNode },
): readonly OperationParameter[] {
  const found = new Map<string, OperationParameter>()
  for (const given of [
    ...asObjects(pathItem['parameters']),
    ...asObjects(operation['parameters']),
  ]) {
    const parameter = read(document.resolve(given))
    found.set(`${parameter.place} ${parameter.name}`, parameter)
  }
  return [...found.values()].filter(
    ({ place, name }) => place !== 'header' || !NOT_PARAMETERS.has(name.toLowerCase()),
  )
}

function read(given: OpenApiNode): OperationParameter {
  const name = asText(given['name'])
  const place = given['in']
  if (name === undefined || name === '') throw new DocumentProblem('a parameter has no name')
  if (!isPlace(place)) {
    throw new DocumentProblem(
      `parameter "${name}" must be in path, query, header or cookie, got ${JSON.stringify(place)}`,
    )
  }
  const style = asText(given['style']) ?? STYLES[place]
  const [content] = Object.entries(asObject(given['content']))
  const schema = content === undefined ? given['schema'] : asObject(content[1])['schema']
  return {
    name,
    place,
    style,
    explode: typeof given['explode'] === 'boolean' ? given['explode'] : style === 'form',
    allowReserved: given['allowReserved'] === true,
    required: place === 'path' || given['required'] === true,
    description: asText(given['description']),
    schema: isJsonObject(schema) ? schema : {},
    isJson: content !== undefined && /\bjson\b/i.test(content[0]),
  }
}

function isPlace(value: unknown): value is ParameterPlace {
  return typeof value === 'string' && value in STYLES
}
