/**
 * Regular expressions without backtracking, for patterns that the author did not write in code.
 *
 *   text of a pattern ─parse─▶ tree ─build─▶ states      text ─all states at once─▶ whether any part matches
 *
 * PROTO-N1 The meaning is that of ECMAScript with the flag `u`: each class of characters is judged by the engine of
 *    JavaScript, one character at a time.
 * PROTO-N2 A test takes steps in proportion to text and pattern, and counts them.
 * PROTO-N3 What needs backtracking (lookahead, lookbehind, references to groups) and what would mean something else in
 *    other languages (`\Z`, `(?i)`) is refused, never changed.
 * PROTO-N4 Escapes and brackets that only the flag `u` refuses (`\:`, `[\w-\.]`, a single `{`) mean what they mean
 *    without it.
 */
import { parsePattern, type Tree } from './parse-pattern.ts'
import type { CheckRun } from './check-run.ts'
import type { Pattern, PatternEngine } from './pattern.ts'

/** Maximum number of states of all patterns of one engine; counted repetitions multiply them. */
const MAX_STATES = 50_000

/** Creates an engine for the patterns of one schema from outside. The same text gives the same pattern. */
export function createLinearPatterns(): PatternEngine {
  const known = new Map<string, Pattern>()
  let left = MAX_STATES
  return (source) => {
    const before = known.get(source)
    if (before !== undefined) return before
    const states = new States(left)
    const start = build(parsePattern(source), states.add({ kind: 'match' }), states)
    left -= states.list.length
    const pattern = new LinearPattern(states.list, start)
    known.set(source, pattern)
    return pattern
  }
}

/** A state, with the indexes of the states after it. */
type State =
  | { readonly kind: 'match' }
  | {
      readonly kind: 'character'
      readonly matches: (point: number) => boolean
      readonly next: number
    }
  | { readonly kind: 'assertion'; readonly holds: Assertion; readonly next: number }
  | { readonly kind: 'split'; readonly first: number; second: number }

/** Condition on the characters around a position; undefined at the ends of the text. */
type Assertion = (before: number | undefined, after: number | undefined) => boolean

/** States under construction. */
class States {
  readonly list: State[] = []
  readonly #most: number

  constructor(most: number) {
    this.#most = most
  }

  /** Adds a state and returns its index. */
  add(state: State): number {
    if (this.list.length >= this.#most) {
      throw new SyntaxError('needs too many states, because it repeats parts many times')
    }
    return this.list.push(state) - 1
  }
}

/** Adds the states of a tree, after which the state `next` follows. Returns the first one. */
function build(tree: Tree, next: number, states: States): number {
  switch (tree.kind) {
    case 'character':
      return states.add({ kind: 'character', matches: tree.matches, next })
    case 'assertion':
      return states.add({ kind: 'assertion', holds: ASSERTIONS[tree.name], next })
    case 'sequence':
      return tree.parts.reduceRight((after, part) => build(part, after, states), next)
    case 'choice':
      return tree.parts
        .map((part) => build(part, next, states))
        .reduceRight((second, first) => states.add({ kind: 'split', first, second }))
    case 'repeat':
      return buildRepeat(tree, next, states)
  }
}

function buildRepeat(
  { part, least, most }: Extract<Tree, { kind: 'repeat' }>,
  next: number,
  states: States,
): number {
  let first = most === Infinity ? buildLoop(part, next, states) : next
  for (let count = least; most !== Infinity && count < most; count += 1) {
    first = states.add({ kind: 'split', first: build(part, first, states), second: next })
  }
  for (let count = 0; count < least; count += 1) first = build(part, first, states)
  return first
}

function buildLoop(part: Tree, next: number, states: States): number {
  const loop: Extract<State, { kind: 'split' }> = { kind: 'split', first: next, second: next }
  const index = states.add(loop)
  loop.second = build(part, index, states)
  return index
}

const WORD = /^\w$/

function isWord(point: number | undefined): boolean {
  return point !== undefined && point < 128 && WORD.test(String.fromCodePoint(point))
}

const ASSERTIONS: Readonly<Record<Extract<Tree, { kind: 'assertion' }>['name'], Assertion>> = {
  start: (before) => before === undefined,
  end: (_, after) => after === undefined,
  boundary: (before, after) => isWord(before) !== isWord(after),
  inside: (before, after) => isWord(before) === isWord(after),
}

/** Number of states that are visited in the time of a step. */
const STATES_PER_STEP = 2

class LinearPattern implements Pattern {
  readonly #states: readonly State[]
  readonly #start: number
  /** Position at which each state was reached last, plus one. */
  readonly #seen: Uint32Array
  /** Whether a match can only begin at the start of the text. */
  readonly #isAnchored: boolean

  constructor(states: readonly State[], start: number) {
    this.#states = states
    this.#start = start
    this.#seen = new Uint32Array(states.length)
    const first = states[start]
    this.#isAnchored = first?.kind === 'assertion' && first.holds === ASSERTIONS.start
  }

  test(text: string, run: CheckRun): boolean {
    this.#seen.fill(0)
    run.spend(1 + this.#states.length / CLEARED_PER_STEP)
    let open: number[] = []
    let before: number | undefined
    for (let index = 0; index <= text.length;) {
      const after = text.codePointAt(index)
      if (index === 0 || !this.#isAnchored) open.push(this.#start)
      else if (open.length === 0) return false
      const reached = this.#reach(open, { before, after, mark: index + 1, run })
      if (reached === undefined) return true
      if (after === undefined) return false
      open = reached
      before = after
      index += after > 0xffff ? 2 : 1
    }
    return false
  }

  /**
   * Returns the states after the next character, from those before it; undefined when a match ends here.
   */
  #reach(open: number[], { before, after, mark, run }: Position): number[] | undefined {
    const next: number[] = []
    let visited = 0
    for (let index = open.pop(); index !== undefined; index = open.pop()) {
      visited += 1
      if (this.#seen[index] === mark) continue
      this.#seen[index] = mark
      const state = this.#states[index]
      if (state === undefined || state.kind === 'match') return undefined
      if (state.kind === 'split') open.push(state.first, state.second)
      else if (state.kind === 'assertion') {
        if (state.holds(before, after)) open.push(state.next)
      } else if (after !== undefined && state.matches(after)) next.push(state.next)
    }
    run.spend(visited / STATES_PER_STEP)
    return next
  }
}

/** Number of states that are cleared in the time of a step. */
const CLEARED_PER_STEP = 500

interface Position {
  readonly before: number | undefined
  readonly after: number | undefined
  /** Number of the position, from 1. */
  readonly mark: number
  readonly run: CheckRun
}
