import { describe, expect, it } from 'vitest'

import { listReferredEvents, StoredReader } from './read-stored.ts'
import { encodeWrite, MAX_STORED_DEPTH, StoredValues, type EncodedWrite } from './stored-values.ts'
import {
  modelAnswered,
  modelCalled,
  ODD_TEXT,
  reasoning,
  step,
  token,
  toolCalled,
  toolEnded,
} from '../testing/support/event-fixtures.ts'

import type { RunStep } from '@tutti/ensemble/internal'
import type { RunEvent } from '@tutti/protocol'

const LONG = 'A long text that a run contains several times. '.repeat(40)

describe('stored values', () => {
  it('The encoder of stored values stores an event without long texts as its JSON', () => {
    const log = new StoredLog()
    log.write([token('@57/toolResult')])
    expect(log.data).toEqual([JSON.stringify(token('@57/toolResult'))])
  })

  it('The encoder of stored values stores events and steps without stored values as their JSON', () => {
    const event = toolCalled({ toolArguments: LONG, toolResult: LONG })
    expect(encodeWrite({ events: [event], steps: [step(1)] }, 7)).toEqual({
      events: [{ event, data: JSON.stringify(event), bytes: null }],
      steps: [{ data: JSON.stringify(step(1)), bytes: null, seq: 8 }],
    })
  })

  it('[RUNS-K2] The encoder of stored values refers to a text in an earlier event, from events and from steps', () => {
    const log = new StoredLog()
    log.write(
      [toolCalled({ toolResult: LONG }), toolCalled({ toolResult: LONG })],
      [toolEnded(LONG)],
    )
    const [first, second, third] = log.data
    expect(first).toContain(LONG)
    expect(second).toContain('"toolResult":"@0/toolResult"')
    expect(third).toContain('"text":"@0/toolResult"')
    expect([first, second].map((data = '') => listReferredEvents(data))).toEqual([[], [0]])
    expect(log.read()).toEqual(log.written)
  })

  it('The encoder of stored values stores the reasoning of a turn once, although its provider expects it back in the next call', () => {
    const log = new StoredLog()
    const content = { kind: 'blocks', blocks: [{ type: 'thinking', thinking: LONG }] }
    const reply = { text: '', toolCalls: [], providerContent: { provider: 'own', content } }
    const turn = { kind: 'model_turn', taskName: 'a', attempt: 1, taskMs: 1, runMs: 1 } as const
    const answered = { ...turn, iterationIndex: 0, reply, latencyMs: 1, directiveIds: [] }
    log.write([reasoning(LONG.slice(0, 300)), modelAnswered({ reasoning: LONG })], [answered])
    expect(log.data[1]).toContain(LONG)
    expect(log.data[2]).toContain('"thinking":"@1/reasoning"')
    expect(log.read()).toEqual(log.written)
  })

  it('The encoder of stored values refers to the start of a text that another one shares', () => {
    const log = new StoredLog()
    const cut = `${LONG.slice(0, 1_000)}\n[truncated]`
    log.write([toolCalled({ toolResult: LONG }), toolCalled({ toolResult: cut })])
    expect(log.data[1]).toContain(String.raw`"@0#1000:12/toolResult\n[truncated]"`)
    expect(log.read()).toEqual(log.written)
  })

  it('The encoder of stored values stores each message of a conversation once, and refers to those of several events together', () => {
    const log = new StoredLog()
    const messages = Array.from({ length: 12 }, (_, index) => message(`turn ${index}. ${LONG}`))
    log.write([modelCalled(messages.slice(0, 4))])
    for (const first of [2, 4, 6]) log.write([modelCalled(messages.slice(first, first + 4))])
    log.write([modelCalled(messages.slice(4, 12))])
    expect(log.data[1]).toContain('"messages":["@0+2/messages/2",{')
    expect(log.data[4]).toContain('"messages":["@1,2,3+2/messages/1",{')
    for (const { content } of messages) expect(log.data.join('').split(content)).toHaveLength(2)
    expect(log.read()).toEqual(log.written)
  })

  it('[RUNS-K1] The decoder of stored values restores texts that look like references, odd keys and deep values', () => {
    const log = new StoredLog()
    const deep = Array.from({ length: 2 * MAX_STORED_DEPTH }).reduce<unknown>(
      (inner) => ({ [LONG]: inner, '@': '@1/x' }),
      ['@0+2/messages/1', LONG],
    )
    const odd = { '__proto__/~': '@', ['__proto__']: `@${LONG}`, '': ['@@', `@0${LONG}`, ODD_TEXT] }
    const results = [deep, odd, [LONG, [`@${LONG}`]], JSON.parse('{"__proto__":"@0/x"}'), null]
    for (const structuredResult of [...results, ...results]) {
      log.write([toolCalled({ toolResult: LONG, structuredResult })], [toolEnded(LONG)])
    }
    log.write([modelCalled([message('@0+1/messages/0'), message(`@${LONG}`), message(LONG)])])
    log.write([modelCalled([message(`@${LONG}`), message(LONG), message('@0+1/messages/0')])])
    expect(log.read()).toEqual(log.written)
  })

  it('[RUNS-K1] The decoder of stored values restores the events and steps of random conversations', () => {
    const random = seededRandom(7)
    for (let round = 0; round < 20; round += 1) {
      const log = new StoredLog()
      const texts = Array.from({ length: 8 }, () => randomText(random))
      const pick = (): string => texts[Math.floor(random() * texts.length)] ?? ''
      const messages: ReturnType<typeof message>[] = []
      for (let turn = 0; turn < 30; turn += 1) {
        messages.push(message(pick()), message(randomText(random)))
        const from = Math.floor(random() * Math.min(3, messages.length))
        log.write(
          [
            modelCalled(messages.slice(Math.max(from, messages.length - 20))),
            toolCalled({ toolResult: pick(), structuredResult: { [pick()]: [pick(), pick()] } }),
          ],
          [toolEnded(pick())],
          { isStored: random() < 0.8 },
        )
      }
      expect(log.read()).toEqual(log.written)
    }
  })

  it('[RUNS-K3] The encoder of stored values refers to no value of a write that was encoded but not stored', () => {
    const log = new StoredLog()
    const call = toolCalled({ toolResult: LONG })
    log.write([token('a'), call], [], { isStored: false })
    log.write([call])
    expect(log.data[0]).toContain(LONG)
    expect(log.read()).toEqual(log.written)
  })

  it('The encoder of stored values remembers a limited number of characters', () => {
    const log = new StoredLog()
    log.write([toolCalled({ toolResult: LONG })])
    for (let index = 0; index < 6; index += 1) {
      log.write([toolCalled({ toolResult: `${index}`.repeat(100_000) })])
    }
    log.write([toolCalled({ toolResult: LONG })])
    expect(log.data.at(-1)).toContain(LONG)
    expect(log.read()).toEqual(log.written)
  })

  it('The encoder of stored values measures data with all values that it refers to', () => {
    const log = new StoredLog()
    const messages = Array.from({ length: 9 }, (_, index) => message(`turn ${index}. ${LONG}`))
    log.write([toolCalled({ toolResult: LONG }), modelCalled(messages)])
    const again = log.write(
      [toolCalled({ toolResult: LONG }), modelCalled(messages)],
      [toolEnded(LONG)],
    )
    for (const { event, bytes } of again.events) {
      expect(Math.abs(JSON.stringify(event).length - (bytes ?? 0))).toBeLessThan(50)
    }
    expect(again.steps[0]?.bytes).toBeGreaterThan(LONG.length)
  })

  it('The decoder of stored values reports a reference to a value that does not exist', () => {
    const reader = new StoredReader(() => '{"type":"token"}')
    expect(() => reader.read('[{"a":"@3/toolResult"}]')).toThrow(
      'A stored event has no value "toolResult"',
    )
  })
})

