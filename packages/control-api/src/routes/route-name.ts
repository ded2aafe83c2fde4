/** Looks routes up in the protocol's table. */
import { ROUTES, type Route as TableRoute } from '@tutti/protocol'

import type { HttpRoute } from '@tutti/gateway'

const NAMES: ReadonlyMap<string, string> = new Map(
  Object.entries(ROUTES).map(([name, { method, path }]) => [`${method} ${path}`, name]),
)

/** The name of a route, such as `cancelRun`; its method and path when the table does not have it. */
export function routeName({ method, path }: Pick<HttpRoute, 'method' | 'path'>): string {
  const address = `${method} ${path}`
  return NAMES.get(address) ?? address
}

const TABLE: ReadonlyMap<string, TableRoute> = new Map(
  Object.values(ROUTES).map((route) => [`${route.method} ${route.path}`, route]),
)

/** The media types that a route can send on success; undefined when it has no body or is not in the table. */
export function mediaTypesOf(
  route: Pick<HttpRoute, 'method' | 'path' | 'mediaTypes'>,
): readonly string[] | undefined {
  const listed = TABLE.get(`${route.method} ${route.path}`)
  if (route.mediaTypes !== undefined || listed === undefined) return route.mediaTypes
  const { mediaType, response } = listed
  if (mediaType !== undefined) return [mediaType]
  return response === null ? undefined : ['application/json']
}
