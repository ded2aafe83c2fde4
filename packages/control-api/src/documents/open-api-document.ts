/** Builds the OpenAPI document of a server from the route table and the schemas of the protocol. */
import { API_VERSION } from '@tutti/gateway/internal'
import { ROUTES, WebhookDelivery, type RouteName } from '@tutti/protocol'
import type { Route } from '@tutti/protocol/internal'

import { listAreas, type Area } from './areas.ts'
import { DOCUMENTATION_URL, INTRODUCTION } from './introduction.ts'
import { commonResponses } from './open-api-errors.ts'
import { buildOperation } from './open-api-operation.ts'
import { schemaComponents } from './schema-components.ts'
import { KEY_SCHEME, TICKET_SCHEME } from './security-schemes.ts'

import type { ServerExtension } from '@tutti/gateway/internal'
import type { OpenApiDocument, Operation, PathItem } from './open-api-types.ts'
import type { JsonSchema, SchemaComponents } from './schema-components.ts'

/** Builds the document of a server with some extensions. */
export function buildOpenApiDocument(extensions: readonly ServerExtension[]): OpenApiDocument {
  const areas = listAreas(extensions)
  const components = schemaComponents()
  const paths = buildPaths(areas, components)
  const delivery = buildWebhook(components)
  const responses = commonResponses(components)
  return {
    openapi: '3.1.1',
    info: {
      title: 'Tutti control API',
      version: API_VERSION,
      description: INTRODUCTION,
      license: { name: 'Apache 2.0', identifier: 'Apache-2.0' },
    },
    externalDocs: { url: DOCUMENTATION_URL, description: 'Documentation of Tutti' },
    servers: [{ url: '/', description: 'This server' }],
    tags: areas.map(({ name, description }) => ({ name, description })),
    paths,
    webhooks: { deliver: { post: delivery } },
    components: {
      schemas: addDiscriminators(components.all()),
      responses,
      securitySchemes: { key: KEY_SCHEME, ticket: TICKET_SCHEME },
    },
  }
}

/** Returns all paths in the order of the areas. */
function buildPaths(
  areas: readonly Area[],
  components: SchemaComponents,
): Readonly<Record<string, PathItem>> {
  const table: Readonly<Record<RouteName, Route>> = ROUTES
  const paths: Record<string, PathItem> = {}
  for (const { name: area, routes } of areas) {
    for (const name of routes) {
      const route = table[name]
      const operation = buildOperation(name, { route, area }, components)
      paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: operation }
    }
  }
  return paths
}

function buildWebhook(components: SchemaComponents): Operation {
  return {
    operationId: 'deliver',
    tags: ['Runs'],
    summary: 'Notify a webhook that a run has ended or that a review waits for a decision',
    description:
      'Sent to the webhooks that a run names, and signed according to the Standard Webhooks specification in the headers `webhook-id`, `webhook-timestamp` and `webhook-signature`. A status from 200 to 299 acknowledges the delivery, and 410 ends the attempts. After any other status the server retries for about three days.',
    requestBody: {
      required: true,
      content: { 'application/json': { schema: components.refer(WebhookDelivery) } },
    },
    responses: { '2XX': { description: 'Acknowledged' } },
    security: [],
  }
}

/** Adds a discriminator to unions whose members differ by `type`, for code generators. */
function addDiscriminators(
  schemas: Readonly<Record<string, JsonSchema>>,
): Readonly<Record<string, JsonSchema>> {
  return Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => {
      const mapping = findMapping(schema, schemas)
      return mapping === undefined
        ? [name, schema]
        : [name, { ...schema, discriminator: { propertyName: 'type', mapping } }]
    }),
  )
}

/** Maps each value of `type` to its member; undefined when the schema is not such a union. */
function findMapping(
  { anyOf }: JsonSchema,
  schemas: Readonly<Record<string, JsonSchema>>,
): Readonly<Record<string, string>> | undefined {
  if (!Array.isArray(anyOf)) return undefined
  const entries = anyOf.map((member: JsonSchema) => {
    const reference = typeof member['$ref'] === 'string' ? member['$ref'] : ''
    const target = schemas[reference.slice(reference.lastIndexOf('/') + 1)]
    return [findTypeConstant(target), reference] as const
  })
  if (entries.some(([constant]) => constant === undefined)) return undefined
  return Object.fromEntries(entries)
}

function findTypeConstant(schema: JsonSchema | undefined): string | undefined {
  // NOTE: the properties of a JSON Schema are schemas by their names.
  const properties = schema?.['properties'] as Readonly<Record<string, JsonSchema>> | undefined
  const constant = properties?.['type']?.['const']
  return typeof constant === 'string' ? constant : undefined
}
