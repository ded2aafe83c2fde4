/** Generates the reference page of run events from their schemas and docstrings. */
import { globSync } from 'node:fs'

import { RunEvent } from '@tutti/protocol'

import { code, page, table } from './markdown.ts'
import { schemasOf } from './source-docs.ts'

/** Returns the text of `docs/reference/events.md`. */
export function eventsPage(): string {
  const docs = schemasOf(globSync('packages/protocol/src/{schemas,messages}/**/*.ts').toSorted())
  const sections = RunEvent.anyOf.flatMap(({ properties, required }) => {
    const { text = '', fields = new Map<string, string>() } =
      docs.get(nameOf(properties.type.const)) ?? {}
    const rows = Object.entries(properties)
      .filter(([name]) => name !== 'type')
      .map(([name, schema]) => [
        code(required.some((key) => key === name) ? name : `${name}?`),
        typeOf(schema),
        fields.get(name) ?? '',
      ])
    return [
      `## ${properties.type.const}`,
      '',
      text,
      '',
      ...table(['field', 'type', 'meaning'], rows),
      '',
    ]
  })
  return page('Run events', [
    'The events of a run, in the order of the protocol. Each also carries `runId`, `seq` (its index in the log, from 0, without gaps) and `id`. A `?` marks what may be absent. Times are in milliseconds or ISO 8601, as the field says; costs are in US dollars.',
    '',
    ...sections,
  ])
}

/** Returns the name of an event's schema, such as `TaskStarted` for `task_started`. */
function nameOf(type: string): string {
  return type.replaceAll(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase())
}

interface SchemaLike {
  readonly type?: unknown
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly SchemaLike[]
  readonly items?: SchemaLike
  readonly format?: unknown
}

function typeOf(schema: SchemaLike): string {
  const { type, const: value, enum: values, anyOf, items, format } = schema
  if (anyOf !== undefined) return [...new Set(anyOf.map(typeOf))].join(' or ')
  if (values !== undefined) return values.map((each) => code(String(each))).join(' ')
  if (value !== undefined) return code(JSON.stringify(value))
  if (items !== undefined) return `list of ${typeOf(items)}`
  if (typeof type !== 'string') return 'any JSON'
  return typeof format === 'string' ? `${type} (${format})` : type
}
