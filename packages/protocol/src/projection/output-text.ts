/**
 * The text of the output task, as blocks.
 *
 * PROTO-T1 Each model turn has at most one text block, after its reasoning. A block is open while the model writes it.
 * PROTO-T2 The blocks of a turn are withdrawn when its call fails, when its process is lost, and when it begins again.
 * PROTO-T3 The blocks of an answer are withdrawn when its attempt fails, when the model answers again in the same
 *    attempt, and when the output has another text. A turn after a cut answer continues it instead.
 * PROTO-T4 Blocks that are neither withdrawn nor before a tool call have together the text of the output.
 */
import type { RunEventOf } from '../schemas/run-event.ts'
import { toTurnKey, type TurnPosition } from './turn-key.ts'
import type { OutputBlock, RunOperation } from './operations.ts'

type FinishReason = RunEventOf<'llm_iteration_completed'>['finishReason'] | undefined

/** A block, and its text so far. */
interface Written {
  readonly block: OutputBlock
  text: string
}

/** Answer without tool calls; several blocks if the model's output limit cut it. */
interface Answer {
  readonly blocks: readonly OutputBlock[]
  readonly text: string
  readonly isCut: boolean
}

/** Folds the events of the output task into operations on blocks. No I/O. */
export class OutputText {
  readonly #emit: (operation: RunOperation) => void
  /** Turn that began or wrote last. */
  #turn: string | undefined
  /** Turn that wrote last. */
  #writing: string | undefined
  #text: Written | undefined
  /** Reasoning that is being written. */
  #reasoning: Written | undefined
  /** Blocks of the running turn. */
  #blocks: OutputBlock[] = []
  #answer: Answer | undefined
  /** Text of the newest turn if it called tools. */
  #called: string | undefined
  /** Number of withdrawals, which makes the ids of later blocks different. */
  #withdrawals = 0

  constructor(emit: (operation: RunOperation) => void) {
    this.#emit = emit
  }

  /** Text of the newest turn, and of the turns that it continues. */
  get text(): string {
    const running = this.#text
    if (running !== undefined) return running.block.before + running.text
    return this.#called ?? this.#answer?.text ?? ''
  }

  /** Begins a turn, possibly again. */
  begin(position: TurnPosition): void {
    const key = toTurnKey(position)
    this.withdrawTurn()
    const isRestart = this.#turn === key
    this.#turn = key
    this.#emit({ type: 'turn_started', isRestart })
  }

  /** Appends text of the turn. */
  write(position: TurnPosition, delta: string): void {
    this.#enter(position)
    this.#closeReasoning()
    this.#text ??= this.#open('text', toTurnKey(position))
    this.#grow(this.#text, delta)
  }

  /** Appends reasoning of the turn. */
  reason(position: TurnPosition, delta: string): void {
    this.#enter(position)
    if (this.#reasoning === undefined) {
      const number = this.#blocks.filter(({ kind }) => kind === 'reasoning').length
      const suffix = number === 0 ? ':reasoning' : `:reasoning.${number}`
      this.#reasoning = this.#open('reasoning', toTurnKey(position), suffix)
    }
    this.#grow(this.#reasoning, delta)
  }

