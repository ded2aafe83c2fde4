/** Joins the pieces in which a provider streams its tool calls. Pure. */
import type { ToolCall } from '@tutti/core'

/** A piece of a tool call, in LangChain's form. */
export interface ToolCallFragment {
  readonly index?: number | string | undefined
  readonly id?: string | undefined
  readonly name?: string | undefined
  /** A piece of the JSON text of the arguments. */
  readonly args?: string | undefined
}

interface OpenCall {
  readonly index: number | string | undefined
  id: string | undefined
  name: string | undefined
  readonly args: string[]
}

/**
 * Joins `fragments` to calls, in the order of their first pieces. Arguments are the streamed text, also when
 * it is not JSON; LangChain's own parser would repair an incomplete text to a wrong call. A call without an id
 * gets one from `makeId`.
 */
export function joinFragments(
  fragments: readonly ToolCallFragment[],
  makeId: () => string,
): readonly ToolCall[] {
  const calls: OpenCall[] = []
  for (const fragment of fragments) {
    const call =
      calls.findLast((open) => continuesCall(open, fragment, calls)) ?? begin(calls, fragment)
    call.id ??= nonBlank(fragment.id)
    call.name ??= nonBlank(fragment.name)
    call.args.push(fragment.args ?? '')
  }
  return calls.map((call) => ({
    id: call.id ?? makeId(),
    name: call.name ?? '',
    arguments: argumentText(call.args.join('')),
  }))
}

/** Returns the JSON text of arguments: providers send no text for a call without arguments. */
export function argumentText(text: string): string {
  return text.trim() === '' ? '{}' : text
}

/**
 * Returns whether `fragment` continues the call `open`. Index and id decide. Some services number all calls of
 * a turn 0, so that two ids at one index are two calls; a piece with neither continues the last call.
 */
function continuesCall(
  open: OpenCall,
  fragment: ToolCallFragment,
  calls: readonly OpenCall[],
): boolean {
  const id = nonBlank(fragment.id)
  const sameId = open.id !== undefined && open.id === id
  if (open.index !== undefined && fragment.index !== undefined) {
    return open.index === fragment.index && (sameId || open.id === undefined || id === undefined)
  }
  if (id !== undefined) return sameId
  return nonBlank(fragment.name) === undefined && open === calls.at(-1)
}

function begin(calls: OpenCall[], { index }: ToolCallFragment): OpenCall {
  const call: OpenCall = { index, id: undefined, name: undefined, args: [] }
  calls.push(call)
  return call
}

function nonBlank(text: string | undefined): string | undefined {
  return text === '' ? undefined : text
}
