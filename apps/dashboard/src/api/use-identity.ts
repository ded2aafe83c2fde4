/** The key of the page, and what it may do. */
import { useQuery } from '@tanstack/react-query'

import { useServer } from './server.ts'

import type { Identity, Scope } from '@tutti/protocol'

/** The name, scopes and roles of the key of the page; read once. */
export function useIdentity(): Identity | undefined {
  const { client } = useServer()
  const { data } = useQuery({
    queryKey: ['identity'],
    queryFn: ({ signal }) => client.identity({ signal }),
  })
  return data
}

/** Returns the reason why the key of the page lacks `scope`; undefined when it has it, or while that is unknown. */
export function useMissingScope(scope: Scope): string | undefined {
  const identity = useIdentity()
  if (identity === undefined) return undefined
  const { name, scopes } = identity
  if (scopes.includes(scope) || scopes.includes('admin')) return undefined
  return `Key "${name}" does not have the scope ${scope}`
}
