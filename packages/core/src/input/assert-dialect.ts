/**
 * Check that a JSON Schema has the same meaning in another dialect, unchanged.
 *
 * Schemas are not converted: the schema of a tool is one object, the same everywhere. Readers would ignore a keyword that
 * their dialect does not have, so such a keyword is an error.
 */
import type { SchemaNode } from '@tutti/protocol/internal'

import { surveySchema } from './schema-survey.ts'

/** Conditions under which a keyword of a node differs in a dialect. */
type Dialect = ReadonlyMap<string, (node: SchemaNode) => boolean>

const always = (): boolean => true
const isTuple = ({ items }: SchemaNode): boolean => Array.isArray(items)
const hasSiblings = (node: SchemaNode): boolean =>
  Object.keys(node).some((key) => !BESIDE_REF.has(key))

/** Keywords allowed next to a `$ref` in dialects that ignore all other siblings. */
const BESIDE_REF: ReadonlySet<string> = new Set([
  '$ref',
  '$defs',
  'definitions',
  '$schema',
  'description',
  'title',
  'default',
  'examples',
])

function refuseKeywords(names: readonly string[]): [string, () => boolean][] {
  return names.map((name) => [name, always])
}

/** Keywords added in 2019-09 and 2020-12. */
const SINCE_2019 = [
  '$anchor',
  '$dynamicAnchor',
  '$dynamicRef',
  'dependentRequired',
  'dependentSchemas',
  'maxContains',
  'minContains',
  'prefixItems',
  'unevaluatedItems',
  'unevaluatedProperties',
]

/** @see https://json-schema.org/draft/2020-12/release-notes and https://spec.openapis.org/oas/v3.0.3#schema-object */
const DIALECTS: ReadonlyMap<string, Dialect> = new Map([
  [
    'draft-2020-12',
    new Map<string, (node: SchemaNode) => boolean>([
      ['items', isTuple],
      ...refuseKeywords(['$recursiveRef', 'additionalItems', 'dependencies']),
    ]),
  ],
  [
    'draft-07',
    new Map<string, (node: SchemaNode) => boolean>([
      ['$ref', hasSiblings],
      ...refuseKeywords(['$recursiveRef', ...SINCE_2019]),
    ]),
  ],
  [
    'openapi-3.0',
    new Map<string, (node: SchemaNode) => boolean>([
      ['$ref', always],
      ['items', isTuple],
      ['type', ({ type }) => Array.isArray(type) || type === 'null'],
      ['exclusiveMinimum', (node) => typeof Reflect.get(node, 'exclusiveMinimum') !== 'boolean'],
      ['exclusiveMaximum', (node) => typeof Reflect.get(node, 'exclusiveMaximum') !== 'boolean'],
      ...refuseKeywords([
        '$defs',
        '$recursiveRef',
        'additionalItems',
        'const',
        'contains',
        'definitions',
        'dependencies',
        'else',
        'if',
        'patternProperties',
        'propertyNames',
        'then',
        ...SINCE_2019,
      ]),
    ]),
  ],
])

/**
 * Returns the schema itself if it has the same meaning in the dialect `target`.
 *
 * @throws {TypeError} listing each keyword that the dialect does not have or interprets differently, or the supported
 * dialects when `target` is unknown.
 */
export function assertDialect(schema: SchemaNode, target: string): Record<string, unknown> {
  const dialect = DIALECTS.get(target)
  if (dialect === undefined) {
    const known = [...DIALECTS.keys()].map((name) => JSON.stringify(name)).join(', ')
    throw new TypeError(
      `Cannot convert schema to ${JSON.stringify(target)}: target must be one of ${known}`,
    )
  }
  const foreign = [...surveySchema(schema).nodes].flatMap(([node, path]) =>
    [...dialect]
      .filter(([keyword, differs]) => keyword in node && differs(node))
      .map(([keyword]) => `${path}/${keyword}`),
  )
  if (foreign.length > 0) {
    throw new TypeError(
      `Cannot convert schema to ${JSON.stringify(target)}: it does not support ${foreign.join(', ')}`,
    )
  }
  // NOTE: a node is an object with any keywords; its type names those that this package reads.
  return schema as Record<string, unknown>
}
