/** Calls a tool and keeps what came of it. */
import { useMutation } from '@tanstack/react-query'
import { useRef } from 'react'

import { useServer } from '../../api/server.ts'
import { beginCall, endCall, type ToolCall } from './tool-memory.ts'

/** Longer than tools take by default; the server has a limit of its own for each tool. */
const TIMEOUT_MS = 300_000

/** Calls the tool of a name; one call at a time. */
export function useToolCalls(name: string) {
  const { client } = useServer()
  const abort = useRef<AbortController>(undefined)
  const mutation = useMutation({
    mutationFn: async (input: ToolCall['input']) => {
      const id = beginCall(name, input, Date.now())
      const controller = new AbortController()
      abort.current = controller
      try {
        const { signal } = controller
        const answer = await client.tools.invoke(name, input, { timeoutMs: TIMEOUT_MS, signal })
        endCall(id, { kind: 'answered', answer })
      } catch (error) {
        endCall(id, { kind: 'failed', error })
        throw error
      }
    },
  })
  return { invoke: mutation.mutate, isBusy: mutation.isPending, stop: () => abort.current?.abort() }
}
