/** What the server offers. */
import { useQuery } from '@tanstack/react-query'

import { useServer } from './server.ts'

/** The tools, models and ensembles of the server; read once. */
export function useCapabilities() {
  const { client } = useServer()
  return useQuery({
    queryKey: ['capabilities'],
    queryFn: ({ signal }) => client.capabilities({ signal }),
  })
}