  /** Completes a turn. Returns the id of its text block, also if it has no text. */
  complete(event: RunEventOf<'llm_iteration_completed'>): string {
    const { responseText, reasoning = '', toolRequests = [], finishReason } = event
    this.#enter(event)
    const hasReasoned = this.#blocks.some(({ kind }) => kind === 'reasoning')
    if (reasoning !== '' && !hasReasoned) this.reason(event, reasoning)
    this.#closeReasoning()
    if (responseText !== undefined) this.#correct(event, responseText)
    const id = this.#text?.block.id ?? this.#toId(toTurnKey(event))
    this.#finishTurn(
      toolRequests.map(({ name }) => name),
      finishReason,
    )
    return id
  }

  /** Withdraws the blocks of the running turn. */
  withdrawTurn(): void {
    const blocks = this.#blocks
    this.#forgetTurn()
    this.#called = undefined
    this.#withdraw(blocks, 'turn')
  }

  /** Withdraws the blocks of the answer. */
  withdrawAnswer(): void {
    const answer = this.#answer
    this.#answer = undefined
    this.#withdraw(answer?.blocks ?? [], 'answer')
  }

  /** States the output of the run, with a separate block if its text differs from the answer. */
  state(output: string): void {
    // A turn always completes before its task, except in a partially read log.
    if (this.#text !== undefined) this.#finishTurn([], undefined)
    if (output !== '' && this.#answer?.text !== output) {
      this.withdrawAnswer()
      const written = this.#open('output', 'output')
      this.#grow(written, output)
      this.#finish(written, [])
      this.#blocks = []
    }
    this.#emit({ type: 'output', text: output })
  }

  /** Forgets everything about the former output task. */
  reset(): void {
    this.withdrawTurn()
    this.withdrawAnswer()
    this.#turn = undefined
  }

  /** Enters a turn with its first text, which replaces an answer that it does not continue. */
  #enter(position: TurnPosition): void {
    const key = toTurnKey(position)
    if (this.#writing === key) return
    this.#writing = key
    this.#turn = key
    this.#called = undefined
    if (this.#answer?.isCut === false) this.withdrawAnswer()
  }

  #open(kind: OutputBlock['kind'], key: string, suffix = ''): Written {
    const before = kind === 'text' ? (this.#answer?.text ?? '') : ''
    const block: OutputBlock = { id: `${this.#toId(key)}${suffix}`, kind, before }
    this.#blocks.push(block)
    this.#emit({ type: 'block_opened', block })
    return { block, text: '' }
  }

  #grow(written: Written, delta: string): void {
    written.text += delta
    this.#emit({ type: 'block_grown', block: written.block, delta })
  }

  #closeReasoning(): void {
    const reasoning = this.#reasoning
    if (reasoning === undefined) return
    this.#reasoning = undefined
    const { block, text } = reasoning
    this.#emit({ type: 'block_closed', block, text, toolNames: [] })
  }

  /** Makes the text of a turn that of its end: models can stream nothing, or less than they answer. */
  #correct(position: TurnPosition, text: string): void {
    const written = this.#text?.text ?? ''
    if (!text.startsWith(written)) {
      const block = this.#text?.block
      this.#text = undefined
      this.#blocks = this.#blocks.filter((one) => one !== block)
      this.#withdraw(block === undefined ? [] : [block], 'turn')
      this.write(position, text)
    } else if (text.length > written.length) {
      this.write(position, text.slice(written.length))
    }
  }

  #finishTurn(toolNames: readonly string[], finishReason: FinishReason): void {
    const written = this.#text
    const answer = this.#answer
    this.#closeReasoning()
    this.#forgetTurn()
    if (toolNames.length > 0) this.#called = (written?.block.before ?? '') + (written?.text ?? '')
    if (written !== undefined) this.#finish(written, toolNames, finishReason)
    else if (toolNames.length > 0) this.#answer = undefined
    else if (answer !== undefined) this.#answer = { ...answer, isCut: finishReason === 'length' }
  }

  /** Closes a text block, which is the answer or continues it unless its turn calls tools. */
  #finish(
    { block, text }: Written,
    toolNames: readonly string[],
    finishReason?: FinishReason,
  ): void {
    const reason = finishReason === undefined ? {} : { finishReason }
    this.#emit({ type: 'block_closed', block, text, toolNames, ...reason })
    const blocks = [...(this.#answer?.blocks ?? []), block]
    this.#answer =
      toolNames.length > 0
        ? undefined
        : { blocks, text: block.before + text, isCut: finishReason === 'length' }
  }

  #forgetTurn(): void {
    this.#text = undefined
    this.#reasoning = undefined
    this.#blocks = []
    this.#writing = undefined
  }

  #withdraw(blocks: readonly OutputBlock[], of: 'turn' | 'answer'): void {
    if (blocks.length === 0) return
    this.#withdrawals += 1
    this.#emit({ type: 'withdrawn', blocks, of })
  }

  #toId(key: string): string {
    return this.#withdrawals === 0 ? key : `${key}.${this.#withdrawals}`
  }
}
