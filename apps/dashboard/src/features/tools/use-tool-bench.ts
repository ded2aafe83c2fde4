/** Edits, validates and sends the input of a tool. */
import { useMemo, useState, useRef } from 'react'
import { useMutation } from '@tanstack/react-query'

import { useStore } from '../../lib/store.ts'
import { createFormDraft, checkDraft } from '../../ui/schema-form/form-draft.ts'
import { createInitialValue } from '../../ui/schema-form/initial-value.ts'
import { findFailureProblems } from '../../api/failure.ts'
import { getValueAt } from '../../ui/schema-form/pointer.ts'
import { useServer } from '../../api/server.ts'
import {
  storeToolDraft,
  toolCalls,
  toolDrafts,
  type BenchCall,
  beginCall,
  endCall,
} from './tool-memory.ts'

import type { ToolInfo } from '@tutti/protocol'
import type { InvokeToolBody, Problem } from '@tutti/protocol/internal'

/** Schema of a tool that declares none. */
const ANYTHING = { type: 'object' }

export function useToolBench({ name, inputSchema: schema = ANYTHING }: ToolInfo) {
  const [wasTried, setTried] = useState(false)
  const [chosen, setChosen] = useState<number>()
  const { invoke, isBusy, stop } = useToolCalls(name)
  const initial = useMemo(() => createFormDraft(createInitialValue(schema, schema) ?? {}), [schema])
  const draft = useStore(toolDrafts).get(name) ?? initial
  const all = useStore(toolCalls)
  const calls = useMemo(() => all.filter((call) => call.tool === name), [all, name])
  const { problems: own, unchecked } = useMemo(() => checkDraft(schema, draft), [schema, draft])
  const problems = useMemo(
    () => [...own, ...findRefusedInput(calls[0], draft.value)],
    [own, calls, draft.value],
  )
  // NOTE: a value that is neither text nor an object has a problem, and is not sent.
  const input = draft.value as InvokeToolBody['input']
  const call = (value: InvokeToolBody['input']): void => {
    setChosen(undefined)
    invoke(value)
  }
  return {
    schema,
    draft,
    problems,
    unchecked,
    wasTried,
    input,
    calls,
    shown: calls.find(({ id }) => id === chosen) ?? calls[0],
    isBusy,
    stop,
    call,
    change: (next: typeof draft) => storeToolDraft(name, next),
    clear() {
      setTried(false)
      storeToolDraft(name, initial)
    },
    /** Calls the tool if the input is valid; otherwise returns the pointers of the problems. */
    tryCall(): readonly string[] {
      setTried(true)
      if (own.length === 0 && !isBusy) call(input)
      return own.map(({ path }) => path)
    },
    /** Shows an earlier call, with its input in the form. */
    take({ id, input: value }: BenchCall) {
      setChosen(id)
      storeToolDraft(name, createFormDraft(value))
    },
  }
}

/** Pointer of the input in the body of a call. */
const INPUT = '/input'

/** Returns the server's problems of the last call whose fields have not changed since. */
function findRefusedInput(call: BenchCall | undefined, value: unknown): readonly Problem[] {
  if (call?.outcome.kind !== 'failed') return []
  return findFailureProblems(call.outcome.error)
    .filter(({ path }) => path === INPUT || path.startsWith(`${INPUT}/`))
    .map((problem) => ({ ...problem, path: problem.path.slice(INPUT.length) }))
    .filter(({ path }) => isSame(getValueAt(call.input, path), getValueAt(value, path)))
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}

/** Timeout in milliseconds, longer than the default limits of tools on the server. */
const TIMEOUT_MS = 300_000

/** Calls a tool, one call at a time. */
function useToolCalls(name: string) {
  const { client } = useServer()
  const abort = useRef<AbortController>(undefined)
  const mutation = useMutation({
    mutationFn: async (input: BenchCall['input']) => {
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
