/** Names routes as the protocol's table does. */
import { ROUTES } from '@tutti/protocol'

import type { Route } from './route.ts'

const NAMES: ReadonlyMap<string, string> = new Map(
  Object.entries(ROUTES).map(([name, { method, path }]) => [`${method} ${path}`, name]),
)

/** The name of a route, such as `cancelRun`; its method and path when the table does not have it. */
export function routeName({ method, path }: Pick<Route, 'method' | 'path'>): string {
  const address = `${method} ${path}`
  return NAMES.get(address) ?? address
}
