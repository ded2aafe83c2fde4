/** Types of the parts of OpenAPI 3.1 that the document uses. @see https://spec.openapis.org/oas/v3.1.1 */
import type { JsonSchema } from './schema-components.ts'

/** An OpenAPI document. */
export interface OpenApiDocument {
  readonly openapi: string
  readonly info: {
    readonly title: string
    readonly version: string
    readonly description: string
    readonly license: { readonly name: string; readonly identifier: string }
  }
  readonly externalDocs: { readonly url: string; readonly description: string }
  readonly servers: readonly { readonly url: string; readonly description: string }[]
  readonly tags: readonly { readonly name: string; readonly description: string }[]
  readonly paths: Readonly<Record<string, PathItem>>
  readonly webhooks: Readonly<Record<string, PathItem>>
  readonly components: {
    readonly schemas: Readonly<Record<string, JsonSchema>>
    readonly responses: Readonly<Record<string, ApiResponse>>
    readonly securitySchemes: Readonly<Record<string, Readonly<Record<string, string>>>>
  }
}

/** The operations of one path, by method in lower case. */
export type PathItem = Readonly<Partial<Record<'get' | 'post' | 'delete', Operation>>>

/** A route. */
export interface Operation {
  readonly operationId: string
  readonly tags: readonly string[]
  readonly summary: string
  readonly description?: string
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: {
    readonly required: boolean
    readonly content: Readonly<Record<string, MediaType>>
  }
  /** Responses by status. */
  readonly responses: Readonly<Record<string, ApiResponse | Reference>>
  /** Alternative security requirements; the empty one means that no authentication is needed. */
  readonly security: readonly Readonly<Record<string, readonly string[]>>[]
}

/** A value in a request outside of its body. */
export interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required: boolean
  readonly description?: string
  readonly schema: JsonSchema
}

/** A response with one status. */
export interface ApiResponse {
  readonly description: string
  readonly headers?: Readonly<Record<string, Header>>
  readonly content?: Readonly<Record<string, MediaType>>
}

/** A response header. */
export interface Header {
  readonly description: string
  /** Set if every such response has the header. */
  readonly required?: true
  readonly schema: JsonSchema
}

/** A body in one media type. */
export interface MediaType {
  readonly schema: JsonSchema
  readonly examples?: Readonly<Record<string, Example>>
}

/** A valid value and what it shows. */
export interface Example {
  readonly summary: string
  readonly value: unknown
}

/** A reference to another part of the document. */
export interface Reference {
  readonly $ref: string
}
