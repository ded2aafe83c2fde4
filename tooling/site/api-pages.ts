/** Converts the OpenAPI document of the server to pages: one for each tag, one with all schemas, and an introduction. */
import { slug } from 'github-slugger'

import { ERROR_CODES } from '@tutti/protocol'

import { code, table } from '../reference/markdown.ts'
import { schemaSection, typeText } from './schema-text.ts'

import type {
  ApiResponse,
  MediaType,
  OpenApiDocument,
  Operation,
} from '../../packages/control-api/src/documents/open-api-types.ts'

/** A page of the API reference. */
export interface ApiPage {
  /** Path below the base of the site. */
  readonly path: string
  readonly title: string
  readonly text: string
}

/** An operation with its route. */
interface Endpoint {
  readonly method: string
  readonly path: string
  readonly operation: Operation
}

/** Returns the pages, the introduction first. */
export function apiPages(document: OpenApiDocument): readonly ApiPage[] {
  const endpoints = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path,
      operation,
    })),
  )
  const areas = document.tags.map((tag) => ({
    ...tag,
    page: `${slug(tag.name)}.md`,
    endpoints: endpoints.filter(({ operation }) => operation.tags.includes(tag.name)),
  }))
  return [
    toPage('index.md', 'HTTP API', [
      ...introduction(document),
      ...areas.flatMap(({ name, page, description, endpoints: own }) => [
        `## ${name}`,
        '',
        description,
        '',
        ...table(
          ['route', 'does'],
          own.map(({ method, path, operation: { summary } }) => [
            `[${code(`${method} ${path}`)}](${page}#${slug(summary)})`,
            summary,
          ]),
        ),
        '',
      ]),
      ...webhooks(document),
      ...commonErrors(document),
    ]),
    ...areas.map(({ name, page, description, endpoints: own }) =>
      toPage(page, name, [description, '', ...own.flatMap(endpointSection)]),
    ),
    toPage('schemas.md', 'Schemas', [
      'The schemas of requests and responses. A `?` marks what may be absent.',
      '',
      ...Object.entries(document.components.schemas).flatMap(([name, schema]) =>
        schemaSection(name, schema),
      ),
    ]),
  ]
}

function toPage(file: string, title: string, lines: readonly string[]): ApiPage {
  return { path: `api/${file}`, title, text: [`# ${title}`, '', ...lines].join('\n') }
}

function introduction({ info, components }: OpenApiDocument): readonly string[] {
  const { key } = components.securitySchemes
  return [
    // The server serves its documents at its root.
    info.description.replaceAll('](/', '](../'),
    '',
    `Keys are sent as \`Authorization: Bearer …\`. ${key?.['description'] ?? ''}`,
    '',
    'This reference is generated from [openapi.json](../openapi.json), which each server also serves at `/openapi.json`.',
    'See also [all routes in one table](../reference/routes.md) and [the errors](../reference/errors.md).',
    '',
  ]
}

function webhooks(document: OpenApiDocument): readonly string[] {
  return Object.values(document.webhooks).flatMap(({ post }) =>
    post === undefined
      ? []
      : ['## Webhooks', '', `${post.summary}.`, '', post.description ?? '', '', ...bodyLines(post)],
  )
}

function commonErrors({ components }: OpenApiDocument): readonly string[] {
  return [
    '## Errors of every route',
    '',
    ...table(
      ['status', 'error', 'meaning'],
      Object.values(components.responses).flatMap(({ description }) => errorRows(description)),
    ),
    '',
  ]
}

function endpointSection({ method, path, operation }: Endpoint): readonly string[] {
  const { summary, description = '', parameters = [] } = operation
  return [
    `## ${summary}`,
    '',
    '```http',
    `${method} ${path}`,
    '```',
    '',
    description,
    '',
    ...(parameters.length === 0
      ? []
      : [
          ...table(
            ['parameter', 'in', 'type', 'meaning'],
            parameters.map((parameter) => [
              code(parameter.required ? parameter.name : `${parameter.name}?`),
              parameter.in,
              typeText(parameter.schema),
              parameter.description ?? '',
            ]),
          ),
          '',
        ]),
    ...bodyLines(operation),
    ...responseLines(operation),
  ]
}

function bodyLines({ requestBody }: Operation): readonly string[] {
  if (requestBody === undefined) return []
  const { required, content } = requestBody
  const types = Object.values(content).map(({ schema }) => typeText(schema))
  return [
    `**Body**${required ? '' : ', optional'}: ${types.join(' or ')}`,
    '',
    ...Object.values(content).flatMap(exampleLines),
  ]
}

function exampleLines({ examples = {} }: MediaType): readonly string[] {
  return Object.values(examples).flatMap(({ summary, value }) => [
    `${summary}:`,
    '',
    '```json',
    JSON.stringify(value, undefined, 2),
    '```',
    '',
  ])
}

/** Returns the responses of an operation in addition to those of every route. */
function responseLines({ responses }: Operation): readonly string[] {
  const own = Object.entries(responses).flatMap(([status, response]) =>
    '$ref' in response ? [] : [{ status, response }],
  )
  const answers = own
    .map(({ status, response }) => ({ status, response, meaning: withoutErrors(response) }))
    .filter(({ meaning }) => meaning !== '')
  const errors = own.flatMap(({ response }) => errorRows(response.description))
  return [
    ...table(
      ['status', 'body', 'meaning'],
      answers.map(({ status, response, meaning }) => [status, contentText(response), meaning]),
    ),
    '',
    ...answers.flatMap(({ response }) =>
      Object.values(response.content ?? {}).flatMap(exampleLines),
    ),
    ...(errors.length === 0
      ? []
      : [
          'Errors in addition to those [of every route](index.md#errors-of-every-route):',
          '',
          ...table(['status', 'error', 'meaning'], errors),
          '',
        ]),
  ]
}

function contentText({ content = {} }: ApiResponse): string {
  return Object.entries(content)
    .map(([type, { schema }]) =>
      type === 'application/json' ? typeText(schema) : `${typeText(schema)} as ${code(type)}`,
    )
    .join(' or ')
}

/** Returns the description of a response without the list of its errors. */
function withoutErrors({ description }: ApiResponse): string {
  return description.replace(/(?:, or an error:\n\n)?^- `[^]*$/m, '').replaceAll('\n', ' ')
}

/** Reads the errors that the description of a response lists. */
function errorRows(description: string): readonly (readonly string[])[] {
  return [...description.matchAll(/^- `(\w+)`: (.*)$/gm)].map(([, error = '', meaning = '']) => [
    String(ERROR_CODES[error as keyof typeof ERROR_CODES].status),
    code(error),
    meaning,
  ])
}
