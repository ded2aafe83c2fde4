/**
 * What was typed for each tool and what came of it, as long as the page is open. Nothing of it is kept by
 * the browser: inputs of tools may be secret.
 */
import { createStore } from '../../lib/store.ts'

import type { FormDraft } from '../../ui/schema-form/form-draft.ts'
import type { InvokeToolBody, ToolInvocation } from '@tutti/protocol'

/** A call of a tool by hand. */
export interface BenchCall {
  readonly id: number
  readonly tool: string
  readonly input: InvokeToolBody['input']
  /** When it began, in milliseconds since 1970. */
  readonly startedAt: number
  readonly outcome:
    | { readonly kind: 'running' }
    | { readonly kind: 'answered'; readonly answer: ToolInvocation }
    | { readonly kind: 'failed'; readonly error: unknown }
}

/** Calls that are kept; an answer may be a megabyte. */
const KEPT = 50

/** The calls of this visit, newest first. */
export const toolCalls = createStore<readonly BenchCall[]>([])

/** What is typed for each tool, by its name. */
export const toolDrafts = createStore<ReadonlyMap<string, FormDraft>>(new Map())

/** Keeps what is typed for a tool. */
export function keepDraft(tool: string, draft: FormDraft): void {
  toolDrafts.set(new Map([...toolDrafts.get(), [tool, draft]]))
}

/** Notes that a call began, and gives its id. */
export function beginCall(tool: string, input: BenchCall['input'], startedAt: number): number {
  const calls = toolCalls.get()
  const id = (calls[0]?.id ?? 0) + 1
  const call: BenchCall = { id, tool, input, startedAt, outcome: { kind: 'running' } }
  toolCalls.set([call, ...calls].slice(0, KEPT))
  return id
}

/** Notes what came of a call. */
export function endCall(id: number, outcome: BenchCall['outcome']): void {
  toolCalls.set(toolCalls.get().map((call) => (call.id === id ? { ...call, outcome } : call)))
}
