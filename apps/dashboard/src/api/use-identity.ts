/** The identity of the page's key. */
import { useQuery } from '@tanstack/react-query'

import { useServer } from './server.ts'

import type { Identity, Scope } from '@tutti/protocol'

/** Reads the name, scopes and roles of the page's key once; undefined until then. */
export function useIdentity(): Identity | undefined {
  const { client } = useServer()
  const { data } = useQuery({
    queryKey: ['identity'],
    queryFn: ({ signal }) => client.identity({ signal }),
  })
  return data
}

/**
 * Returns the reason why the page's key lacks `scope`; undefined when it has it, or while that is
 * unknown.
 */
export function useMissingScope(scope: Scope): string | undefined {
  const identity = useIdentity()
  if (identity === undefined) return undefined
  const { name, scopes } = identity
  if (scopes.includes(scope) || scopes.includes('admin')) return undefined
  return `Key "${name}" does not have the scope ${scope}`
}
