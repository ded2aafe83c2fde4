/** Finds the operations of a document and their descriptions. Pure. */
import { asObject, asText, type OpenApiNode, type OpenApiReader } from './document.ts'

import type { OpenApiOperation } from './options.ts'

/** An operation of a document. */
export interface FoundOperation extends OpenApiOperation {
  readonly operation: OpenApiNode
  readonly pathItem: OpenApiNode
}

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch'] as const

/** Returns every operation, in the order of the document. */
export function findOperations(document: OpenApiReader): readonly FoundOperation[] {
  return Object.entries(asObject(document.root['paths'])).flatMap(([path, given]) => {
    const pathItem = document.resolve(given)
    return METHODS.filter((method) => method in pathItem).map((method) => {
      const operation = asObject(pathItem[method])
      const tags = operation['tags']
      return {
        id: asText(operation['operationId']) ?? `${method.toUpperCase()} ${path}`,
        method: method.toUpperCase(),
        path,
        tags: Array.isArray(tags) ? tags.map(String) : [],
        deprecated: operation['deprecated'] === true,
        operation,
        pathItem,
      }
    })
  })
}

/** Maximum number of characters of a description; documents may contain pages of text. */
export const MAX_DESCRIPTION_LENGTH = 1000

/** Returns the description of the tool of an operation: its summary and description, limited in length. */
export function describeOperation({ operation, method, path }: FoundOperation): string {
  const parts = [operation['summary'], operation['description']]
    .map((part) => asText(part)?.trim() ?? '')
    .filter((part, index, all) => part !== '' && all.indexOf(part) === index)
  const text = parts.join('\n')
  if (text === '') return `${method} ${path}`
  if (text.length <= MAX_DESCRIPTION_LENGTH) return text
  return `${text.slice(0, MAX_DESCRIPTION_LENGTH - 1).replace(/[\uD800-\uDBFF]$/, '')}…`
}

/** Returns the schema of the JSON response of a successful call; undefined when there is none. */
export function findResponseSchema(document: OpenApiReader, operation: OpenApiNode): unknown {
  const responses = asObject(operation['responses'])
  const [status] = Object.keys(responses)
    .filter((code) => /^2(\d\d|XX)$/i.test(code))
    .toSorted()
  if (status === undefined) return undefined
  const content = asObject(document.resolve(responses[status])['content'])
  const type = Object.keys(content).find((one) => /^[^;]*[/+]json\b/i.test(one))
  return type === undefined ? undefined : asObject(content[type])['schema']
}
