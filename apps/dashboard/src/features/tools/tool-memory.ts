/**
 * Inputs and results of tool calls, in memory while the page is open. They are not stored in the
 * browser, because inputs of tools may be secret.
 */
import { createStore } from '../../lib/store.ts'

import type { FormDraft } from '../../ui/schema-form/form-draft.ts'
import type { InvokeToolBody, ToolInvocation } from '@tutti/protocol/internal'

/** A manual call of a tool. */
export interface BenchCall {
  readonly id: number
  readonly tool: string
  readonly input: InvokeToolBody['input']
  /** Start of the call, in milliseconds since 1970. */
  readonly startedAt: number
  readonly outcome:
    | { readonly kind: 'running' }
    | { readonly kind: 'answered'; readonly answer: ToolInvocation }
    | { readonly kind: 'failed'; readonly error: unknown }
}

/** Maximum number of stored calls; a response may have a megabyte. */
const MAX_CALLS = 50

/** Calls since the page was loaded, newest first. */
export const toolCalls = createStore<readonly BenchCall[]>([])

/** Drafts by tool name. */
export const toolDrafts = createStore<ReadonlyMap<string, FormDraft>>(new Map())

export function storeToolDraft(tool: string, draft: FormDraft): void {
  toolDrafts.set(new Map([...toolDrafts.get(), [tool, draft]]))
}

/** Records the start of a call and returns its id. */
export function beginCall(tool: string, input: BenchCall['input'], startedAt: number): number {
  const calls = toolCalls.get()
  const id = (calls[0]?.id ?? 0) + 1
  const call: BenchCall = { id, tool, input, startedAt, outcome: { kind: 'running' } }
  toolCalls.set([call, ...calls].slice(0, MAX_CALLS))
  return id
}

/** Records the outcome of a call. */
export function endCall(id: number, outcome: BenchCall['outcome']): void {
  toolCalls.set(toolCalls.get().map((call) => (call.id === id ? { ...call, outcome } : call)))
}
