/** Capabilities of the server. */
import { useQuery } from '@tanstack/react-query'

import { useServer } from './server.ts'

/** Reads the tools, models and ensembles of the server once. */
export function useCapabilities() {
  const { client } = useServer()
  return useQuery({
    queryKey: ['capabilities'],
    queryFn: ({ signal }) => client.capabilities({ signal }),
  })
}
