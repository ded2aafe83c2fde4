/** Resolves the server URLs of operations. Pure. */
import { scalarText } from '../http/request-parts.ts'
import { DocumentProblem, asObject, asObjects, asText, type OpenApiNode } from './document.ts'

/** The scopes of servers; the first one with servers applies. */
export interface ServerScope {
  readonly operation: OpenApiNode
  readonly pathItem: OpenApiNode
  readonly root: OpenApiNode
}

/**
 * Returns the URL that precedes the path of an operation, without a slash at the end of its path. A base URL replaces
 * absolute servers, and is the base of relative ones. Its query is part of each request.
 *
 * @throws {DocumentProblem} when the document has no usable server.
 */
export function resolveServerUrl(
  { operation, pathItem, root }: ServerScope,
  baseUrl: string | undefined,
): string {
  const [server] = [operation, pathItem, root].flatMap((scope) => asObjects(scope['servers']))
  const given = server === undefined ? '' : fillVariables(server)
  const isAbsolute = /^[a-z][a-z\d+.-]*:\/\//i.test(given)
  const text = isAbsolute && baseUrl !== undefined ? baseUrl : given
  if (!isAbsolute && baseUrl === undefined) {
    const got = server === undefined ? 'no server' : `the server "${given}"`
    throw new DocumentProblem(`the document has ${got}: set baseUrl`)
  }
  if (/[{}]/.test(text)) {
    throw new DocumentProblem(`the server "${text}" has a variable without a value: set baseUrl`)
  }
  const url = given === '' ? URL.parse(baseUrl ?? '') : URL.parse(text, baseUrl)
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new DocumentProblem(`the server "${given}" must be an http or https URL`)
  }
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '') + url.search
}

function fillVariables(server: OpenApiNode): string {
  const variables = asObject(server['variables'])
  const url = asText(server['url']) ?? ''
  return url.replaceAll(/\{([^{}]+)\}/g, (variable, name: string) => {
    const value = asObject(variables[name])['default']
    return value === undefined ? variable : scalarText(value)
  })
}
