/** What is typed for a tool, what is wrong with it, and what came of its calls. */
import { useMemo, useState } from 'react'

import { useStore } from '../../lib/use-store.ts'
import { draftOf } from '../../ui/schema-form/form-draft.ts'
import { initialValue } from '../../ui/schema-form/initial-value.ts'
import { checkDraft } from '../../ui/schema-form/schema-problems.ts'
import { refusedInput } from './refused-input.ts'
import { keepDraft, toolCalls, toolDrafts, type ToolCall } from './tool-memory.ts'
import { useToolCalls } from './use-tool-calls.ts'

import type { InvokeToolBody, ToolInfo } from '@tutti/protocol'

/** What a tool takes that does not say what it takes. */
const ANYTHING = { type: 'object' }

/** The bench of a tool. */
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
    take({ id, input: value }: ToolCall) {
      setChosen(id)
      keepDraft(name, draftOf(value))
    },
  }
}
