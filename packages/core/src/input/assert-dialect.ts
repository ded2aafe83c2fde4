/**
 * Whether a JSON Schema means the same in another dialect, as it is written.
 *
 * Nothing is converted: the schema of a tool is one object, the same everywhere. A keyword that a
 * dialect does not know would be ignored by its readers, so it is a reason to refuse.
 */
import type { SchemaNode } from '@tutti/protocol'

import { surveySchema } from './schema-survey.ts'

/** Why a node does not mean the same in a dialect, by keyword. */
type Dialect = ReadonlyMap<string, (node: SchemaNode) => boolean>

const always = (): boolean => true
const isTuple = ({ items }: SchemaNode): boolean => Array.isArray(items)
const hasSiblings = (node: SchemaNode): boolean =>
  Object.keys(node).some((key) => !BESIDE_REF.has(key))

/** What may stand beside a `$ref` where only the reference counts. */
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

/** New in 2019-09 and 2020-12. */
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
 * The schema itself, once it is sure that it means the same in the dialect `target`.
 *
 * @throws {TypeError} naming each keyword that the dialect has not, or has with another meaning, or
 * the dialects there are when `target` is none of them.
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
