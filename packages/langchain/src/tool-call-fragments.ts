/** Joins the pieces in which a provider streams its tool calls. No I/O. */
import type { ToolCall } from '@tutti/core'

/** A piece of a tool call, in LangChain's form. */
export interface ToolCallFragment {
  readonly index?: number | string | undefined
  readonly id?: string | undefined
  readonly name?: string | undefined
  /** A piece of the arguments' JSON text. */
  readonly args?: string | undefined
}

interface OpenCall {
  readonly index: string | undefined
  id: string | undefined
  name: string | undefined
  readonly args: string[]
  readonly scan: JsonScan
}

/**
 * Joins `fragments` to calls, in the order of their first pieces. Arguments are the streamed text, also when
 * it is not JSON; LangChain's own parser would repair an incomplete text to a wrong call. A call without an id,
 * or with the id of another one, gets one from `makeId`.
 *
 * LC-F1 Index and id decide which call a piece continues. Some services number all calls of a turn 0, and others send
 *    another id with each piece. Then the name decides: a piece with a name begins a call, and so does a piece with
 *    another id after complete arguments. A piece with neither index nor id nor name continues the last call.
 * LC-F2 A piece that repeats a call with its whole arguments adds nothing.
 */
export function joinFragments(
  fragments: readonly ToolCallFragment[],
  makeId: () => string,
): readonly ToolCall[] {
  const ids = new Set<string>()
  return openCalls(fragments).map((call) => {
    const id = call.id === undefined || ids.has(call.id) ? makeId() : call.id
    ids.add(id)
    return { id, name: call.name ?? '', arguments: argumentText(call.args.join('')) }
  })
}

/**
 * Returns whether `fragments` are complete calls with explicit arguments, so that nothing can follow. A call without
 * arguments is not: a stream may have been cut before them.
 */
export function areCompleteCalls(fragments: readonly ToolCallFragment[]): boolean {
  const calls = openCalls(fragments)
  return (
    calls.length > 0 &&
    calls.every(({ name = '', args }) => {
      const text = args.join('')
      return text.trim().endsWith('}') && isCompleteCall({ id: '', name, arguments: text })
    })
  )
}

/**
 * Joins `fragments` to one piece for each call. Such pieces join to the same calls, and reading them takes a time that
 * grows with the text: LangChain parses all arguments of an answer again with each piece.
 */
export function mergeFragments(
  fragments: readonly ToolCallFragment[],
): readonly ToolCallFragment[] {
  return openCalls(fragments).map(({ id, name, args }, index) => ({
    index,
    id,
    name,
    args: args.join(''),
  }))
}

/** Calls so far. Mutable. */
interface Calls {
  readonly list: OpenCall[]
  readonly byIndex: Map<string, OpenCall>
  readonly byId: Map<string, OpenCall>
}

function openCalls(fragments: readonly ToolCallFragment[]): readonly OpenCall[] {
  const calls: Calls = { list: [], byIndex: new Map(), byId: new Map() }
  for (const fragment of fragments) {
    const args = fragment.args ?? ''
    const open = findOpenCall(calls, fragment)
    const call = open ?? begin(calls, fragment)
    call.id ??= nonBlank(fragment.id)
    if (call.id !== undefined) calls.byId.set(call.id, call)
    call.name ??= nonBlank(fragment.name)
    const repeats = open !== undefined && nonBlank(fragment.name) !== undefined
    if (repeats && call.scan.isComplete && args === call.args.join('')) continue
    call.args.push(args)
    call.scan.add(args)
  }
  return calls.list.filter(({ name, args }) => name !== undefined || !isBlank(args))
}

/** Returns the JSON text of arguments: providers send no text for a call without arguments. */
export function argumentText(text: string): string {
  return text.trim() === '' ? '{}' : text
}

/** Returns whether a call has a name and all of its arguments. */
export function isCompleteCall({ name, arguments: text }: ToolCall): boolean {
  if (name === '') return false
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** Returns the call that `fragment` continues; undefined if it begins one. [LC-F1] */
function findOpenCall(
  calls: Calls,
  { index, id: givenId, name: givenName, args = '' }: ToolCallFragment,
): OpenCall | undefined {
  const [id, name] = [nonBlank(givenId), nonBlank(givenName)]
  const atIndex = index === undefined ? undefined : calls.byIndex.get(String(index))
  const withId = id === undefined ? undefined : calls.byId.get(id)
  const open = atIndex ?? withId ?? calls.list.at(-1)
  if (open === undefined) return undefined
  const hasOtherIndex = index !== undefined && open.index !== undefined && open !== atIndex
  const hasOtherId = id !== undefined && open.id !== undefined && open.id !== id
  const fits = !hasOtherIndex && !hasOtherId
  if (name === undefined) return fits || !open.scan.isComplete ? open : undefined
  if (open.name === undefined) return fits ? open : undefined
  if (hasOtherIndex || open.name !== name) return undefined
  const isRepeated = open.scan.isComplete && (args.trim() === '' || args === open.args.join(''))
  const isMarked = open === atIndex || open === withId
  if (!hasOtherId && isMarked && isRepeated) return open
  if (open.scan.isComplete) return undefined
  return open.scan.hasBegun || (fits && isMarked) ? open : undefined
}

function begin(calls: Calls, { index }: ToolCallFragment): OpenCall {
  const call: OpenCall = {
    index: index === undefined ? undefined : String(index),
    id: undefined,
    name: undefined,
    args: [],
    scan: new JsonScan(),
  }
  calls.list.push(call)
  if (call.index !== undefined) calls.byIndex.set(call.index, call)
  return call
}

/** Scans JSON text that arrives in pieces. Keeps only its state, so that long arguments are read once. */
class JsonScan {
  #depth = 0
  #inText = false
  #escaped = false
  #hasBegun = false

  /** Whether a character other than a space was read. */
  get hasBegun(): boolean {
    return this.#hasBegun
  }

  /** Whether every bracket and text that began has ended. */
  get isComplete(): boolean {
    return this.#hasBegun && this.#depth <= 0 && !this.#inText
  }

  add(text: string): void {
    for (const character of text) {
      if (this.#escaped) this.#escaped = false
      else if (this.#inText && character === '\\') this.#escaped = true
      else if (character === '"') this.#inText = !this.#inText
      else if (!this.#inText && (character === '{' || character === '[')) this.#depth += 1
      else if (!this.#inText && (character === '}' || character === ']')) this.#depth -= 1
      this.#hasBegun ||= character.trim() !== ''
    }
  }
}

function isBlank(args: readonly string[]): boolean {
  return args.every((text) => text.trim() === '')
}

function nonBlank(text: string | undefined): string | undefined {
  return text === '' ? undefined : text
}
