/** Reads the parameters of operations. Pure. */
import { isJsonObject } from '@tutti/core/internal'

import {
  DocumentProblem,
  asObject,
  asObjects,
  asText,
  type OpenApiNode,
  type OpenApiReader,
} from './document.ts'

import type { ParameterStyle } from './parameter-style.ts'

/** Location of a parameter in the request. */
export type ParameterLocation = 'path' | 'query' | 'header' | 'cookie'

export interface OperationParameter extends ParameterStyle {
  readonly location: ParameterLocation
  readonly required: boolean
  readonly description: string | undefined
  /** Schema as in the document. */
  readonly schema: unknown
  /** Whether its value is sent as JSON text. */
  readonly isJson: boolean
}

const STYLES: Readonly<Record<ParameterLocation, string>> = {
  path: 'simple',
  query: 'form',
  header: 'simple',
  cookie: 'form',
}

/** Headers that other parts of the document define. @see https://spec.openapis.org/oas/v3.1.1.html#parameter-object */
const NOT_PARAMETERS: ReadonlySet<string> = new Set(['accept', 'content-type', 'authorization'])

/**
 * Returns the parameters of an operation, and those of its path that it does not replace.
 *
 * @throws {DocumentProblem} naming an invalid parameter.
 */
export function readParameters(
  document: OpenApiReader,
  { pathItem, operation }: { readonly pathItem: OpenApiNode; readonly operation: OpenApiNode },
): readonly OperationParameter[] {
  const found = new Map<string, OperationParameter>()
  for (const given of [
    ...asObjects(pathItem['parameters']),
    ...asObjects(operation['parameters']),
  ]) {
    const parameter = readParameter(document.resolve(given))
    found.set(`${parameter.location} ${parameter.name}`, parameter)
  }
  return [...found.values()].filter(
    ({ location, name }) => location !== 'header' || !NOT_PARAMETERS.has(name.toLowerCase()),
  )
}

/**
 * Returns a text parameter for each placeholder of a path without a declared parameter.
 */
export function findUndeclared(
  path: string,
  declared: readonly OperationParameter[],
): readonly OperationParameter[] {
  const known = declared.filter(({ location }) => location === 'path').map(({ name }) => name)
  const names = [...path.matchAll(/\{([^{}]+)\}/g)].map(([, name = '']) => name)
  return [...new Set(names)]
    .filter((name) => !known.includes(name))
    .map((name) => readParameter({ name, in: 'path', schema: { type: 'string' } }))
}

function readParameter(given: OpenApiNode): OperationParameter {
  const name = asText(given['name'])
  const location = given['in']
  if (name === undefined || name === '') throw new DocumentProblem('a parameter has no name')
  if (!isLocation(location)) {
    throw new DocumentProblem(
      `parameter "${name}" must be in path, query, header or cookie, got ${JSON.stringify(location)}`,
    )
  }
  const style = asText(given['style']) ?? STYLES[location]
  const [content] = Object.entries(asObject(given['content']))
  const schema = content === undefined ? given['schema'] : asObject(content[1])['schema']
  return {
    name,
    location,
    style,
    explode: typeof given['explode'] === 'boolean' ? given['explode'] : style === 'form',
    allowReserved: given['allowReserved'] === true,
    required: location === 'path' || given['required'] === true,
    description: asText(given['description']),
    schema: isJsonObject(schema) ? schema : {},
    isJson: content !== undefined && /\bjson\b/i.test(content[0]),
  }
}

function isLocation(value: unknown): value is ParameterLocation {
  return typeof value === 'string' && value in STYLES
}
