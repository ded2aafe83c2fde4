/** The descriptions of the schemas of the protocol for OpenAPI and AsyncAPI, from the docstrings of their sources. */
import { globSync } from 'node:fs'

import * as api from '@tutti/protocol'
import * as internal from '@tutti/protocol/internal'

import { schemasOf } from './source-docs.ts'

const MAX_LINE = 100

/** Returns the source of `schema-descriptions.ts`: a table from `Schema` and `Schema.field` to a description. */
export function schemaDescriptions(): string {
  const docs = schemasOf(globSync('packages/protocol/src/{schemas,messages}/**/*.ts').toSorted())
  const names = Object.keys({ ...api, ...internal }).filter(
    (name) => docs.has(name) && /^[A-Z][a-z]/.test(name),
  )
  const entries = names.toSorted().flatMap((name): (readonly [string, string])[] => {
    const { text, fields } = docs.get(name) ?? { text: '', fields: new Map<string, string>() }
    const ofFields = [...fields].map(([field, each]) => [`${name}.${field}`, each] as const)
    return [[name, text] as const, ...ofFields].filter(([, each]) => each !== '')
  })
  return [
    '/** Written by "npm run gen" from the docstrings of `packages/protocol/src`; do not edit. */',
    '// oxlint-disable max-lines -- a table',
    'export const SCHEMA_DESCRIPTIONS: Readonly<Record<string, string>> = {',
    ...entries.map(([key, text]) => formatEntry(key, text)),
    '}',
    '',
  ].join('\n')
}

/** Formats an entry as the formatter does, so that the file passes its check. */
function formatEntry(key: string, text: string): string {
  const name = key.includes('.') ? `'${key}'` : key
  const line = `  ${name}: ${quote(text)},`
  return line.length <= MAX_LINE ? line : `  ${name}:\n    ${quote(text)},`
}

function quote(text: string): string {
  const single = text.split("'").length - 1
  const double = text.split('"').length - 1
  const mark = single > double ? '"' : "'"
  return `${mark}${text.replaceAll('\\', '\\\\').replaceAll(mark, `\\${mark}`)}${mark}`
}
