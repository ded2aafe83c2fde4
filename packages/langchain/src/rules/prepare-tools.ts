/**
 * Prepares the tools of a request by the rules of a provider: names, input schemas, and the way back for calls. Pure.
 *
 * Tools that need no change are the same objects. Results are cached per list of tools, which a task has in common
 * in all of its requests.
 */
import { TuttiError } from '@tutti/core'

import { toObjectSchema } from '../tools/to-object-schema.ts'
import { limitKeywords } from './limit-keywords.ts'
import { fieldsIn, mapSchema, toPlainSchema, type PlainSchema } from './map-schema.ts'
import { isAccepted, replaceName } from './names.ts'
import { renameProperties } from './rename-properties.ts'
import { toWellFormedValue } from './well-formed.ts'

import type { ModelIdentity } from '../providers.ts'
import type { ToolSpecification } from '@tutti/ensemble/adapter'
import type { ProviderRules } from './rule.ts'

export interface PreparedTools {
  readonly tools: readonly ToolSpecification[]
  /** The provider's names by own names of tools; only tools with a changed name. */
  readonly sent: ReadonlyMap<string, RenamedTool>
  /** The own names by the provider's names of tools. */
  readonly received: ReadonlyMap<string, RenamedTool>
}

/** The new names of a tool. */
export interface RenamedTool {
  readonly name: string
  /** New names of its properties by the present ones; only what changes. */
  readonly properties: ReadonlyMap<string, string>
}

const prepared = new WeakMap<ProviderRules, WeakMap<readonly ToolSpecification[], PreparedTools>>()

/**
 * Returns the tools as the provider of `identity` accepts them.
 *
 * @throws {TuttiError} TOOL_CONFIGURATION when an input schema cannot be an object.
 */
export function prepareTools(
  tools: readonly ToolSpecification[],
  rules: ProviderRules,
  identity: ModelIdentity,
): PreparedTools {
  const known = prepared.get(rules) ?? new WeakMap<readonly ToolSpecification[], PreparedTools>()
  prepared.set(rules, known)
  const result = known.get(tools) ?? prepareAll(tools, rules, identity)
  known.set(tools, result)
  return result
}

function prepareAll(
  tools: readonly ToolSpecification[],
  rules: ProviderRules,
  { provider, name: model }: ModelIdentity,
): PreparedTools {
  const sent = new Map<string, RenamedTool>()
  const received = new Map<string, RenamedTool>()
  const taken = new Set(tools.map(({ name }) => name))
  const list = tools.map((tool) => {
    const fitted = fitSchema(tool, rules)
    if (fitted === undefined) {
      throw new TuttiError(
        'TOOL_CONFIGURATION',
        `Cannot call ${provider}:${model} with tool "${tool.name}": the input schema must be an object or a choice of objects; move the other forms to a property of an object`,
      )
    }
    const { properties, inputSchema, note } = fitted
    const accepted = isAccepted(tool.name, rules.toolName)
    const name = accepted ? tool.name : replaceName(tool.name, rules.toolName, taken)
    if (!accepted || properties.size > 0) {
      sent.set(tool.name, { name, properties })
      received.set(name, { name: tool.name, properties: invert(properties) })
    }
    const said = note === undefined ? tool.description : `${tool.description}\n${note}`
    const description = said.toWellFormed()
    const isSame =
      name === tool.name && inputSchema === tool.inputSchema && description === tool.description
    return isSame ? tool : { name, description, inputSchema }
  })
  const isSame = list.every((tool, index) => tool === tools[index])
  return { tools: isSame ? tools : list, sent, received }
}

function invert(names: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  return new Map([...names].map(([own, replacement]) => [replacement, own]))
}

interface FittedSchema {
  readonly inputSchema: object
  /** Addition to the description of the tool. */
  readonly note?: string | undefined
  readonly properties: ReadonlyMap<string, string>
}

function fitSchema(
  { inputSchema }: ToolSpecification,
  rules: ProviderRules,
): FittedSchema | undefined {
  const plain = toPlainSchema(inputSchema)
  const renamed = renameProperties(plain, rules.propertyName)
  const converted = toObjectSchema(renamed.schema)
  if (converted === undefined) return undefined
  const schema = fitKeywords(fieldsIn(toWellFormedValue(converted.schema)), rules)
  const { names: properties } = renamed
  return {
    inputSchema: schema === plain ? inputSchema : schema,
    note: converted.note,
    properties,
  }
}

function fitKeywords(schema: PlainSchema, rules: ProviderRules): PlainSchema {
  const { arrayItems, emptyObject, keywords, objectProperties, tupleItems } = rules
  const current = tupleItems === undefined ? schema : renameTuples(schema)
  const limited = keywords === undefined ? current : limitKeywords(current, keywords)
  const listed = arrayItems === undefined ? limited : addItems(limited)
  if (emptyObject !== undefined && isEmpty(listed)) return NO_SCHEMA
  const lacksProperties = objectProperties !== undefined && listed['properties'] === undefined
  return lacksProperties ? { ...listed, properties: {} } : listed
}

/** Stands for the schema of a tool without input; `bind-tools.ts` sends none. */
const NO_SCHEMA: PlainSchema = {}

function isEmpty({ properties }: PlainSchema): boolean {
  return Object.keys(fieldsIn(properties)).length === 0
}

/** Adds `items` to array schemas. */
function addItems(schema: PlainSchema): PlainSchema {
  return changeSchema(schema, (fields) =>
    isArray(fields['type']) && fields['items'] === undefined ? { ...fields, items: {} } : fields,
  )
}

/** Converts tuples of earlier drafts to `prefixItems`. */
function renameTuples(schema: PlainSchema): PlainSchema {
  return changeSchema(schema, (fields) => {
    const { items, additionalItems, ...others } = fields
    if (!Array.isArray(items)) return fields
    const rest = additionalItems === undefined ? {} : { items: additionalItems }
    return { ...others, prefixItems: items, ...rest }
  })
}

/** Changes all schemas within a schema; returns the schema itself when `change` returns its argument for each. */
function changeSchema(
  schema: PlainSchema,
  change: (fields: PlainSchema) => PlainSchema,
): PlainSchema {
  let isSame = true
  const changed = mapSchema(schema, (fields) => {
    const next = change(fields)
    isSame &&= next === fields
    return next
  })
  return isSame ? schema : fieldsIn(changed)
}

function isArray(type: unknown): boolean {
  return type === 'array' || (Array.isArray(type) && type.includes('array'))
}