/** A log that stores writes as a store does. */
class StoredLog {
  readonly #stored = new StoredValues()
  readonly #written: (RunEvent | RunStep)[] = []
  readonly #rows: { readonly data: string; readonly seq?: number }[] = []
  #lastSeq = -1

  /** The data of events and steps, in the order of writing. */
  get data(): readonly string[] {
    return this.#rows.map(({ data }) => data)
  }

  write(
    events: readonly RunEvent[],
    steps: readonly RunStep[] = [],
    { isStored = true } = {},
  ): EncodedWrite {
    const encoded = encodeWrite({ events, steps, stored: this.#stored }, this.#lastSeq)
    if (!isStored) return encoded
    this.#stored.confirm()
    this.#written.push(...events, ...steps)
    for (const { data } of encoded.events) this.#rows.push({ data, seq: (this.#lastSeq += 1) })
    for (const { data } of encoded.steps) this.#rows.push({ data })
    return encoded
  }

  /** The JSON of all events and steps, in the order of writing. */
  get written(): readonly string[] {
    return this.#written.map((value) => JSON.stringify(value))
  }

  /** The JSON of everything that is stored, read by one reader and by a new one each time. */
  read(): readonly string[] {
    const find = (seq: number): string => this.#rows.find((row) => row.seq === seq)?.data ?? ''
    const reader = new StoredReader(find)
    return this.data.map((data) => {
      const value = JSON.stringify(reader.read(data))
      return value === JSON.stringify(new StoredReader(find).read(data)) ? value : 'not the same'
    })
  }
}

function message(content: string) {
  return { role: 'user', content, toolCalls: null, toolName: null } as const
}

function seededRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return state / 2_147_483_648
  }
}

function randomText(random: () => number): string {
  const parts = ['@', '@1/x', '\u0000', '\ud800', '"', '/', '~', 'text ', LONG.slice(0, 600)]
  return Array.from({ length: Math.floor(random() * 6) }, () =>
    (parts[Math.floor(random() * parts.length)] ?? '').repeat(1 + Math.floor(random() * 40)),
  ).join('')
}
