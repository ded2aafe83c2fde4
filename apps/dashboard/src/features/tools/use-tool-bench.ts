/** What is typed for a tool, what is wrong with it, and what came of its calls. */
import { useMemo, useState, useRef } from 'react'
import { useMutation } from '@tanstack/react-query'

import { useStore } from '../../lib/store.ts'
import { draftOf, checkDraft } from '../../ui/schema-form/form-draft.ts'
import { initialValue } from '../../ui/schema-form/initial-value.ts'
import { failureProblems } from '../../api/failure.ts'
import { valueAtPointer } from '../../ui/schema-form/pointer.ts'
import { useServer } from '../../api/server.ts'
import {
  keepDraft,
  toolCalls,
  toolDrafts,
  type BenchCall,
  beginCall,
  endCall,
} from './tool-memory.ts'

import type { InvokeToolBody, ToolInfo, Problem } from '@tutti/protocol'

/** What a tool takes that does not say what it takes. */
const ANYTHING = { type: 'object' }

export function useToolBench({ name, inputSchema: schema = ANYTHING }: ToolInfo) {
  const [wasTried, setTried] = useState(false)
  const [chosen, setChosen] = useState<number>()
  const { invoke, isBusy, stop } = useToolCalls(name)
  const initial = useMemo(() => draftOf(initialValue(schema, schema) ?? {}), [schema])
  const draft = useStore(toolDrafts).get(name) ?? initial
  const all = useStore(toolCalls)
  const calls = useMemo(() => all.filter((call) => call.tool === name), [all, name])
  const { problems: own, unchecked } = useMemo(() => checkDraft(schema, draft), [schema, draft])
  const problems = useMemo(
    () => [...own, ...refusedInput(calls[0], draft.value)],
    [own, calls, draft.value],
  )
  // NOTE: what is no text and no object has a problem, and is not sent.
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
    change: (next: typeof draft) => keepDraft(name, next),
    clear() {
      setTried(false)
      keepDraft(name, initial)
    },
    /** Calls the tool with what is typed, or gives the places of what is wrong with it. */
    tryCall(): readonly string[] {
      setTried(true)
      if (own.length === 0 && !isBusy) call(input)
      return own.map(({ path }) => path)
    },
    /** Shows an earlier call, with its input in the form. */
    take({ id, input: value }: BenchCall) {
      setChosen(id)
      keepDraft(name, draftOf(value))
    },
  }
}

/** Where the body of a call holds its input. */
const INPUT = '/input'

/** The problems of the last call whose places still hold what they held then. */
function refusedInput(call: BenchCall | undefined, value: unknown): readonly Problem[] {
  if (call?.outcome.kind !== 'failed') return []
  return failureProblems(call.outcome.error)
    .filter(({ path }) => path === INPUT || path.startsWith(`${INPUT}/`))
    .map((problem) => ({ ...problem, path: problem.path.slice(INPUT.length) }))
    .filter(({ path }) => isSame(valueAtPointer(call.input, path), valueAtPointer(value, path)))
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}

/** Longer than tools take by default; the server has a limit of its own for each tool. */
const TIMEOUT_MS = 300_000

/** Calls the tool of a name; one call at a time. */
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
